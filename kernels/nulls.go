package kernels

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Nulls makes an array of n nulls, of any type. Whoever calls releases it.
func Nulls(mem memory.Allocator, t arrow.DataType, n int) arrow.Array {
	if !holdsNull(t) {
		return array.MakeArrayOfNull(mem, t, n)
	}
	b := array.NewBuilder(mem, t) // the shorter way knows no null type inside of others
	defer b.Release()
	b.AppendNulls(n)
	return b.NewArray()
}

// holdsNull says whether a type is the null type or has it inside.
func holdsNull(t arrow.DataType) bool {
	if t.ID() == arrow.NULL {
		return true
	}
	nested, ok := t.(arrow.NestedType)
	return ok && slices.ContainsFunc(nested.Fields(), func(f arrow.Field) bool { return holdsNull(f.Type) })
}
