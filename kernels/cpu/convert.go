package cpu

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/skua-data/skua/fault"
)

// conversion says how a leaf's stored values become those of the target type.
type conversion struct {
	stored stored
	target arrow.DataType
	shape  shape // of the target's values
	width  int   // bytes of a fixed target value

	// fixed converts stored fixed values to fixed ones, as many as fill out, and gives the index of the first that has no such form; -1: all
	// have. in may be unaligned. nil: they are the same bytes.
	fixed func(out, in []byte) int
	// text converts a byte string to a fixed value; false where it has no such form.
	text func(out, in []byte) bool
}

// conversionOf gives the conversion of a leaf to a target type; nil where there is none here.
func conversionOf(c *schema.Column, target arrow.DataType) *conversion {
	if _, null := c.LogicalType().(schema.NullLogicalType); null {
		return nil
	}
	out := &conversion{stored: stored{physical: c.PhysicalType()}, target: target}
	storage := target
	if uuid, ok := target.(*extensions.UUIDType); ok {
		storage = uuid.StorageType()
	}
	switch t := storage.(type) {
	case *arrow.BooleanType:
		out.shape = bitShape
	case *arrow.StringType, *arrow.BinaryType:
		out.shape = textShape
	case arrow.FixedWidthDataType:
		out.width = t.Bytes()
	default:
		return nil
	}
	if !out.choose(c, storage) {
		return nil
	}
	return out
}

// choose fills in what depends on the physical type; false where the two do not go together.
func (v *conversion) choose(c *schema.Column, target arrow.DataType) bool {
	switch c.PhysicalType() {
	case parquet.Types.Boolean:
		return target.ID() == arrow.BOOL
	case parquet.Types.Int32:
		v.stored.width = 4
		return v.fromInt32(c, target)
	case parquet.Types.Int64:
		v.stored.width = 8
		return v.fromInt64(c, target)
	case parquet.Types.Int96:
		v.stored.width = 12
		return v.fromInt96(target)
	case parquet.Types.Float:
		v.stored.width = 4
		if target.ID() == arrow.FLOAT64 {
			v.fixed = widenFloats
			return true
		}
		return target.ID() == arrow.FLOAT32
	case parquet.Types.Double:
		v.stored.width = 8
		return target.ID() == arrow.FLOAT64
	case parquet.Types.ByteArray:
		return v.fromBytes(c, target)
	case parquet.Types.FixedLenByteArray:
		v.stored.width = c.TypeLength()
		return v.stored.width > 0 && v.stored.width <= 1<<20 && v.fromFixed(c, target)
	}
	return false
}

// failure says that a stored value does not fit the target.
func (v *conversion) failure(in []byte) error {
	switch {
	case v.text == nil && v.stored.width == 4:
		return fault.New(fault.Corrupt, "value %d is out of the range of %s", int32(binary.LittleEndian.Uint32(in)), v.target)
	case v.text == nil && v.stored.width == 8:
		return fault.New(fault.Corrupt, "value %d is out of the range of %s", int64(binary.LittleEndian.Uint64(in)), v.target)
	}
	return fault.New(fault.Corrupt, "value %x is out of the range of %s", in[:min(len(in), 64)], v.target)
}

func (v *conversion) fromBytes(c *schema.Column, target arrow.DataType) bool {
	switch t := target.(type) {
	case *arrow.StringType:
		switch c.LogicalType().(type) {
		case schema.NoLogicalType, schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType:
			return true
		}
	case *arrow.BinaryType:
		switch c.LogicalType().(type) {
		case schema.NoLogicalType, schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType, schema.BSONLogicalType,
			schema.GeometryLogicalType, schema.GeographyLogicalType:
			return true
		}
	case *arrow.Decimal128Type:
		check, ok := decimalOf(c, t)
		v.text = decimalText(check)
		return ok
	}
	return false
}

func (v *conversion) fromFixed(c *schema.Column, target arrow.DataType) bool {
	switch t := target.(type) {
	case *arrow.FixedSizeBinaryType:
		_, decimal := c.LogicalType().(schema.DecimalLogicalType)
		return t.ByteWidth == c.TypeLength() && !decimal
	case *arrow.BinaryType:
		return unannotated(c)
	case *arrow.Decimal128Type:
		check, ok := decimalOf(c, t)
		v.fixed = decimalsFromFixed(c.TypeLength(), check)
		return ok
	}
	return false
}

func unannotated(c *schema.Column) bool {
	_, none := c.LogicalType().(schema.NoLogicalType)
	return none
}

// from4 converts values of four bytes one by one, to values as wide as Out.
func from4[Out any](f func(int32) (Out, bool)) func(out, in []byte) int {
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
func from8[Out any](f func(int64) (Out, bool)) func(out, in []byte) int {
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
