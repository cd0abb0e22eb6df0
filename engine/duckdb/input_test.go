//go:build cgo

package duckdb

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// TestStructsLoseTheirOffset hands over a part of a struct array: its values, the missing ones among them, and all memory given back.
func TestStructsLoseTheirOffset(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	b := array.NewStructBuilder(mem, arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true}))
	defer b.Release()
	for i := range int32(20) {
		b.Append(i%3 != 0)
		b.FieldBuilder(0).(*array.Int32Builder).Append(i)
	}
	whole := b.NewArray()
	defer whole.Release()
	part := array.NewSlice(whole, 5, 17)
	defer part.Release()
	out, err := engineArray(part, part.DataType(), mem)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Release()
	if out.Data().Offset() != 0 || !array.Equal(part, out) {
		t.Errorf("%v became %v at %d", part, out, out.Data().Offset())
	}
}
