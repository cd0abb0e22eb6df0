package kernels

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// TestNullsOfEveryType makes nulls of types that hold the null type.
func TestNullsOfEveryType(t *testing.T) {
	for _, typ := range []arrow.DataType{
		arrow.Null, arrow.PrimitiveTypes.Int32, arrow.ListOf(arrow.Null), arrow.MapOf(arrow.BinaryTypes.String, arrow.Null),
		arrow.StructOf(arrow.Field{Name: "a", Type: arrow.Null, Nullable: true}, arrow.Field{Name: "b", Type: arrow.ListOf(arrow.ListOf(arrow.Null)), Nullable: true}),
	} {
		for _, n := range []int{0, 1, 70} {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			a := Nulls(mem, typ, n)
			if a.Len() != n || !arrow.TypeEqual(a.DataType(), typ) {
				t.Errorf("%d nulls of %s: %d of %s", n, typ, a.Len(), a.DataType())
			}
			for i := range n {
				if !a.IsNull(i) && typ.ID() != arrow.NULL {
					t.Errorf("%s: %d is no null", typ, i)
				}
			}
			a.Release()
			mem.AssertSize(t, 0)
		}
	}
}
