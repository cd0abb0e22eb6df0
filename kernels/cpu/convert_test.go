package cpu

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	format "github.com/apache/arrow-go/v18/parquet"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/scan/parquet"
)

// as opens a file of one column and asks for it in another type; false where the types do not go together.
func as(t testing.TB, data []byte, want arrow.Field) ([]*kernels.RowGroup, bool) {
	t.Helper()
	f, err := parquet.Open(context.Background(), memoryFile{bytes.NewReader(data)}, "memory.parquet")
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.Match([]arrow.Field{want}, nil)
	if err != nil {
		return nil, false
	}
	var out []*kernels.RowGroup
	for _, g := range f.RowGroups(0, 1<<40, nil, nil) {
		out = append(out, f.RowGroup(g.Ordinal, []kernels.Column{m[0].Column}))
	}
	return out, true
}

// TestEveryPromotionIsTheFallbacks reads each type as each other: where the fallback can, this decoder can, and the values are the same,
// or both find one that does not fit.
func TestEveryPromotionIsTheFallbacks(t *testing.T) {
	stored := []arrow.DataType{
		arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
		arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Date32, &arrow.Time32Type{Unit: arrow.Millisecond},
		&arrow.Time64Type{Unit: arrow.Microsecond}, &arrow.Time64Type{Unit: arrow.Nanosecond},
		&arrow.TimestampType{Unit: arrow.Millisecond}, &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, &arrow.TimestampType{Unit: arrow.Nanosecond},
		arrow.BinaryTypes.String, arrow.BinaryTypes.Binary, &arrow.FixedSizeBinaryType{ByteWidth: 16}, &arrow.FixedSizeBinaryType{ByteWidth: 3}, extensions.NewUUIDType(),
		&arrow.Decimal128Type{Precision: 5, Scale: 2}, &arrow.Decimal128Type{Precision: 15, Scale: 2}, &arrow.Decimal128Type{Precision: 30, Scale: 2},
	}
	wanted := append(stored[:len(stored):len(stored)], &arrow.Decimal128Type{Precision: 3, Scale: 2}, &arrow.TimestampType{Unit: arrow.Second})
	ours, theirs := New(), parquet.NewFallback()
	defer ours.Close()
	pairs, read := 0, 0
	for _, from := range stored {
		for i, l := range kernelstest.Layouts() {
			batch := numbers(from, 300, int64(i))
			data := kernelstest.Write(t, batch, l)
			batch.Release()
			for _, to := range wanted {
				groups, ok := as(t, data, kernelstest.Field(1, "c", to, true))
				if !ok {
					continue
				}
				pairs++
				if r := ours.Route(groups[0])[0]; !r.Taken {
					t.Errorf("%s as %s, %s: %s", from, to, l.Name, r.Reason)
					continue
				}
				out := agree(t, ours, theirs, groups[0], 0, kernels.All(groups[0].Rows), 100)
				if (out.ours == nil) != (out.theirs == nil) {
					t.Errorf("%s as %s, %s: %v, the fallback: %v", from, to, l.Name, out.ours, out.theirs)
				}
				if out.ours == nil {
					read++
				} else if !strings.Contains(out.ours.Error(), "out of the range") {
					t.Error(out.ours)
				}
			}
		}
	}
	if pairs < 300 || read < 250 || read == pairs {
		t.Errorf("%d pairs of types of which %d gave values", pairs, read)
	}
}

// numbers makes one nullable column, of types too that tables do not have.
func numbers(t arrow.DataType, rows int, seed int64) arrow.RecordBatch {
	field := kernelstest.Field(1, "c", t, true)
	switch t.ID() {
	case arrow.INT8, arrow.INT16, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64, arrow.TIME32:
	default:
		return kernelstest.Random([]arrow.Field{field}, rows, 0.2, seed, memory.DefaultAllocator)
	}
	b := array.NewBuilder(memory.DefaultAllocator, t)
	defer b.Release()
	for i := range rows {
		text := fmt.Sprint(i * 7 % 100)
		if t.ID() == arrow.TIME32 {
			text = "00:00:" + fmt.Sprintf("%02d", i%60)
		}
		if i%5 == 0 {
			b.AppendNull()
		} else if err := b.AppendValueFromString(text); err != nil {
			panic(err)
		}
	}
	a := b.NewArray()
	defer a.Release()
	return array.NewRecordBatch(arrow.NewSchema([]arrow.Field{field}, nil), []arrow.Array{a}, int64(rows))
}

// TestAValueThatDoesNotFitCostsOnlyTheRowsThatHaveIt reads around a date past the end of nanosecond timestamps, in a dictionary and plain.
func TestAValueThatDoesNotFitCostsOnlyTheRowsThatHaveIt(t *testing.T) {
	b := array.NewDate32Builder(memory.DefaultAllocator)
	defer b.Release()
	for i := range 100 {
		b.Append(arrow.Date32(i % 10))
	}
	b.Append(3_000_000)
	a := b.NewArray()
	defer a.Release()
	field := kernelstest.Field(1, "d", arrow.FixedWidthTypes.Date32, true)
	batch := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{field}, nil), []arrow.Array{a}, 101)
	defer batch.Release()
	field.Type = &arrow.TimestampType{Unit: arrow.Nanosecond}
	d := New()
	defer d.Close()
	for _, dictionary := range []bool{true, false} {
		groups, ok := as(t, kernelstest.Write(t, batch, kernelstest.Layout{Options: []format.WriterProperty{format.WithDictionaryDefault(dictionary)}}), field)
		if !ok {
			t.Fatal("dates are no timestamps")
		}
		arrays, err := readColumn(context.Background(), d, groups[0], 0, kernels.NewSelection([]kernels.Run{{From: 0, To: 100}}), 40)
		if err != nil {
			t.Errorf("dictionary %t: %v", dictionary, err)
		}
		releaseAll(arrays)
		if _, err = readColumn(context.Background(), d, groups[0], 0, kernels.All(101), 40); err == nil || !strings.Contains(err.Error(), "3000000 is out of the range") {
			t.Errorf("dictionary %t: %v", dictionary, err)
		}
	}
}
