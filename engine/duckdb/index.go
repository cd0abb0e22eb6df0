//go:build cgo

package duckdb

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// indexes give a subscript as the engine counts: a number and a shift, which is 1 for lists and 0 for maps. Keys of other types are as they are.
var indexes = []scalar{
	{name: "skua_index", parameters: []int{typeBigint, typeInteger}, result: typeBigint, call: indexCall},
	{name: "skua_index", parameters: []int{typeVarchar, typeInteger}, result: typeVarchar, call: keyCall},
	{name: "skua_index", parameters: []int{typeDouble, typeInteger}, result: typeDouble, call: keyCall},
}

func indexCall(arguments []arrow.Array, rows int) (arrow.Array, error) {
	numbers, shifts := arguments[0].(*array.Int64), arguments[1].(*array.Int32)
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	for i := range rows {
		if numbers.IsNull(i) || shifts.IsNull(i) {
			b.AppendNull()
			continue
		}
		b.Append(numbers.Value(i) + int64(shifts.Value(i)))
	}
	return b.NewArray(), nil
}

func keyCall(arguments []arrow.Array, _ int) (arrow.Array, error) {
	arguments[0].Retain()
	return arguments[0], nil
}
