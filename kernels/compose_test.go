package kernels

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/predicate"
)

// fakeReader gives columns that hold its name's length and the column, and filters fields of one id.
type fakeReader struct {
	name   int32
	field  int
	keep   *Selection
	closed bool
	mem    memory.Allocator
}

func (f *fakeReader) Select(_ context.Context, p predicate.Expr, in *Selection) (predicate.Expr, *Selection, error) {
	var rest []predicate.Expr
	for _, c := range predicate.Conjuncts(p) {
		if c.(predicate.IsNull).Field.ID != f.field {
			rest = append(rest, c)
			continue
		}
		in = in.Intersect(f.keep)
	}
	if len(rest) == 0 {
		return nil, in, nil
	}
	return predicate.Join(rest), in, nil
}

func (f *fakeReader) Read(_ context.Context, columns []int, sel *Selection, from, n int64) (arrow.RecordBatch, error) {
	if f.name == 0 {
		return nil, errors.New("out of order")
	}
	var fields []arrow.Field
	var arrays []arrow.Array
	rows := sel.Slice(from, n).Count()
	for _, c := range columns {
		b := array.NewInt32Builder(f.mem)
		for range rows {
			b.Append(f.name*100 + int32(c))
		}
		fields = append(fields, arrow.Field{Name: fmt.Sprint(c), Type: arrow.PrimitiveTypes.Int32})
		arrays = append(arrays, b.NewArray())
		b.Release()
	}
	out := array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, rows)
	for _, a := range arrays {
		a.Release()
	}
	return out, nil
}

func (f *fakeReader) Close() error { f.closed = true; return nil }

func TestComposeReadsEachColumnWhereItWasRouted(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	isNull := func(id int) predicate.Expr { return predicate.IsNull{Field: predicate.Field{ID: id}} }
	first := &fakeReader{name: 1, field: 1, keep: NewSelection([]Run{{0, 6}}), mem: mem}
	second := &fakeReader{name: 2, field: 2, keep: NewSelection([]Run{{4, 9}}), mem: mem}
	r := Compose([]Route{{Decoder: "x"}, {Decoder: "y"}, {Decoder: "x"}}, first, second)
	p := predicate.Join([]predicate.Expr{isNull(2), isNull(1), isNull(3)})
	rest, sel, err := r.Select(context.Background(), p, All(10))
	if err != nil || rest.String() != isNull(3).String() || fmt.Sprint(sel.Runs()) != "[{4 6}]" {
		t.Fatalf("rest %v, rows %v, %v", rest, sel.Runs(), err)
	}
	batch, err := r.Read(context.Background(), []int{2, 1, 0}, sel, 0, 5)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int32{102, 201, 100} {
		if got := batch.Column(i).(*array.Int32).Value(1); got != want || batch.ColumnName(i) != fmt.Sprint(2-i) {
			t.Errorf("column %d is %s with %d, want %d", i, batch.ColumnName(i), got, want)
		}
	}
	batch.Release()
	none, err := r.Read(context.Background(), nil, sel, 0, 5)
	if err != nil || none.NumRows() != 2 {
		t.Errorf("%v, %v", none, err)
	}
	none.Release()
	second.name = 0
	if _, err := r.Read(context.Background(), []int{0, 1}, sel, 0, 5); err == nil {
		t.Error("a reader's error is lost")
	}
	if err := r.Close(); err != nil || !first.closed || !second.closed {
		t.Errorf("closed %t and %t, %v", first.closed, second.closed, err)
	}
	if _, err := Compose([]Route{{Decoder: "x"}, {Decoder: "y"}}, first).Read(context.Background(), nil, sel, 0, 1); err == nil {
		t.Error("a missing reader goes unnoticed")
	}
}
