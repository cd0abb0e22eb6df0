// Package convert brings stored numbers into the types in which columns are wanted: wider integers and floats, other units of time, INT96
// timestamps, decimals. It knows no encodings, so that decoders which are oracles of each other for those can share it; a table of values is its
// own oracle.
package convert

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/skua-data/skua/fault"
)

// Fixed converts stored values of one width, as many as fill out, whose begin is aligned; in may be unaligned. It gives the index of the first
// that has no such form, behind which nothing is converted; -1: all have.
type Fixed func(out, in []byte) (bad int)

// Numbers gives the conversion of an integer, floating-point or INT96 leaf to a target type, nil where the values are the same bytes; false where
// there is none.
func Numbers(c *schema.Column, target arrow.DataType) (f Fixed, ok bool) {
	switch c.PhysicalType() {
	case parquet.Types.Int32:
		return fromInt32(c, target)
	case parquet.Types.Int64:
		return fromInt64(c, target)
	case parquet.Types.Int96:
		return fromInt96(target)
	case parquet.Types.Float:
		if target.ID() == arrow.FLOAT64 {
			return widenFloats, true
		}
		return nil, target.ID() == arrow.FLOAT32
	case parquet.Types.Double:
		return nil, target.ID() == arrow.FLOAT64
	}
	return nil, false
}

// Failure says that a stored value does not fit the target.
func Failure(c *schema.Column, target arrow.DataType, in []byte) error {
	switch c.PhysicalType() {
	case parquet.Types.Int32:
		return fault.New(fault.Corrupt, "value %d is out of the range of %s", int32(binary.LittleEndian.Uint32(in)), target)
	case parquet.Types.Int64:
		return fault.New(fault.Corrupt, "value %d is out of the range of %s", int64(binary.LittleEndian.Uint64(in)), target)
	}
	return fault.New(fault.Corrupt, "value %x is out of the range of %s", in[:min(len(in), 64)], target)
}

// Unannotated says whether a leaf's values are no more than what they are stored as.
func Unannotated(c *schema.Column) bool {
	_, none := c.LogicalType().(schema.NoLogicalType)
	return none
}

// Integer describes an integer leaf: its bits and sign as annotated, or as stored where it is not; false for other annotations.
func Integer(c *schema.Column, stored int8) (bits int8, signed, ok bool) {
	switch t := c.LogicalType().(type) {
	case schema.IntLogicalType:
		return t.BitWidth(), t.IsSigned(), true
	case schema.NoLogicalType:
		return stored, true, true
	}
	return 0, false, false
}

// cast looks at bytes, which are aligned for it, as values.
func cast[T any](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(zero)))
}

// from4 converts values of four bytes one by one, to values as wide as Out.
func from4[Out any](f func(int32) (Out, bool)) Fixed {
	return func(out, in []byte) int {
		for i, to := 0, cast[Out](out); i < len(to); i++ {
			var ok bool
			if to[i], ok = f(int32(binary.LittleEndian.Uint32(in[4*i:]))); !ok {
				return i
			}
		}
		return -1
	}
}

// from8 converts values of eight bytes one by one.
func from8[Out any](f func(int64) (Out, bool)) Fixed {
	return func(out, in []byte) int {
		for i, to := 0, cast[Out](out); i < len(to); i++ {
			var ok bool
			if to[i], ok = f(int64(binary.LittleEndian.Uint64(in[8*i:]))); !ok {
				return i
			}
		}
		return -1
	}
}

func widen(out, in []byte) int {
	for i, to := 0, cast[int64](out); i < len(to); i++ {
		to[i] = int64(int32(binary.LittleEndian.Uint32(in[4*i:])))
	}
	return -1
}

func widenUnsigned(out, in []byte) int {
	for i, to := 0, cast[int64](out); i < len(to); i++ {
		to[i] = int64(binary.LittleEndian.Uint32(in[4*i:]))
	}
	return -1
}

func widenFloats(out, in []byte) int {
	for i, to := 0, cast[float64](out); i < len(to); i++ {
		to[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(in[4*i:])))
	}
	return -1
}
