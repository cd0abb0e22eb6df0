package engine

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// batchBytes is the length of what a batch's rows take on the wire: of a slice only its own part of the buffers.
func batchBytes(b arrow.RecordBatch) int64 {
	n := int64(0)
	for _, c := range b.Columns() {
		n += arrayBytes(c, 0, c.Len())
	}
	return n
}

// arrayBytes is the length of the values from..to of an array, with their validity and offsets.
func arrayBytes(a arrow.Array, from, to int) int64 {
	rows := int64(to - from)
	if rows <= 0 || a.DataType().ID() == arrow.NULL {
		return 0
	}
	n := int64(0)
	if a.NullN() > 0 {
		n = (rows + 7) / 8
	}
	switch a := a.(type) {
	case array.ExtensionArray:
		return arrayBytes(a.Storage(), from, to)
	case array.BinaryLike:
		return n + 4*(rows+1) + a.ValueOffset64(to-1) + int64(a.ValueLen(to-1)) - a.ValueOffset64(from)
	case *array.Struct:
		for i := range a.NumField() {
			n += arrayBytes(a.Field(i), from, to)
		}
		return n
	case array.ListLike:
		if _, fixed := a.DataType().(*arrow.FixedSizeListType); !fixed {
			n += 4 * (rows + 1)
		}
		start, _ := a.ValueOffsets(from)
		_, end := a.ValueOffsets(to - 1)
		return n + arrayBytes(a.ListValues(), int(start), int(end))
	}
	if fixed, ok := a.DataType().(arrow.FixedWidthDataType); ok {
		return n + (rows*int64(fixed.BitWidth())+7)/8
	}
	return n
}
