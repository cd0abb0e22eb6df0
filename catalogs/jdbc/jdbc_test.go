package jdbc

import (
	"context"
	"database/sql"
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
)

// The statements with which the Java catalog makes its tables.
const (
	tablesV0 = `CREATE TABLE iceberg_tables(catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL,
		metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000), PRIMARY KEY (catalog_name, table_namespace, table_name))`
	toV1       = `ALTER TABLE iceberg_tables ADD COLUMN iceberg_type VARCHAR(5)`
	properties = `CREATE TABLE iceberg_namespace_properties(catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL,
		property_key VARCHAR(255), property_value VARCHAR(1000), PRIMARY KEY (catalog_name, namespace, property_key))`
)

// write runs statements in a database file, which they may make.
func write(t testing.TB, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func row(catalog, namespace, name, location string) string {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	return "INSERT INTO iceberg_tables(catalog_name, table_namespace, table_name, metadata_location) VALUES (" +
		strings.Join([]string{quote(catalog), quote(namespace), quote(name), quote(location)}, ", ") + ")"
}

func property(catalog, namespace, key, value string) string {
	return "INSERT INTO iceberg_namespace_properties VALUES ('" + catalog + "', '" + namespace + "', '" + key + "', '" + value + "')"
}

func open(t testing.TB, uri string, more ...string) catalogs.Catalog {
	t.Helper()
	p := iceberg.Properties{"uri": uri, "warehouse": "file:/w/", "jdbc.user": "u", "jdbc.password": "p"}
	for i := 0; i < len(more); i += 2 {
		p[more[i]] = more[i+1]
	}
	c, err := New(nil)(t.Context(), catalogs.Config{Name: "lake", Properties: p})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

var oddRows = []string{
	tablesV0, properties,
	row("lake", "sales", "b", "file:/w/sales/b/metadata/00001-x.metadata.json"),
	row("lake", "sales", "B", "file:///w/sales/B/metadata/v1.metadata.json"),
	row("lake", "sales", "a.b", "/w/sales/a.b/m.json"),
	row("lake", "sales", "it's \"odd\" ☃ `x` %_", "s3://bucket/m.json"),
	row("lake", "deep.er.est", "t", "/w/deep/m.json"),
	row("lake", "Sales", "t", "/w/Sales/m.json"),
	row("lake", "deepest", "t", "/w/deepest/m.json"),
	row("lake", "a_b%", "t", "/w/m.json"),
	row("lake", `__iceberg_namespace_v1__:["x.y","z"]`, "t", "/w/xyz.json"),
	row("other", "sales", "hidden", "/w/hidden.json"),
	row("other", "foreign", "hidden", "/w/hidden.json"),
	property("lake", "sales", "location", "file:/elsewhere/sales"),
	property("lake", "sales", "owner", "crew"),
	property("lake", "bare", "exists", "true"),
	property("lake", "deep.only", "exists", "true"),
	property("other", "sales", "owner", "nobody"),
}

func oddContent() catalogtest.Expected {
	ns := func(location string, parts ...string) catalogtest.Namespace {
		return catalogtest.Namespace{Identifier: parts, Properties: iceberg.Properties{"location": location}}
	}
	tbl := func(at string, parts ...string) catalogtest.Table {
		return catalogtest.Table{Identifier: parts, MetadataLocation: at, LocationOnly: true}
	}
	return catalogtest.Expected{
		Capabilities: catalogs.Capabilities{NestedNamespaces: true, Views: true},
		Namespaces: []catalogtest.Namespace{
			{Identifier: table.Identifier{"sales"}, Properties: iceberg.Properties{"location": "file:/elsewhere/sales", "owner": "crew"}},
			ns("file:/w/Sales", "Sales"), ns("file:/w/bare", "bare"), ns("file:/w/deep", "deep"), ns("file:/w/deep/er", "deep", "er"),
			ns("file:/w/deep/er/est", "deep", "er", "est"), ns("file:/w/deep/only", "deep", "only"), ns("file:/w/deepest", "deepest"),
			ns("file:/w/a_b%", "a_b%"), ns("file:/w/x.y", "x.y"), ns("file:/w/x.y/z", "x.y", "z"),
		},
		Tables: []catalogtest.Table{
			tbl("file:/w/sales/b/metadata/00001-x.metadata.json", "sales", "b"), tbl("file:///w/sales/B/metadata/v1.metadata.json", "sales", "B"),
			tbl("/w/sales/a.b/m.json", "sales", "a.b"), tbl("s3://bucket/m.json", "sales", "it's \"odd\" ☃ `x` %_"),
			tbl("/w/deep/m.json", "deep", "er", "est", "t"), tbl("/w/Sales/m.json", "Sales", "t"), tbl("/w/deepest/m.json", "deepest", "t"),
			tbl("/w/m.json", "a_b%", "t"), tbl("/w/xyz.json", "x.y", "z", "t"),
		},
	}
}

func TestSuite(t *testing.T) {
	v0 := filepath.Join(t.TempDir(), "odd name?#%20.db")
	escaped := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23", " ", "%20").Replace(v0)
	db, err := sql.Open("sqlite", "file://"+escaped)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range oddRows {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	v1 := filepath.Join(t.TempDir(), "catalog.db")
	write(t, v1, append(oddRows, toV1, "UPDATE iceberg_tables SET iceberg_type = 'TABLE' WHERE table_name <> 'b'",
		"UPDATE iceberg_tables SET iceberg_type = 'VIEW' WHERE table_namespace = 'Sales'")...)
	wal := filepath.Join(t.TempDir(), "wal.db")
	write(t, wal, append([]string{"PRAGMA journal_mode=WAL"}, oddRows...)...)
	withView := oddContent()
	for i, e := range withView.Tables {
		if e.Identifier[0] == "Sales" {
			withView.Tables[i].Kind = catalogs.KindView
		}
	}
	for _, c := range []struct {
		name, uri string
		expected  catalogtest.Expected
	}{
		{"V0, file URI with escapes", "jdbc:sqlite:file:" + escaped + "?cache=shared", oddContent()},
		{"V1 with a view", "jdbc:sqlite:" + v1 + "?journal_mode=WAL&date_class=TEXT", withView},
		{"write-ahead log", "JDBC:SQLite:file://" + wal, oddContent()},
	} {
		t.Run(c.name, func(t *testing.T) {
			catalogtest.Run(t, func(t *testing.T) (catalogs.Catalog, catalogtest.Expected) { return open(t, c.uri), c.expected })
		})
	}
}

func TestChangesShowAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.db")
	write(t, path, tablesV0, row("lake", "ns", "t", "/1"))
	c := open(t, "jdbc:sqlite:"+path)
	at := func() string {
		t.Helper()
		got, err := c.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"ns", "t"}})
		if err != nil {
			t.Fatal(err)
		}
		return got.MetadataLocation
	}
	if got := at(); got != "/1" {
		t.Errorf("got %s", got)
	}
	write(t, path, "UPDATE iceberg_tables SET metadata_location = '/2'", toV1, properties, property("lake", "late", "exists", "true"))
	if got := at(); got != "/2" {
		t.Errorf("got %s after a commit", got)
	}
	other := filepath.Join(t.TempDir(), "d.db")
	write(t, other, tablesV0, row("lake", "ns", "t", "/3"))
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	if got := at(); got != "/3" {
		t.Errorf("got %s after the file was replaced", got)
	}
}

func TestNothingIsWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "c.db")
	write(t, path, "CREATE TABLE unrelated(x)")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, "jdbc:sqlite:"+path, "jdbc.init-catalog-tables", "true", "jdbc.schema-version", "V1")
	_, err = c.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"ns", "t"}})
	if !fault.Is(err, fault.NotFound) {
		t.Errorf("a database without a catalog: %v", err)
	}
	missing := open(t, "jdbc:sqlite:"+filepath.Join(dir, "missing.db"))
	if _, err := missing.LoadNamespace(t.Context(), table.Identifier{"ns"}); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "missing.db") {
		t.Errorf("a missing database: %v", err)
	}
	after, err := os.ReadFile(path)
	if err != nil || string(after) != string(before) {
		t.Error("the database was changed")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("files were made: %v", entries)
	}
	raw, err := sql.Open("sqlite", sqliteAddress{path: path}.dsn())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.Exec("INSERT INTO unrelated VALUES (1)"); err == nil {
		t.Error("the connection can write")
	}
}

func TestBrokenDatabases(t *testing.T) {
	dir := t.TempDir()
	text, cut := filepath.Join(dir, "text.db"), filepath.Join(dir, "cut.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is no database ", 500)), 0o644); err != nil {
		t.Fatal(err)
	}
	write(t, cut, append(oddRows, row("lake", "big", "t", strings.Repeat("x", 50_000)))...)
	data, err := os.ReadFile(cut)
	if err != nil {
		t.Fatal(err)
	}
	for i := 100; i < len(data); i += 7 {
		data[i] ^= 0xa5
	}
	if err := os.WriteFile(cut, data, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{text, cut} {
		c := open(t, "jdbc:sqlite:"+path)
		if _, err := c.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"big", "t"}}); !fault.Is(err, fault.Corrupt) ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want corrupt", path, err)
		}
	}
	folder := open(t, "jdbc:sqlite:"+dir)
	if _, err := folder.LoadNamespace(t.Context(), table.Identifier{"ns"}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a folder: %v", err)
	}
}

func TestBusyDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.db")
	write(t, path, oddRows...)
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	lock, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.ExecContext(t.Context(), "BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	request := catalogs.LoadRequest{Identifier: table.Identifier{"sales", "b"}}
	if _, err := open(t, "jdbc:sqlite:"+path+"?busy_timeout=30").Load(t.Context(), request); !fault.Is(err, fault.Unavailable) ||
		!strings.Contains(err.Error(), "busy") {
		t.Errorf("got %v, want unavailable", err)
	}
	c := open(t, "jdbc:sqlite:"+path)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := c.Load(ctx, request); !fault.Is(err, fault.Deadline) {
		t.Errorf("got %v, want the deadline", err)
	}
	answer := make(chan error)
	go func() {
		_, err := c.Load(t.Context(), request)
		answer <- err
	}()
	if _, err := lock.ExecContext(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := <-answer; err != nil {
		t.Errorf("after the writer was done: %v", err)
	}
}

func TestRowsThatCannotBeServed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.db")
	write(t, path, tablesV0, toV1, row("lake", "ns", "nowhere", ""), row("lake", "ns", "odd", "/x"), row("lake", "", "rooted", "/r"),
		"UPDATE iceberg_tables SET iceberg_type = 'INDEX' WHERE table_name = 'odd'", "UPDATE iceberg_tables SET metadata_location = NULL WHERE table_name = 'nowhere'")
	c := open(t, "jdbc:sqlite:"+path)
	for name, kind := range map[string]fault.Kind{"nowhere": fault.Corrupt, "odd": fault.Unsupported} {
		if _, err := c.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"ns", name}}); !fault.Is(err, kind) {
			t.Errorf("load %s: %v, want %s", name, err, kind)
		}
	}
	if _, err := c.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"ns", "odd"}, Reference: "x"}); !fault.Is(err, fault.Unsupported) {
		t.Errorf("got %v", err)
	}
	for _, ns := range []table.Identifier{nil, {""}} {
		for _, err := range c.Tables(t.Context(), ns) {
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("tables of %q: %v", ns, err)
			}
		}
	}
}

func TestURIs(t *testing.T) {
	for uri, want := range map[string]string{
		"jdbc:sqlite:/a/b.db": "/a/b.db", "jdbc:sqlite:b.db": "b.db", "jdbc:sqlite:/a b%20.db?x=y": "/a b%20.db", "jdbc:sqlite:file:/a%20b.db": "/a b.db",
		"jdbc:sqlite:file:///a.db?mode=ro": "/a.db", "jdbc:sqlite:file://localhost/a.db": "/a.db", "jdbc:sqlite://home/x.db": "//home/x.db",
	} {
		if got, err := parseSQLite(uri[len("jdbc:sqlite:"):]); err != nil || got.path != want {
			t.Errorf("%s: %q, %v, want %q", uri, got.path, err, want)
		}
	}
	for uri, kind := range map[string]fault.Kind{
		"": fault.Invalid, "/a.db": fault.Invalid, "sqlite:/a.db": fault.Invalid, "jdbc:postgresql://u:secret@h/db?password=secret&connectTimeout=secret": fault.Invalid,
		"jdbc:mysql:replication://h/db": fault.Unsupported, "jdbc:oracle:thin:u/secret@h": fault.Unsupported, "jdbc:": fault.Unsupported, "jdbc:sqlite:": fault.Unsupported, "jdbc:sqlite::memory:": fault.Unsupported,
		"jdbc:sqlite:file:m?mode=memory": fault.Unsupported, "jdbc:sqlite:/a?vfs=x": fault.Unsupported, "jdbc:sqlite:file://h/a": fault.Unsupported,
		"jdbc:sqlite:/a?busy_timeout=x": fault.Invalid, "jdbc:sqlite:file:/%zz": fault.Invalid, "jdbc:sqlite:/a?%zz": fault.Invalid,
		"jdbc:sqlite:/a\x00": fault.Invalid, "jdbc:secret@host/db:x": fault.Unsupported,
	} {
		_, err := New(nil)(t.Context(), catalogs.Config{Name: "lake", Properties: iceberg.Properties{"uri": uri}})
		if !fault.Is(err, kind) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want %s without secrets", uri, err, kind)
			continue
		}
		if kind == fault.Unsupported && !strings.Contains(err.Error(), "not supported") {
			t.Errorf("%q: %v", uri, err)
		}
	}
	_, err := New(nil)(t.Context(), catalogs.Config{Name: "lake", Properties: iceberg.Properties{"uri": "jdbc:sqlite:/a", "clients": "0"}})
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("clients=0: %v", err)
	}
}

func TestAnEmptyCatalog(t *testing.T) {
	for name, statements := range map[string][]string{"tables without rows": {tablesV0, properties}, "layout V1": {tablesV0, toV1, properties}, "nobody wrote to it": nil,
		"other tables": {"CREATE TABLE t (a INT)"}, "rows of others": {tablesV0, properties, row("other", "sales", "b", "file:/w/b")}} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.db")
			write(t, path, append([]string{"VACUUM"}, statements...)...) // which makes the file
			catalogtest.Run(t, func(t *testing.T) (catalogs.Catalog, catalogtest.Expected) {
				return open(t, "jdbc:sqlite:"+path), catalogtest.Expected{Capabilities: catalogs.Capabilities{NestedNamespaces: true, Views: true}}
			})
		})
	}
}
