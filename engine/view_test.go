package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// following is an Executor that resolves a statement's table, and those in the views that it finds, one name after the other.
type following struct{ seen []string }

func (f *following) Close() error { return nil }

func (f *following) Compile(ctx context.Context, q Query) (Program, error) {
	f.seen = nil
	p := syntax.NewParser(q.Text)
	p.Keyword("SELECT")
	p.Next()
	p.Keyword("FROM")
	resolve := q.Resolve
	for {
		name, err := p.Name()
		if err != nil {
			return nil, err
		}
		at, err := p.TimeTravel()
		if err != nil {
			return nil, err
		}
		t, err := resolve(ctx, syntax.TableRef{Name: name, At: at})
		if err != nil {
			return nil, err
		}
		f.seen = append(f.seen, t.Name)
		if t.View == nil {
			return followed{}, nil
		}
		for _, c := range t.View.Columns {
			f.seen = append(f.seen, fmt.Sprintf("%s<%s>%s", c.Name, c.From, c.Type))
		}
		f.seen = append(f.seen, t.View.Dialect)
		resolve = t.View.Resolve
		p = syntax.NewParser(t.View.Text)
		p.Keyword("SELECT")
		p.Next()
		p.Keyword("FROM")
	}
}

type followed struct{ Program }

func (followed) Parameters() *arrow.Schema { return noParameters }
func (followed) Schema() *arrow.Schema     { return noParameters }
func (followed) Open(context.Context) (array.RecordReader, error) {
	return nil, fault.New(fault.Internal, "no rows")
}
func (followed) Close() error { return nil }

// viewFile writes the metadata of a view with representations, each a dialect and a text.
func viewFile(catalog, namespace, properties string, representations ...string) string {
	var list []string
	for i := 0; i < len(representations); i += 2 {
		list = append(list, fmt.Sprintf(`{"type":"sql","dialect":%q,"sql":%q}`, representations[i], representations[i+1]))
	}
	return fmt.Sprintf(`{"view-uuid":"fa6506c3-7681-40c8-86dc-e36561f83385","format-version":1,"location":"file:/v","current-version-id":1,"properties":{%s},
		"versions":[{"version-id":1,"timestamp-ms":1,"schema-id":1,"summary":{},"default-catalog":%q,"default-namespace":[%q],"representations":[%s]}],
		"schemas":[{"type":"struct","schema-id":1,"fields":[{"id":1,"name":"number","type":"long","required":false,"doc":"which"},
		{"id":2,"name":"u","type":"uuid","required":false}]}],"version-log":[{"timestamp-ms":1,"version-id":1}]}`, properties, catalog, namespace, strings.Join(list, ","))
}

func TestViews(t *testing.T) {
	w, e := newWorld(t)
	run := &following{}
	e.config.Executor = run
	files := map[string]string{
		"db.v":      viewFile("", "db", "", "trino", "SELECT 1", "spark", "SELECT * FROM sales"),
		"db.named":  viewFile("lake", "other", `"spark.query-column-names":"id,x"`, "spark", "SELECT * FROM db.v"),
		"db.ours":   viewFile("", "db", "", "spark", "SELECT * FROM nowhere", "skua", "SELECT * FROM sales"),
		"db.trino":  viewFile("", "db", "", "trino", "SELECT * FROM sales"),
		"db.a":      viewFile("", "db", "", "spark", "SELECT * FROM b"),
		"db.b":      viewFile("", "db", "", "spark", "SELECT * FROM lake.db.a"),
		"db.broken": `{"view-uuid":`,
	}
	for i := range maxViews + 2 {
		files[fmt.Sprintf("db.d%d", i)] = viewFile("", "db", "", "spark", fmt.Sprintf("SELECT * FROM d%d", i+1))
	}
	w.catalogs["lake"].views = sortedKeys(files)
	w.viewFile = func(_ context.Context, v *catalogs.Table) ([]byte, error) {
		return []byte(files[strings.Join(v.Identifier, ".")]), nil
	}
	s := w.session(t, e, "views")
	for _, c := range []struct{ sql, want string }{
		{"SELECT * FROM lake.db.v", "lake.db.v number<>BIGINT u<> spark lake.db.sales"},
		{"SELECT * FROM db.named", "lake.db.named number<id>BIGINT u<x> spark lake.db.v number<>BIGINT u<> spark lake.db.sales"},
		{"SELECT * FROM db.ours", "lake.db.ours number<>BIGINT u<> ansi lake.db.sales"},
		{"SELECT * FROM db.trino", "the view lake.db.trino has SQL for trino; views in the SQL of spark or skua are read"},
		{"SELECT * FROM db.a", "(cycle: lake.db.a -> lake.db.b -> lake.db.a)"},
		{"SELECT * FROM db.d0", "exceeds the maximum view resolution depth"},
		{"SELECT * FROM db.broken", "the metadata of view lake.db.broken"},
		{"SELECT * FROM db.v VERSION AS OF 1", "lake.db.v is a view: time travel and options are for tables"},
		{"SELECT * FROM db.v.snapshots", "TABLE_OR_VIEW_NOT_FOUND"},
		{"SHOW READ OPTIONS FOR db.v", "is a view"},
	} {
		p, err := e.Prepare(t.Context(), Call{Session: s, Principal: "ann", Text: c.sql})
		got := strings.Join(run.seen, " ")
		if err == nil && strings.HasPrefix(c.sql, "SHOW") {
			_, err = p.Run(t.Context(), nil)
		}
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s\n got %s\nwant %s", c.sql, got, c.want)
		}
	}
}

