package flightsql

import (
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// rowsWithin is how many rows of b, from a row on, fit into limit bytes on the wire; at least one.
func rowsWithin(b arrow.RecordBatch, from, limit int64) int64 {
	rest := b.NumRows() - from
	if batchSize(b, from, b.NumRows()) <= limit {
		return rest
	}
	// The least count that is too large, less one: sizes grow with the count.
	n := sort.Search(int(rest), func(i int) bool { return batchSize(b, from, from+int64(i)+1) > limit })
	return max(1, int64(n))
}

// batchSize is the bytes that rows from..to take on the wire.
func batchSize(b arrow.RecordBatch, from, to int64) (size int64) {
	for _, c := range b.Columns() {
		size += arraySize(c, int(from), int(to))
	}
	return size
}

// arraySize is the bytes that the values from..to of an array take. What it does not know it takes for its share of the whole.
func arraySize(a arrow.Array, from, to int) int64 {
	n := int64(to - from)
	if n <= 0 {
		return 0
	}
	size := int64(0)
	if a.NullN() > 0 {
		size = (n + 7) / 8
	}
	switch a := a.(type) {
	case *array.Null:
		return 0
	case array.ExtensionArray:
		return arraySize(a.Storage(), from, to)
	case array.BinaryLike:
		return size + n*offsetSize(a) + a.ValueOffset64(to-1) + int64(a.ValueLen(to-1)) - a.ValueOffset64(from)
	case *array.FixedSizeList:
		start, _ := a.ValueOffsets(from)
		_, end := a.ValueOffsets(to - 1)
		return size + arraySize(a.ListValues(), int(start), int(end))
	case array.ListLike:
		start, _ := a.ValueOffsets(from)
		_, end := a.ValueOffsets(to - 1)
		return size + n*offsetSize(a) + arraySize(a.ListValues(), int(start), int(end))
	case *array.Struct:
		for i := range a.NumField() {
			size += arraySize(a.Field(i), from, to)
		}
		return size
	}
	if fixed, ok := a.DataType().(arrow.FixedWidthDataType); ok {
		return size + (n*int64(fixed.BitWidth())+7)/8
	}
	return int64(a.Data().SizeInBytes()) * n / int64(max(1, a.Len()))
}

func offsetSize(a arrow.Array) int64 {
	switch a.DataType().ID() {
	case arrow.LARGE_STRING, arrow.LARGE_BINARY, arrow.LARGE_LIST:
		return 8
	}
	return 4
}
