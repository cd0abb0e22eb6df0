package engine

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/scan"
)

func asked(column string) predicate.Field {
	return predicate.Field{ID: 1, Path: []string{column}, Type: arrow.BinaryTypes.String}
}

func askedText(v string) predicate.Literal {
	return predicate.Literal{Type: arrow.BinaryTypes.String, Value: v}
}

func is(column, v string) predicate.Expr {
	return predicate.Comparison{Op: predicate.Eq, Field: asked(column), Value: askedText(v)}
}

func among(column string, values ...string) predicate.Expr {
	in := predicate.In{Field: asked(column)}
	for _, v := range values {
		in.Values = append(in.Values, askedText(v))
	}
	return in
}

// TestFiltersOnNamesLeaveTablesShut: whatever a filter asks of the names of tables, no others are opened, and what it names is not looked for in listings.
func TestFiltersOnNamesLeaveTablesShut(t *testing.T) {
	many := []string{"sales", "p"}
	for i := range maxPoints {
		many = append(many, fmt.Sprint("no", i))
	}
	for _, c := range []struct {
		name           string
		filter         predicate.Expr
		opened, listed int
		want           string
	}{
		{"all", nil, 6, 10, "[broken o-k p root sales wap]"},
		{"one", predicate.And{Left: is("table_schema", "db"), Right: is("table_name", "sales")}, 1, 0, "[sales]"},
		{"two", predicate.And{Left: is("table_schema", "db"), Right: among("table_name", "sales", "p", "sales")}, 2, 0, "[p sales]"},
		{"two of two schemas", predicate.And{Left: among("table_schema", "db", "other"), Right: among("table_name", "sales", "none")}, 1, 0, "[sales]"},
		{"by name alone", is("table_name", "sales"), 1, 6, "[sales]"},
		{"more names than are looked for one by one", among("table_name", many...), 2, 10, "[p sales]"},
		{"a prefix", predicate.StartsWith{Field: asked("table_name"), Prefix: "s"}, 1, 10, "[sales]"},
		{"one of either", predicate.Or{Left: is("table_name", "p"), Right: is("table_schema", "sp ace")}, 2, 10, "[o-k p]"},
		{"not", predicate.Not{Expr: among("table_name", "sales", "p", "broken")}, 3, 10, "[o-k root wap]"},
		{"another column, which is tested later", predicate.Or{Left: is("table_name", "p"), Right: is("column_name", "id")}, 6, 10, "[broken o-k p root sales wap]"},
		{"nothing", predicate.And{Left: is("table_schema", "db"), Right: is("table_name", "none")}, 0, 0, "[]"},
	} {
		w, e := newWorld(t)
		lake := w.catalogs["lake"]
		lake.views, lake.listed = nil, 0
		source := &systemSource{statement: &statement{engine: e}, catalog: "lake"}
		source.ask(c.filter)
		names := map[string]bool{}
		err := source.tables(t.Context(), true, func(entry TableEntry) error {
			if names[entry.Name] {
				t.Errorf("%s: %s is there twice", c.name, entry.Name)
			}
			names[entry.Name] = true
			return nil
		})
		if got := fmt.Sprint(sortedKeys(names)); err != nil || got != c.want || w.opened.Load() != int64(c.opened) || lake.listed != c.listed {
			t.Errorf("%s: %s, %d opened, %d listings, %v; want %s, %d, %d", c.name, got, w.opened.Load(), lake.listed, err, c.want, c.opened, c.listed)
		}
	}
}

// TestPlansKeepTheFilterOfTablesAboutTables for their rows.
func TestPlansKeepTheFilterOfTablesAboutTables(t *testing.T) {
	_, e := newWorld(t)
	s := &statement{engine: e}
	s.state.Catalog = "lake"
	source, _, ok := s.systemTable(t.Context(), []string{"information_schema", "columns"})
	if !ok {
		t.Fatal("there is no information_schema.columns")
	}
	plan, err := source.Plan(t.Context(), scan.Request{Fields: []int{3}, Filter: is("table_name", "sales")})
	if err != nil {
		t.Fatal(err)
	}
	r, err := plan.Open(t.Context(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	if !r.Next() || r.RecordBatch().NumRows() != 4 {
		t.Errorf("%v", r.RecordBatch())
	}
}
