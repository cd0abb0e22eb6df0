package scan

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

func asText(v any) string { return fmt.Sprint(v) }

// TestNestedFieldsAreThoseOfTheWhole compares fields read alone with the same fields of the whole column, null parents included.
func TestNestedFieldsAreThoseOfTheWhole(t *testing.T) {
	root := "testdata/oracle"
	source, err := oracleTable(t, oracleScanner(t, root), root, []string{"types"}, "nested_deep").Source(t.Context(), Reference{})
	if err != nil {
		t.Fatal(err)
	}
	ids := fieldIDs(source.Schema())
	all, err := readAll(t.Context(), source, Request{Fields: ids, Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer all.Release()
	frame := frameOf(t, source, all, ids)
	defer frame.release()
	asked := 0
	for id, p := range paths(source.Schema().Fields()) {
		if len(p.Index) == 1 {
			continue
		}
		asked++
		got, err := readAll(t.Context(), source, Request{Fields: []int{id, ids[0]}, Limit: -1})
		if err != nil {
			t.Fatal(err)
		}
		want, err := frame.field(id)
		if err != nil {
			t.Fatal(err)
		}
		if !array.Equal(got.Column(0), want) || got.Schema().Field(0).Name != p.Names[len(p.Names)-1] || !got.Schema().Field(0).Nullable {
			t.Errorf("%v: %v, want %v", p.Names, got.Column(0), want)
		}
		got.Release()
	}
	if asked < 4 {
		t.Errorf("only %d nested fields", asked)
	}
}

// TestTakeCopiesEveryType takes scattered rows of sliced arrays and compares them value by value.
func TestTakeCopiesEveryType(t *testing.T) {
	checked := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer checked.AssertSize(t, 0)
	root := "testdata/oracle"
	s := oracleScanner(t, root)
	for _, name := range [][2]string{{"types", "nested_deep"}, {"types", "floats"}, {"types", "uuid_fixed"}, {"types", "all_v1"}, {"types", "unknown_v3"}} {
		source, err := oracleTable(t, s, root, name[:1], name[1]).Source(t.Context(), Reference{})
		if err != nil {
			t.Fatal(err)
		}
		all, err := readAll(t.Context(), source, Request{Fields: fieldIDs(source.Schema()), Limit: -1})
		if err != nil {
			t.Fatal(err)
		}
		for c, column := range all.Columns() {
			for offset := range min(3, column.Len()) {
				slice := array.NewSlice(column, int64(offset), int64(column.Len()))
				takeEveryOther(t, slice, all.Schema().Field(c).Name, checked)
				slice.Release()
			}
		}
		all.Release()
	}
}

func takeEveryOther(t *testing.T, a arrow.Array, name string, mem memory.Allocator) {
	t.Helper()
	var runs []rows
	var want []any
	for i := 0; i+1 < a.Len(); i += 3 {
		runs = append(runs, rows{i, i + 2})
		want = append(want, oracleValue(a, i), oracleValue(a, i+1))
	}
	got, err := take(a, runs, len(want), mem)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Release()
	if got.Len() != len(want) || !arrow.TypeEqual(got.DataType(), a.DataType()) {
		t.Fatalf("%s: %d rows of %s", name, got.Len(), got.DataType())
	}
	for i, v := range want {
		if asJSON(oracleValue(got, i)) != asJSON(v) {
			t.Errorf("%s row %d: %v, want %v", name, i, oracleValue(got, i), v)
		}
	}
	if nothing, err := take(a, nil, 0, mem); err != nil || nothing.Len() != 0 {
		t.Errorf("%s: taking nothing: %v", name, err)
	} else {
		nothing.Release()
	}
}
