package static

import (
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

const sample = `{
 "lake.sales.eu.orders": {"metadata": "data/orders/metadata/v3.metadata.json", "map": [["s3://gone/orders/", "data/orders/"], ["data/", "data/"]]},
 "sales.eu.pinned": "s3://bucket/pinned/metadata/00007-x.metadata.json",
 "sales.'odd' ☃": {"metadata": "/w/odd.json", "map": []},
 "` + "`dotted.name`.`tick``ed`" + `": {"metadata": "file:///w/m.json"},
 "sales.B": "/w/B.json", "sales.a": "/w/a.json",
 "atroot": "/w/root.json"
}`

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, path string) catalogs.Catalog {
	t.Helper()
	c, err := New([]storage.Kind{local.Kind})(t.Context(), catalogs.Config{Name: "lake", Properties: iceberg.Properties{"uri": path}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestSuite(t *testing.T) {
	catalogtest.Run(t, func(t *testing.T) (catalogs.Catalog, catalogtest.Expected) {
		folder := t.TempDir()
		path := filepath.Join(folder, "tables.json")
		write(t, path, sample)
		ns := func(parts ...string) catalogtest.Namespace { return catalogtest.Namespace{Identifier: parts} }
		tbl := func(at string, parts ...string) catalogtest.Table {
			return catalogtest.Table{Identifier: parts, MetadataLocation: at, LocationOnly: true}
		}
		return open(t, path), catalogtest.Expected{
			Capabilities: catalogs.Capabilities{NestedNamespaces: true, RootTables: true},
			Namespaces:   []catalogtest.Namespace{ns("sales"), ns("sales", "eu"), ns("dotted.name")},
			Tables: []catalogtest.Table{
				tbl(folder+"/data/orders/metadata/v3.metadata.json", "sales", "eu", "orders"),
				tbl("s3://bucket/pinned/metadata/00007-x.metadata.json", "sales", "eu", "pinned"),
				tbl("/w/odd.json", "sales", "'odd' ☃"), tbl("file:///w/m.json", "dotted.name", "tick`ed"),
				tbl("/w/B.json", "sales", "B"), tbl("/w/a.json", "sales", "a"), tbl("/w/root.json", "atroot"),
			},
		}
	})
}

func TestTheMapOfATableIsInItsOwnOrderAndHoldsItsMetadata(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "tables.json")
	write(t, path, sample)
	loaded, err := open(t, path).Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"sales", "eu", "orders"}})
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]string{
		"s3://gone/orders/data/f.parquet": folder + "/data/orders/data/f.parquet", "data/x": folder + "/data/x",
		loaded.MetadataLocation: loaded.MetadataLocation,
	} {
		if got, fits := loaded.Locations.Lookup(at); got != want || !fits {
			t.Errorf("%s opens %s (%v), want %s", at, got, fits, want)
		}
	}
	if _, fits := loaded.Locations.Lookup("s3://elsewhere/f"); fits {
		t.Error("a location outside of the map fits")
	}
	free, err := open(t, path).Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"sales", "a"}})
	if err != nil || free.Locations != nil {
		t.Errorf("a table without a map has %v, %v", free, err)
	}
}

func TestAChangedFileIsReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tables.json")
	write(t, path, `{"s.t": "/w/1.json"}`)
	c := open(t, path)
	at := func() string {
		loaded, err := c.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"s", "t"}})
		if err != nil {
			return err.Error()
		}
		return loaded.MetadataLocation
	}
	if got := at(); got != "/w/1.json" {
		t.Fatal(got)
	}
	write(t, path, `{"s.t": "/w/2.json"}`)
	touch(t, path, 1)
	if got := at(); got != "/w/2.json" {
		t.Error(got)
	}
	write(t, path, `{"s.t": `)
	touch(t, path, 2)
	if got := at(); !strings.Contains(got, path) || !strings.Contains(got, "EOF") {
		t.Errorf("a broken file: %s", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, err := c.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"s", "t"}})
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "spark.sql.catalog.lake.uri") {
		t.Errorf("a missing file: %v", err)
	}
	write(t, path, `{"s.t": "/w/3.json"}`)
	touch(t, path, 3)
	if got := at(); got != "/w/3.json" {
		t.Errorf("after it came back: %s", got)
	}
}

// touch gives a file a time of change of its own, since two writes may fall into one tick of the file system's clock.
func touch(t testing.TB, path string, seconds int) {
	t.Helper()
	at := time.Unix(1_800_000_000+int64(seconds), 0)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestBadFiles(t *testing.T) {
	for text, want := range map[string]string{
		``: "no JSON object", `[]`: "no JSON object", `{"a.b": 5}`: `table "a.b"`, `{"a.b": {}}`: `"metadata" is not set`,
		`{"a.b": {"metadata": "/x", "mop": []}}`: "mop", `{"a.b": {"metadata": "/x", "map": [["", "y"]]}}`: "pair",
		`{"a..b": "/x"}`: "empty", `{"": "/x"}`: "empty", "{\"`a\": \"/x\"}": "not closed", "{\"`a`b\": \"/x\"}": "dot must follow",
		`{"a.b": "/x", "a.b": "/y"}`: "twice", `{"a.b": "/x"} {}`: "follows", `{"a.b": "/x"`: "EOF", "{\"a.b\": \"/x\", \"`a`.b\": \"/y\"}": "twice",
	} {
		path := filepath.Join(t.TempDir(), "tables.json")
		write(t, path, text)
		_, err := open(t, path).LoadNamespace(t.Context(), table.Identifier{"a"})
		if !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	_, err := New(nil)(t.Context(), catalogs.Config{Name: "lake"})
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "spark.sql.catalog.lake.uri") {
		t.Errorf("no uri: %v", err)
	}
}

func TestAnEmptyCatalog(t *testing.T) {
	catalogtest.Run(t, func(t *testing.T) (catalogs.Catalog, catalogtest.Expected) {
		path := filepath.Join(t.TempDir(), "tables.json")
		write(t, path, "{}")
		return open(t, path), catalogtest.Expected{Capabilities: catalogs.Capabilities{NestedNamespaces: true, RootTables: true}}
	})
}
