package engine

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/catalogs"
)

// demoCatalog adds tables with the names, columns, branch and tag of the demo warehouse.
func demoCatalog(w *world) {
	events := schemaOf("event_id#key:1:bigint!", "ts:2:timestamp!", "page:3:string!", "visitor:4:string", "took_ms:5:bigint", "referrer:6:string")
	rows := [][]string{{`{"event_id": 1, "ts": "2025-09-02T10:00:00Z", "page": "/cart", "visitor": "v1", "took_ms": 20, "referrer": "mail.example"}`}}
	w.catalogs["demo"] = &fakeCatalog{world: w, namespaces: map[string]iceberg.Properties{"shop": {}, "web": {}}, tables: map[string]*fakeTable{
		"shop.customers": {name: []string{"demo", "shop", "customers"}, versions: []version{
			{schema: schemaOf("customer_id:1:int!", "name:2:string!", "segment:3:string!", "city:4:string!", "since:5:date"), splits: [][]string{{`{"customer_id": 1, "name": "a", "city": "Oslo", "segment": "school"}`}}}}},
		"shop.sales": {name: []string{"demo", "shop", "sales"}, versions: []version{{schema: schemaOf("sale_id:1:bigint!")}}},
		"web.events": {name: []string{"demo", "web", "events"}, versions: []version{
			{schema: events, splits: rows, ref: "launch"}, {schema: events, splits: rows, ref: "experiment"}, {schema: events, splits: rows}}},
	}}
}

// pageRows gives the rows of the tables of docs/sql.md whose header ends in the third column's title.
func pageRows(t *testing.T, title string) [][]string {
	t.Helper()
	text, err := os.ReadFile("../docs/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	inside := false
	for _, line := range strings.Split(string(text), "\n") {
		switch cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |"), " | "); {
		case !strings.HasPrefix(line, "|"):
			inside = false
		case len(cells) == 3 && cells[2] == title:
			inside = true
		case inside && len(cells) != 3:
			t.Errorf("a row of %d cells: %s", len(cells), line)
		case inside && cells[0] != "---":
			out = append(out, []string{cells[0], strings.Trim(cells[1], "`"), strings.Trim(cells[2], "`")})
		}
	}
	if len(out) == 0 {
		t.Fatalf("docs/sql.md has no rows of %q", title)
	}
	return out
}

func demoWorld(t *testing.T) (*world, *Engine) {
	class, _ := catalogs.ClassByName("com.nvidia.spark.rapids.iceberg.spark.RapidsSparkCatalog")
	w, e := newWorld(t, catalogs.Definition{Name: "demo", Class: class, Type: "fake", Properties: iceberg.Properties{}})
	demoCatalog(w)
	return w, e
}

// TestPageExamplesRun runs every example of docs/sql.md in one session and compares the columns of its result with the page.
func TestPageExamplesRun(t *testing.T) {
	w, e := demoWorld(t)
	s := w.session(t, e, "s")
	for _, row := range pageRows(t, "result columns") {
		sql, want := row[1], row[2]
		p := prepare(t, e, s, sql)
		schema := p.Schema()
		if p.Parameters().NumFields() == 0 {
			r := run(t, p, nil)
			if out := tableText(t, r); strings.Contains("\n"+out, "\nerror ") {
				t.Errorf("%s: %s", sql, out)
			}
			schema = r.Schema()
		}
		var got []string
		for _, f := range schema.Fields() {
			got = append(got, f.Name+" "+sparkType(f.Type))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s gives %s, the page says %s", sql, strings.Join(got, ", "), want)
		}
	}
}

// TestPageRefusalsAreRefused runs what the page says is refused.
func TestPageRefusalsAreRefused(t *testing.T) {
	w, e := demoWorld(t)
	s := w.session(t, e, "s")
	for _, row := range pageRows(t, "error") {
		p, err := e.Prepare(context.Background(), Call{Session: s, Principal: "ann", Text: row[1]})
		if err == nil {
			_, err = p.Run(context.Background(), nil)
		}
		if err == nil || !strings.Contains(err.Error(), row[2]) {
			t.Errorf("%s: %v, the page says %s", row[1], err, row[2])
		}
	}
}

// TestPageNamesEveryStatement: each row of the table of commands is on the page.
func TestPageNamesEveryStatement(t *testing.T) {
	page, err := os.ReadFile("../docs/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	written := []string{"ANALYZE", "DECLARE", "EXECUTE IMMEDIATE", "REPLACE", "INSERT", "MERGE", "UPDATE", "DELETE", "ALTER", "DROP", "TRUNCATE", "COMMENT", "LOAD",
		"MSCK", "GRANT", "REVOKE"} // refused as CREATE is
	for _, v := range verbs() {
		if words := strings.Join(v.words, " "); !strings.Contains(text, words) && !slices.Contains(written, words) && words != "SHOW SCHEMAS" && words != "SHOW DATABASES" {
			t.Errorf("%s is not on the page", words)
		}
	}
	for _, name := range metadataTables {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("the metadata table %s is not on the page", name)
		}
	}
}

// TestPageTypes holds the table of types against Arrow's own spelling and DESCRIBE's.
func TestPageTypes(t *testing.T) {
	nullable := func(t arrow.DataType) arrow.Field { return arrow.Field{Name: "element", Type: t, Nullable: true} }
	types := []arrow.DataType{arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float32,
		arrow.PrimitiveTypes.Float64, &arrow.Decimal128Type{Precision: 9, Scale: 2}, arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Time64us,
		arrow.FixedWidthTypes.Timestamp_us, &arrow.TimestampType{Unit: arrow.Microsecond}, arrow.BinaryTypes.String, extensions.NewUUIDType(),
		arrow.BinaryTypes.Binary, &arrow.FixedSizeBinaryType{ByteWidth: 16}, arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32}),
		arrow.ListOfField(nullable(arrow.PrimitiveTypes.Int32)), arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32)}
	var got []string
	for _, t := range types {
		got = append(got, sparkType(t)+" = "+t.String())
	}
	var want []string
	for _, row := range pageRows(t, "Arrow") {
		want = append(want, row[1]+" = "+row[2])
	}
	if !slices.Equal(got, want) {
		t.Errorf("types\n%s\nthe page says\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
