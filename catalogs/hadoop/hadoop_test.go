package hadoop

import (
	"bytes"
	"compress/gzip"
	"context"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/catalogtest"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/local"
)

// The files in testdata are metadata that Spark wrote for a table called `sp ace`.`uni ☃ tbl` under file:///skua-oracle/warehouse.
func sample(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// layout writes files, given by their path below a new folder, and gives that folder. A path that ends in a slash is an empty folder.
func layout(t testing.TB, files map[string][]byte) string {
	t.Helper()
	root := t.TempDir()
	for path, data := range files {
		put(t, filepath.Join(root, path), data, path[len(path)-1] == '/')
	}
	return root
}

func put(t testing.TB, path string, data []byte, folder bool) {
	t.Helper()
	dir := filepath.Dir(path)
	if folder {
		dir = path
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if folder {
		return
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func packed(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func open(t testing.TB, warehouse string, locations storage.Map, more ...string) catalogs.Catalog {
	t.Helper()
	properties := iceberg.Properties{"warehouse": warehouse}
	for i := 0; i < len(more); i += 2 {
		properties[more[i]] = more[i+1]
	}
	c, err := New([]storage.Kind{local.Kind})(t.Context(), catalogs.Config{Name: "lake", Properties: properties, Locations: locations})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// oddWarehouse is a warehouse of names that are hard on paths, identifiers and metadata tables.
func oddWarehouse(t *testing.T) string {
	v1, v2 := sample(t, "v1.json"), sample(t, "v2.json")
	return layout(t, map[string][]byte{
		"names/sp ace/uni ☃ tbl/metadata/v1.metadata.json":  v1,
		"names/sp ace/uni ☃ tbl/metadata/v2.metadata.json":  v2,
		"names/sp ace/uni ☃ tbl/metadata/version-hint.text": []byte("2"),
		"names/sp ace/uni ☃ tbl/data/x.parquet":             nil,
		"names/tick`s/metadata/v1.metadata.json":            v1,
		"names/a.b/metadata/v1.gz.metadata.json":            packed(t, v1),
		"names/a%20b/metadata/v1.metadata.json.gz":          packed(t, v1),
		"names/snapshots/history/metadata/v1.metadata.json": v1,
		"names/deep/er/est/t/metadata/v1.metadata.json":     v1,
		"names/files/metadata/00003-77d9.metadata.json":     v1,
		"names/files/metadata/00010-0a41.gz.metadata.json":  packed(t, v2),
		"names/files/metadata/snap-1.avro":                  nil,
		"names/_hidden/":                                    nil,
		"names/.dots/metadata/v1.metadata.json":             v1,
		"names/notes.txt":                                   nil,
		"empty/":                                            nil,
		"rooted/metadata/v1.metadata.json":                  v1,
		"Case/t/metadata/v1.metadata.json":                  v1,
		"case/t/metadata/v2.metadata.json":                  v2,
		"stray/metadata/not-metadata.json":                  nil,
		"loose.metadata.json":                               nil,
		"names/deep/metadata/":                              nil,
		"names/deep/er/metadata":                            nil,
	})
}

func oddContent(warehouse string) catalogtest.Expected {
	ns := func(parts ...string) catalogtest.Namespace {
		at := warehouse
		for _, p := range parts {
			at += "/" + p
		}
		return catalogtest.Namespace{Identifier: parts, Properties: iceberg.Properties{"location": at}}
	}
	tbl := func(file string, parts ...string) catalogtest.Table {
		at := warehouse
		for _, p := range parts {
			at += "/" + p
		}
		return catalogtest.Table{Identifier: parts, MetadataLocation: at + "/metadata/" + file}
	}
	return catalogtest.Expected{
		Capabilities: catalogs.Capabilities{NestedNamespaces: true, RootTables: true, Unchanged: true},
		Namespaces: []catalogtest.Namespace{
			ns("names"), ns("names", "sp ace"), ns("names", "snapshots"), ns("names", "deep"), ns("names", "deep", "metadata"), ns("names", "deep", "er"),
			ns("names", "deep", "er", "est"), ns("names", "_hidden"), ns("empty"), ns("Case"), ns("case"), ns("stray"), ns("stray", "metadata"),
		},
		Tables: []catalogtest.Table{
			tbl("v2.metadata.json", "names", "sp ace", "uni ☃ tbl"), tbl("v1.metadata.json", "names", "tick`s"),
			tbl("v1.gz.metadata.json", "names", "a.b"), tbl("v1.metadata.json.gz", "names", "a%20b"),
			tbl("v1.metadata.json", "names", "snapshots", "history"), tbl("v1.metadata.json", "names", "deep", "er", "est", "t"),
			tbl("00010-0a41.gz.metadata.json", "names", "files"), tbl("v1.metadata.json", "names", ".dots"), tbl("v1.metadata.json", "rooted"),
			tbl("v1.metadata.json", "Case", "t"), tbl("v2.metadata.json", "case", "t"),
		},
	}
}

func TestSuite(t *testing.T) {
	root := oddWarehouse(t)
	mapped, err := storage.NewMap([]storage.Mapping{{From: "file:/skua-oracle/", To: root + "/"}, {From: "file:///skua-oracle/", To: root + "/"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, warehouse, spelled string
		locations                storage.Map
	}{
		{"bare path", root, root, nil},
		{"trailing slash", root + "/", root, nil},
		{"one slash", "file:" + root, "file:" + root, nil},
		{"three slashes", "file://" + root + "/", "file:" + root, nil},
		{"mapped", "file:///skua-oracle", "file:/skua-oracle", append(storage.Map{{From: "file:/skua-oracle", To: "file://" + root}}, mapped...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			catalogtest.Run(t, func(t *testing.T) (catalogs.Catalog, catalogtest.Expected) {
				return open(t, c.warehouse, c.locations), oddContent(c.spelled)
			})
		})
	}
}

func TestAWarehouseThatWasMovedKeepsItsSpelling(t *testing.T) {
	root := layout(t, map[string][]byte{"warehouse/sp ace/t/metadata/v2.metadata.json": sample(t, "v2.json")})
	locations, err := storage.NewMap([]storage.Mapping{{From: "file:/skua-oracle/", To: root + "/"}, {From: "file:///skua-oracle/", To: root + "/"}})
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, "file:///skua-oracle/warehouse", locations)
	got, err := c.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"sp ace", "t"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := "file:/skua-oracle/warehouse/sp ace/t/metadata/v2.metadata.json"; got.MetadataLocation != want {
		t.Errorf("metadata at %s, want %s", got.MetadataLocation, want)
	}
	if !bytes.Equal(got.Metadata, sample(t, "v2.json")) {
		t.Error("the metadata is not the file's")
	}
	p, err := c.LoadNamespace(t.Context(), table.Identifier{"sp ace"})
	if err != nil || p["location"] != "file:/skua-oracle/warehouse/sp ace" {
		t.Errorf("namespace: %v, %v", p, err)
	}
	parsed, err := table.ParseMetadataBytes(got.Metadata)
	if err != nil || parsed.CurrentSnapshot() == nil {
		t.Errorf("the metadata does not parse: %v", err)
	}
}

func TestCurrentVersion(t *testing.T) {
	v := func(names ...string) map[string][]byte {
		out := map[string][]byte{}
		for _, n := range names {
			out["ns/t/metadata/"+n] = []byte(`{"file":"` + n + `"}`)
		}
		return out
	}
	for _, c := range []struct {
		name  string
		files map[string][]byte
		hint  string // "-": none
		want  string
		kind  fault.Kind
	}{
		{"hint is current", v("v1.metadata.json", "v2.metadata.json"), "2", "v2.metadata.json", 0},
		{"hint with a line end", v("v1.metadata.json", "v2.metadata.json"), "2\n", "v2.metadata.json", 0},
		{"hint is old", v("v1.metadata.json", "v2.metadata.json", "v3.metadata.json"), "1", "v3.metadata.json", 0},
		{"hint is old and versions have a gap", v("v1.metadata.json", "v2.metadata.json", "v4.metadata.json"), "1", "v2.metadata.json", 0},
		{"hint is older than all that is left", v("v7.metadata.json", "v8.metadata.json"), "3", "v8.metadata.json", 0},
		{"hint is ahead of all files", v("v1.metadata.json"), "5", "", fault.Corrupt},
		{"no hint", v("v1.metadata.json", "v9.metadata.json", "v10.metadata.json"), "-", "v10.metadata.json", 0},
		{"no hint, a gap", v("v1.metadata.json", "v3.metadata.json"), "-", "v3.metadata.json", 0},
		{"hint is text", v("v1.metadata.json", "v2.metadata.json"), "two", "v2.metadata.json", 0},
		{"hint is empty", v("v1.metadata.json", "v2.metadata.json"), "", "v2.metadata.json", 0},
		{"hint is negative", v("v1.metadata.json"), "-1", "v1.metadata.json", 0},
		{"hint is too long", v("v1.metadata.json"), string(bytes.Repeat([]byte("1"), 5000)), "v1.metadata.json", 0},
		{"hint is binary", v("v1.metadata.json"), "\xff\x00\x01", "v1.metadata.json", 0},
		{"plain wins over packed", v("v2.metadata.json", "v2.gz.metadata.json", "v2.metadata.json.gz"), "2", "v2.metadata.json", 0},
		{"new packed name wins over the old", v("v2.gz.metadata.json", "v2.metadata.json.gz"), "-", "v2.gz.metadata.json", 0},
		{"next version is packed", v("v1.metadata.json", "v2.metadata.json.gz"), "1", "v2.metadata.json.gz", 0},
		{"version 0", v("v0.metadata.json"), "-", "v0.metadata.json", 0},
		{"sequence names", v("00000-a.metadata.json", "00009-b.metadata.json", "00010-a.gz.metadata.json"), "-", "00010-a.gz.metadata.json", 0},
		{"sequence names, hint of no use", v("00000-a.metadata.json", "00002-b.metadata.json"), "1", "00002-b.metadata.json", 0},
		{"versions win over sequence names", v("v1.metadata.json", "00009-b.metadata.json"), "-", "v1.metadata.json", 0},
		{"odd spellings are no versions", v("v01.metadata.json", "v+2.metadata.json", "v3.json", "v4.metadata.json.tmp", "v1.metadata.json"), "-", "v1.metadata.json", 0},
		{"only files of no known name", v("x.metadata.json"), "-", "", fault.NotFound},
		{"checksums are not versions", v("v1.metadata.json", ".v2.metadata.json.crc"), "-", "v1.metadata.json", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.hint != "-" {
				c.files["ns/t/metadata/version-hint.text"] = []byte(c.hint)
			}
			got, err := open(t, layout(t, c.files), nil).Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"ns", "t"}})
			if c.want == "" {
				if !fault.Is(err, c.kind) {
					t.Fatalf("got %v, want %s", err, c.kind)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if base(got.MetadataLocation) != c.want || string(got.Metadata) != `{"file":"`+c.want+`"}` {
				t.Errorf("got %s holding %s", got.MetadataLocation, got.Metadata)
			}
		})
	}
}

func TestHeldIsTheFileAndNotItsName(t *testing.T) {
	root := layout(t, map[string][]byte{"ns/t/metadata/v1.metadata.json": []byte(`{"a":1}`)})
	c := open(t, root, nil)
	load := func(held string) *catalogs.Table {
		t.Helper()
		got, err := c.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"ns", "t"}, Held: held})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	at := filepath.Join(root, "ns/t/metadata/v1.metadata.json")
	if got := load(at); got.Metadata == nil {
		t.Error("a file that this catalog never handed out cannot be held")
	}
	if got := load(at); got.Metadata != nil {
		t.Error("an unchanged file came again")
	}
	// The table is dropped and made again: same name, other content.
	put(t, at, []byte(`{"b":22}`), false)
	if err := os.Chtimes(at, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	for range 2 { // whoever holds the location may hold either file from now on
		if got := load(at); string(got.Metadata) != `{"b":22}` {
			t.Errorf("got %q", got.Metadata)
		}
	}
	put(t, filepath.Join(root, "ns/t/metadata/v2.metadata.json"), []byte(`{"c":3}`), false)
	if got := load(at); string(got.Metadata) != `{"c":3}` {
		t.Errorf("got %q", got.Metadata)
	}
}

func TestBrokenWarehouses(t *testing.T) {
	whole := packed(t, sample(t, "v2.json"))
	root := layout(t, map[string][]byte{
		"ns/cut/metadata/v1.gz.metadata.json":     whole[:len(whole)/2],
		"ns/empty/metadata/v1.metadata.json":      nil,
		"ns/emptied/metadata/v1.gz.metadata.json": packed(t, nil),
		"ns/folder/metadata/v1.metadata.json/x":   nil,
		"ns/barred/metadata/v1.metadata.json":     []byte("{}"),
		"ns/barredfile/metadata/v1.metadata.json": []byte("{}"),
		"ns/dangling/metadata/version-hint.text":  []byte("1"),
	})
	if err := os.Symlink("nowhere", filepath.Join(root, "ns/dangling/metadata/v1.metadata.json")); err != nil {
		t.Fatal(err)
	}
	c := open(t, root, nil)
	for name, kind := range map[string]fault.Kind{"cut": fault.Corrupt, "empty": fault.Corrupt, "emptied": fault.Corrupt, "folder": fault.NotFound,
		"dangling": fault.NotFound} {
		if _, err := c.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"ns", name}}); !fault.Is(err, kind) {
			t.Errorf("load %s: %v, want %s", name, err, kind)
		}
	}
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	if err := os.Chmod(filepath.Join(root, "ns/barred/metadata"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"ns", "barred"}}); !fault.Is(err, fault.Denied) {
		t.Errorf("load of a barred table: %v", err)
	}
}

