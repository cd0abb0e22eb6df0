package engine

import (
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/scan"
)

// TestExtremes finds the smallest and the largest value of every type over two batches, of which the second is let go of.
func TestExtremes(t *testing.T) {
	nan, zero := math.NaN(), math.Copysign(0, -1)
	for _, c := range []struct {
		typ             arrow.DataType
		values          []any
		least, greatest any
	}{
		{arrow.FixedWidthTypes.Boolean, []any{true, nil, false, true}, false, true},
		{arrow.PrimitiveTypes.Int32, []any{int64(3), nil, int64(-7), int64(2)}, int64(-7), int64(3)},
		{arrow.PrimitiveTypes.Int64, []any{nil, nil, int64(math.MinInt64), int64(math.MaxInt64)}, int64(math.MinInt64), int64(math.MaxInt64)},
		{arrow.FixedWidthTypes.Date32, []any{int64(-1), int64(0), int64(19_000), nil}, int64(-1), int64(19_000)},
		{arrow.FixedWidthTypes.Timestamp_us, []any{int64(5), int64(-5), nil, nil}, int64(-5), int64(5)},
		{arrow.PrimitiveTypes.Float32, []any{1.5, nan, -2.0, nil}, -2.0, nan},
		{arrow.PrimitiveTypes.Float64, []any{nan, nan, nil, nan}, nan, nan},
		{arrow.PrimitiveTypes.Float64, []any{zero, 0.0, nil, nil}, 0.0, 0.0},
		{&arrow.Decimal128Type{Precision: 9, Scale: 2}, []any{decimal128.FromI64(-5), nil, decimal128.FromI64(7), decimal128.FromI64(0)}, decimal128.FromI64(-5), decimal128.FromI64(7)},
		{arrow.BinaryTypes.String, []any{"b", "", "é", "zz"}, "", "é"},
		{arrow.BinaryTypes.Binary, []any{[]byte{1}, []byte{0xff}, nil, []byte{}}, []byte{}, []byte{0xff}},
		{arrow.BinaryTypes.String, []any{nil, nil, nil, nil}, nil, nil},
	} {
		for kind, want := range map[scan.AggregateKind]any{scan.Minimum: c.least, scan.Maximum: c.greatest} {
			e := extremeOf(c.typ, kind)
			for _, part := range [][]any{c.values[:2], c.values[2:]} {
				b := array.NewBuilder(memory.DefaultAllocator, c.typ)
				for _, v := range part {
					if v == nil {
						b.AppendNull()
					} else if err := appendValue(b, v); err != nil {
						t.Fatal(err)
					}
				}
				a := b.NewArray()
				e.take(a)
				for _, buffer := range a.Data().Buffers() { // what is kept must not lie in the array
					if buffer != nil {
						clear(buffer.Bytes())
					}
				}
				a.Release()
				b.Release()
			}
			if got := e.value(); !sameLiteral(got, want) {
				t.Errorf("%s: %v is %v, want %v", c.typ, kind, got, want)
			}
		}
	}
	for _, typ := range []arrow.DataType{arrow.StructOf(), arrow.ListOf(arrow.PrimitiveTypes.Int32), arrow.Null, &arrow.FixedSizeBinaryType{ByteWidth: 16}} {
		if extremeOf(typ, scan.Minimum) != nil {
			t.Errorf("%s has an order", typ)
		}
	}
}

func sameLiteral(a, b any) bool {
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		return ok && (x == y || math.IsNaN(x) && math.IsNaN(y))
	case []byte:
		y, ok := b.([]byte)
		return ok && string(x) == string(y)
	}
	return a == b
}
