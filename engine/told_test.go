package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/scan"
	"github.com/skua-data/skua/session"
)

// listingOf gives what a listing of lake.db tells of columns and keys.
func listingOf(t *testing.T, e *Engine, f TableFilter) string {
	t.Helper()
	f.Catalog, f.SchemaPattern = ptr("lake"), ptr("db")
	var out []string
	for entry, err := range e.Tables(context.Background(), session.State{}, f) {
		if err != nil {
			t.Fatal(err)
		}
		names := []string{}
		if entry.Columns != nil {
			for _, c := range entry.Columns.Fields() {
				names = append(names, c.Name)
			}
		}
		out = append(out, entry.Name+fmt.Sprint(names)+string(entry.Encoded))
	}
	return strings.Join(out, " ")
}

// TestAListingReadsMetadataOnce, and shows what another session's commit changed, and tables made anew, at once.
func TestAListingReadsMetadataOnce(t *testing.T) {
	w, e := newWorld(t)
	w.viewFile = func(_ context.Context, v *catalogs.Table) ([]byte, error) {
		w.opened.Add(1)
		return []byte(viewFile("", "db", "", "spark", "SELECT 1")), nil
	}
	encoded := TableFilter{Encode: func(entry TableEntry) []byte {
		return []byte(fmt.Sprintf("<%s %d>", entry.Name, entry.Columns.NumFields()))
	}}
	columns := TableFilter{WithSchema: true}
	lake := w.catalogs["lake"]
	for _, c := range []struct {
		name   string
		filter TableFilter
		change func()
		want   string
		reads  int64
	}{
		{"columns", columns, nil, "broken[] p[p] sales[id s ts st] wap[n] v[number u]", 5},
		{"columns again", columns, nil, "broken[] p[p] sales[id s ts st] wap[n] v[number u]", 1}, // what is broken is tried again
		{"encoded", encoded, nil, "broken[]<broken 0> p[]<p 1> sales[]<sales 4> wap[]<wap 1> v[]<v 2>", 5},
		{"encoded again", encoded, nil, "broken[]<broken 0> p[]<p 1> sales[]<sales 4> wap[]<wap 1> v[]<v 2>", 1},
		{"altered", encoded, func() {
			p := lake.tables["db.p"]
			p.versions = append(p.versions, version{schema: schemaOf("p:1:int", "more:2:int")})
		}, "broken[]<broken 0> p[]<p 2> sales[]<sales 4> wap[]<wap 1> v[]<v 2>", 2},
		{"altered, columns", columns, nil, "broken[] p[p more] sales[id s ts st] wap[n] v[number u]", 2},
		{"dropped", columns, func() { delete(lake.tables, "db.wap") }, "broken[] p[p more] sales[id s ts st] v[number u]", 1},
		{"a schema that drops columns", columns, func() {
			s := lake.tables["db.sales"]
			s.versions = append(s.versions, version{schema: schemaOf("id:1:int")})
		}, "broken[] p[p more] sales[id] v[number u]", 2},
	} {
		if c.change != nil {
			c.change()
		}
		w.opened.Store(0)
		if got := listingOf(t, e, c.filter); got != c.want || w.opened.Load() != c.reads {
			t.Errorf("%s:\n got %s, %d read\nwant %s, %d", c.name, got, w.opened.Load(), c.want, c.reads)
		}
	}
	if w.bytes.Load() < 1000 {
		t.Errorf("%d bytes are counted for what is kept", w.bytes.Load())
	}
}

// TestSchemasCountTheirBytes, more for what is nested and for comments.
func TestSchemasCountTheirBytes(t *testing.T) {
	small, commented, nested := schemaBytes(schemaOf("id:1:int")), schemaBytes(schemaOf("id:1:int", "another:2:int")), schemaBytes(schemaOf("pay:1:struct[a:2:int;b:3:int]"))
	if small < fieldBytes || commented <= small || nested <= small {
		t.Errorf("%d, %d, %d", small, commented, nested)
	}
}

// TestListingsSpellTypesAsDescribeDoes, and keep what says that a column is a geometry.
func TestListingsSpellTypesAsDescribeDoes(t *testing.T) {
	w, e := newWorld(t)
	point := fieldOf("g:3:string")
	point.Metadata = arrow.NewMetadata([]string{scan.FieldIDKey, "ARROW:extension:name"}, []string{"3", "geoarrow.wkb"})
	nanos := arrow.Field{Name: "ns", Type: arrow.StructOf(arrow.Field{Name: "z", Type: &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}}), Nullable: true}
	w.catalogs["lake"].tables["db.p"].versions = []version{{schema: arrow.NewSchema([]arrow.Field{fieldOf("p:1:string"), point, nanos}, nil), described: []string{"variant", "geometry", "struct<z:timestamp_ns>"}}}
	one := TableFilter{Catalog: ptr("lake"), SchemaPattern: ptr("db"), NamePattern: ptr("p"), WithSchema: true}
	for entry, err := range e.Tables(context.Background(), session.State{}, one) {
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range entry.Columns.Fields() {
			extension, _ := f.Metadata.GetValue("ARROW:extension:name")
			got = append(got, describedType(f)+" "+extension)
		}
		if want := "variant |geometry geoarrow.wkb|struct<z:timestamp_ns> "; strings.Join(got, "|") != want {
			t.Errorf("%q, want %q", got, want)
		}
		if entry.Columns.Field(2).Metadata.Len() != 0 {
			t.Errorf("a type that Arrow's tells: %v", entry.Columns.Field(2).Metadata)
		}
	}
}
