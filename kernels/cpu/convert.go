package cpu

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/skua-data/skua/kernels/convert"
)

// conversion says how a leaf's stored values become those of the target type.
type conversion struct {
	column *schema.Column
	stored stored
	target arrow.DataType
	shape  shape // of the target's values
	width  int   // bytes of a fixed target value

	// fixed converts stored fixed values to fixed ones; nil: they are the same bytes.
	fixed convert.Fixed
	// text converts a byte string to a fixed value; false where it has no such form.
	text func(out, in []byte) bool
}

// conversionOf gives the conversion of a leaf to a target type; nil where there is none here.
func conversionOf(c *schema.Column, target arrow.DataType) *conversion {
	if _, null := c.LogicalType().(schema.NullLogicalType); null {
		return nil
	}
	out := &conversion{column: c, stored: stored{physical: c.PhysicalType()}, target: target}
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
func (v *conversion) choose(c *schema.Column, target arrow.DataType) (ok bool) {
	switch c.PhysicalType() {
	case parquet.Types.Boolean:
		return target.ID() == arrow.BOOL
	case parquet.Types.ByteArray:
		return v.fromBytes(c, target)
	case parquet.Types.FixedLenByteArray:
		v.stored.width = c.TypeLength()
		return v.stored.width > 0 && v.stored.width <= 1<<20 && v.fromFixed(c, target)
	}
	v.stored.width = c.PhysicalType().ByteSize()
	v.fixed, ok = convert.Numbers(c, target)
	return ok
}

// failure says that a stored value does not fit the target.
func (v *conversion) failure(in []byte) error { return convert.Failure(v.column, v.target, in) }

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
		check, ok := convert.DecimalOf(c, t)
		v.text = convert.Decimal(check)
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
		return convert.Unannotated(c)
	case *arrow.Decimal128Type:
		check, ok := convert.DecimalOf(c, t)
		v.fixed = convert.Decimals(c.TypeLength(), check)
		return ok
	}
	return false
}