func TestPermissionErrorsOfListings(t *testing.T) {
	kinds := []storage.Kind{{Schemes: []string{"barred"}, New: func(map[string]string, []storage.Credential) (storage.Store, error) { return barred{}, nil }}}
	for lenient, want := range map[string]fault.Kind{"false": fault.Denied, "true": 0} {
		c, err := New(kinds)(t.Context(), catalogs.Config{Properties: iceberg.Properties{"warehouse": "barred://w", "suppress-permission-error": lenient}})
		if err != nil {
			t.Fatal(err)
		}
		var failed error
		n := 0
		for _, err := range c.Namespaces(t.Context(), nil) {
			if err != nil {
				failed = err
				break
			}
			n++
		}
		switch {
		case want != 0 && (!fault.Is(failed, want) || n != 0):
			t.Errorf("strict: %d namespaces, %v", n, failed)
		case want == 0 && (failed != nil || n != 1):
			t.Errorf("lenient: %d namespaces, %v", n, failed)
		}
	}
}

// barred is a store with one folder at its root that nobody may look into.
type barred struct{ storage.Store }

func (barred) List(_ context.Context, folder storage.Location) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		if folder == "barred://w/" || folder == "barred://w" {
			yield(storage.Info{Location: "barred://w/ns", Folder: true}, nil)
			return
		}
		yield(storage.Info{}, fault.New(fault.Denied, "list %s", folder))
	}
}