// TestViewsHaveTheTypesOfTheirSchemas where SQL has exact names for them.
func TestViewsHaveTheTypesOfTheirSchemas(t *testing.T) {
	text := iceberg.PrimitiveTypes.String
	list := &iceberg.ListType{ElementID: 5, Element: iceberg.PrimitiveTypes.Int64}
	schema := iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "ns", Type: iceberg.PrimitiveTypes.TimestampNs}, iceberg.NestedField{ID: 2, Name: "zoned", Type: iceberg.PrimitiveTypes.TimestampTzNs},
		iceberg.NestedField{ID: 3, Name: "list", Type: list}, iceberg.NestedField{ID: 4, Name: "uuids", Type: &iceberg.ListType{ElementID: 6, Element: iceberg.PrimitiveTypes.UUID}},
		iceberg.NestedField{ID: 7, Name: "map", Type: &iceberg.MapType{KeyID: 8, KeyType: text, ValueID: 9, ValueType: &iceberg.ListType{ElementID: 14, Element: iceberg.PrimitiveTypes.Int64}}},
		iceberg.NestedField{ID: 10, Name: "struct", Type: &iceberg.StructType{FieldList: []iceberg.NestedField{{ID: 11, Name: "a b", Type: iceberg.DecimalTypeOf(9, 2), Doc: "which", Required: true}, {ID: 12, Name: "c", Type: text}}}},
		iceberg.NestedField{ID: 13, Name: "bytes", Type: iceberg.PrimitiveTypes.Binary})
	want := []string{"TIMESTAMP_NS", "", "ARRAY<BIGINT>", "", "MAP<STRING, ARRAY<BIGINT>>", "STRUCT<`a b`: DECIMAL(9,2), c: STRING>", ""}
	for i, c := range viewColumns(schema) {
		if c.Type != want[i] {
			t.Errorf("%s: %q, want %q", c.Name, c.Type, want[i])
		}
	}
}

// TestCommandsTellOfViews that a catalog keeps, as Spark does.
func TestCommandsTellOfViews(t *testing.T) {
	w, e := newWorld(t)
	w.viewFile = func(context.Context, *catalogs.Table) ([]byte, error) {
		return []byte(viewFile("lake", "db", `"comment":"it's","create_engine_version":"Spark 4.0","spark.query-column-names":"id,x","my.token":"secret"`, "spark", "SELECT * FROM sales")), nil
	}
	w.catalogs["lake"].views = []string{"db.v"}
	s := w.session(t, e, "views")
	for _, c := range []struct{ sql, want string }{
		{"DESCRIBE db.v", "number bigint which|u string <nil>"},
		{"DESCRIBE db.v u", "col_name u|data_type string|comment NULL"},
		{"DESCRIBE EXTENDED db.v", "number bigint which|u string <nil>|  |# Detailed View Information  |Comment it's |View Catalog and Namespace lake.db |View Query Output Columns [id, x] |" +
			"View Properties ['format-version' = '1', 'location' = 'file:/v', 'my.token' = '*********(redacted)', 'provider' = 'iceberg', 'spark.query-column-names' = 'id,x'] |" +
			"Created By Spark 4.0 |View Text SELECT * FROM sales "},
		{"SHOW COLUMNS IN db.v", "number|u"},
		{"SHOW TBLPROPERTIES db.v", "format-version 1|location file:/v|my.token *********(redacted)|provider iceberg|spark.query-column-names id,x"},
		{"SHOW TBLPROPERTIES db.v (nothing)", "nothing View lake.db.v does not have property: nothing"},
		{"SHOW CREATE TABLE db.v", "CREATE VIEW lake.db.v (\n  number COMMENT 'which',\n  u)\nCOMMENT 'it\\'s'\nTBLPROPERTIES (\n  'format-version' = '1',\n  'location' = 'file:/v',\n" +
			"  'my.token' = '*********(redacted)',\n  'provider' = 'iceberg',\n  'spark.query-column-names' = 'id,x')\nAS\nSELECT * FROM sales\n"},
	} {
		command, err := parseCommand(c.sql)
		if err != nil {
			t.Fatal(err)
		}
		st, err := e.newStatement(Call{Session: s, Principal: "ann", Text: c.sql})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := command.run(t.Context(), st)
		var lines []string
		for _, r := range rows {
			lines = append(lines, strings.TrimSuffix(fmt.Sprintln(r...), "\n"))
		}
		if got := strings.Join(lines, "|"); got != c.want || err != nil {
			t.Errorf("%s: %v\n got %s\nwant %s", c.sql, err, got, c.want)
		}
	}
}

// TestATicketReadsAViewAsItWas changes a view after a statement was pinned.
func TestATicketReadsAViewAsItWas(t *testing.T) {
	w, e := newWorld(t)
	run := &following{}
	e.config.Executor = run
	var asked []string
	w.viewFile = func(_ context.Context, v *catalogs.Table) ([]byte, error) {
		asked = append(asked, v.MetadataLocation)
		return []byte(viewFile("", "db", "", "spark", "SELECT * FROM sales")), nil
	}
	s := w.session(t, e, "views")
	p, err := e.Prepare(t.Context(), Call{Session: s, Principal: "ann", Text: "SELECT * FROM lake.db.v"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	pin := r.Pin()
	if len(pin.Tables) != 2 || !pin.Tables[0].View || pin.Tables[0].MetadataLocation != "view" {
		t.Fatalf("pinned: %+v", pin.Tables)
	}
	pin.Tables[0].MetadataLocation = "older"
	if _, err := e.Resume(t.Context(), pin); err != nil {
		t.Fatal(err)
	}
	if len(asked) != 2 || asked[1] != "older" {
		t.Errorf("read %v", asked)
	}
}
