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

// folds is a test of the names of tables in another case.
func folds(transform string, e predicate.Expr) scan.PartitionTest {
	f := predicate.Field{ID: -1, Path: []string{transform}, Type: arrow.BinaryTypes.String}
	switch test := e.(type) {
	case predicate.Comparison:
		test.Field, e = f, nil
		return scan.PartitionTest{Expr: test, Terms: []scan.Term{{ID: -1, Source: asked("table_name"), Transform: transform}}}
	case predicate.In:
		test.Field = f
		e = test
	}
	return scan.PartitionTest{Expr: e, Terms: []scan.Term{{ID: -1, Source: asked("table_name"), Transform: transform}}}
}

// TestNamesThatAListingIsForAreAllThatMayPass tries every condition with every name.
func TestNamesThatAListingIsForAreAllThatMayPass(t *testing.T) {
	words := []string{"", "k", "K", "\u212a", "\u0130", "i", "I", "ß", "SS", "ss", "a.b", "aXb", "a$", "é", "É", "(", "\u017f"}
	for _, transform := range []string{"", scan.Lower, scan.Upper} {
		for _, word := range words {
			for _, e := range []predicate.Expr{predicate.Comparison{Op: predicate.Eq, Value: askedText(word)}, predicate.In{Values: []predicate.Literal{askedText(word), askedText("z")}}} {
				test := nameTest{}
				if transform == "" {
					test.add(is("table_name", word))
				} else {
					folded := folds(transform, e)
					test.terms = folded.Terms
					test.add(folded.Expr)
				}
				for _, name := range words {
					kept := len(test.chosen([]listed{{out: TableEntry{Name: name}}})) > 0
					if kept && test.tables != nil && !test.tables.MatchString(name) {
						t.Errorf("%s of %q is asked for, and %q is not listed", transform, word, name)
					}
					if exact := transform == "" && name == word; exact && !kept {
						t.Errorf("%q is left out", name)
					}
				}
			}
		}
	}
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
		folded         scan.PartitionTest
	}{
		{"all", nil, 6, 10, "[broken o-k p root sales wap]", scan.PartitionTest{}},
		{"one", predicate.And{Left: is("table_schema", "db"), Right: is("table_name", "sales")}, 1, 0, "[sales]", scan.PartitionTest{}},
		{"two", predicate.And{Left: is("table_schema", "db"), Right: among("table_name", "sales", "p", "sales")}, 2, 0, "[p sales]", scan.PartitionTest{}},
		{"two of two schemas", predicate.And{Left: among("table_schema", "db", "other"), Right: among("table_name", "sales", "none")}, 1, 0, "[sales]", scan.PartitionTest{}},
		{"by name alone", is("table_name", "sales"), 1, 6, "[sales]", scan.PartitionTest{}},
		{"more names than are looked for one by one", among("table_name", many...), 2, 10, "[p sales]", scan.PartitionTest{}},
		{"a prefix", predicate.StartsWith{Field: asked("table_name"), Prefix: "s"}, 1, 10, "[sales]", scan.PartitionTest{}},
		{"one of either", predicate.Or{Left: is("table_name", "p"), Right: is("table_schema", "sp ace")}, 2, 10, "[o-k p]", scan.PartitionTest{}},
		{"not", predicate.Not{Expr: among("table_name", "sales", "p", "broken")}, 3, 10, "[o-k root wap]", scan.PartitionTest{}},
		{"another column, which is tested later", predicate.Or{Left: is("table_name", "p"), Right: is("column_name", "id")}, 6, 10, "[broken o-k p root sales wap]", scan.PartitionTest{}},
		{"in lower case", nil, 1, 10, "[sales]", folds(scan.Lower, predicate.Comparison{Op: predicate.Eq, Value: askedText("sales")})},
		{"in upper case", nil, 2, 10, "[sales wap]", folds(scan.Upper, predicate.In{Values: []predicate.Literal{askedText("SALES"), askedText("WAP"), askedText("p")}})},
		{"not in upper case", nil, 0, 10, "[]", folds(scan.Upper, predicate.Comparison{Op: predicate.Eq, Value: askedText("sales")})},
		{"nothing", predicate.And{Left: is("table_schema", "db"), Right: is("table_name", "none")}, 0, 0, "[]", scan.PartitionTest{}},
	} {
		w, e := newWorld(t)
		lake := w.catalogs["lake"]
		lake.views, lake.listed = nil, 0
		source := &systemSource{statement: &statement{engine: e}, catalog: "lake"}
		source.ask(c.filter, c.folded)
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
