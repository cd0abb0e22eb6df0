//go:build cgo

package duckdb

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// weightCall gives about how many bytes values have: what a fold makes may double with every element.
func weightCall(arguments []arrow.Array, rows int) (arrow.Array, error) {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(rows)
	for i := range rows {
		b.Append(weight(arguments[0], i))
	}
	return b.NewArray(), nil
}

func weight(a arrow.Array, i int) int64 {
	out := int64(8)
	if a.IsNull(i) {
		return out
	}
	switch v := a.(type) {
	case *array.String:
		out += int64(v.ValueLen(i))
	case *array.Binary:
		out += int64(v.ValueLen(i))
	case *array.Struct:
		for f := range v.NumField() {
			out += weight(v.Field(f), i)
		}
	case array.ListLike:
		from, to := v.ValueOffsets(i)
		for n := from; n < to; n++ {
			out += weight(v.ListValues(), int(n))
		}
	}
	return out
}