func TestWarehouseIsRequired(t *testing.T) {
	_, err := New(nil)(t.Context(), catalogs.Config{Name: "lake", Properties: iceberg.Properties{"uri": "file:/w"}})
	want := "Cannot initialize HadoopCatalog because warehousePath must not be null or empty; see the setting spark.sql.catalog.lake.warehouse"
	if !fault.Is(err, fault.Invalid) || err.Error() != want {
		t.Errorf("got %v", err)
	}
	c := open(t, filepath.Join(t.TempDir(), "missing"), nil)
	for _, err := range c.Namespaces(t.Context(), nil) {
		if !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "/missing does not exist); see the setting spark.sql.catalog.lake.warehouse") {
			t.Errorf("got %v", err)
		}
	}
	c = open(t, "s3://bucket/w", nil)
	for _, err := range c.Namespaces(t.Context(), nil) {
		if !fault.Is(err, fault.Unsupported) {
			t.Errorf("got %v", err)
		}
	}
	if _, err := c.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"a", "b"}, Reference: "main"}); !fault.Is(err, fault.Unsupported) {
		t.Errorf("got %v", err)
	}
}

func TestPathForm(t *testing.T) {
	for at, want := range map[string]string{
		"file:///a/b/": "file:/a/b", "file:/a//b": "file:/a/b", "/a/b//": "/a/b", "s3://bucket/": "s3://bucket/", "s3://bucket/w/": "s3://bucket/w",
		"s3://bucket": "s3://bucket/", "/": "/", "file:///": "file:/", "hdfs://nn:8020//x y/": "hdfs://nn:8020/x y", "file:/a%20b": "file:/a%20b",
	} {
		if got := pathForm(at); got != want {
			t.Errorf("pathForm(%q) = %q, want %q", at, got, want)
		}
	}
}

func TestAnEmptyCatalog(t *testing.T) {
	catalogtest.Run(t, func(t *testing.T) (catalogs.Catalog, catalogtest.Expected) {
		return open(t, t.TempDir(), nil), catalogtest.Expected{Capabilities: catalogs.Capabilities{NestedNamespaces: true, RootTables: true, Unchanged: true}}
	})
}
