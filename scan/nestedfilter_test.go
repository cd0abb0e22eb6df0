package scan

import (
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/predicate"
)

// TestWholeStructsListsAndMapsInFilters asks whether nested columns are null: in rows, in files that lack the column, and of a struct whose fields are
// all null, which is none itself.
func TestWholeStructsListsAndMapsInFilters(t *testing.T) {
	m := makeTable(t, `{"id":1,"name":"id","required":true,"type":"int"},
		{"id":2,"name":"s","required":false,"type":{"type":"struct","fields":[{"id":3,"name":"x","required":false,"type":"int"},
			{"id":4,"name":"inner","required":false,"type":{"type":"struct","fields":[{"id":5,"name":"y","required":false,"type":"string"}]}}]}},
		{"id":6,"name":"l","required":false,"type":{"type":"list","element-id":7,"element":"int","element-required":false}},
		{"id":8,"name":"m","required":false,"type":{"type":"map","key-id":9,"key":"string","value-id":10,"value":"int","value-required":false}}`)
	key := withID(9, "key", textType)
	key.Nullable = false
	id := withID(1, "id", int32Type)
	s := withID(2, "s", arrow.StructOf(withID(3, "x", int32Type), withID(4, "inner", arrow.StructOf(withID(5, "y", textType)))))
	l, pairs := withID(6, "l", arrow.ListOfField(withID(7, "element", int32Type))), withID(8, "m", arrow.MapOfFields(key, withID(10, "value", int32Type)))
	m.commit(madeFile{fields: []arrow.Field{id, s, l, pairs}, group: 2, rows: `[
		{"id":1,"s":null,"l":null,"m":null},
		{"id":2,"s":{"x":null,"inner":null},"l":[],"m":[]},
		{"id":3,"s":{"x":1,"inner":{"y":null}},"l":[null],"m":[{"key":"a","value":null}]},
		{"id":4,"s":{"x":null,"inner":{"y":"z"}},"l":[1,2],"m":[{"key":"a","value":1}]},
		{"id":5,"s":null,"l":null,"m":null}]`})
	m.commit(madeFile{fields: []arrow.Field{id}, rows: `[{"id":6}]`}) // it lacks all of them
	source, err := m.open().Source(t.Context(), Reference{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id   int
		null []string
	}{{2, []string{"[1]", "[5]", "[6]"}}, {4, []string{"[1]", "[2]", "[5]", "[6]"}}, {5, []string{"[1]", "[2]", "[3]", "[5]", "[6]"}}, {6, []string{"[1]", "[5]", "[6]"}}, {8, []string{"[1]", "[5]", "[6]"}}} {
		p := paths(source.Schema().Fields())[c.id]
		test := predicate.IsNull{Field: predicate.Field{ID: c.id, Path: p.Names, Type: p.Field.Type}}
		for _, fields := range [][]int{{1}, {1, 2, 6, 8}} {
			for _, not := range []bool{false, true} {
				var e predicate.Expr = test
				want := c.null
				if not {
					e, want = predicate.Not{Expr: test}, nil
					for _, row := range []string{"[1]", "[2]", "[3]", "[4]", "[5]", "[6]"} {
						if !slices.Contains(c.null, row) {
							want = append(want, row)
						}
					}
				}
				batch, err := readAll(t.Context(), source, Request{Fields: fields, Filter: e, Limit: -1})
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, row := range rowsOf(batch) {
					got = append(got, row[:2]+"]")
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s, columns %v: %s, want %s", e, fields, got, want)
				}
				batch.Release()
			}
		}
	}
}
