package parquet

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/skua-data/skua/kernels/convert"
)

func convertByteArray(c *schema.Column, target arrow.DataType) conversion {
	text, bytes := false, false
	switch c.LogicalType().(type) {
	case schema.NoLogicalType:
		text, bytes = true, true
	case schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType:
		text, bytes = true, true
	case schema.BSONLogicalType, schema.GeometryLogicalType, schema.GeographyLogicalType:
		bytes = true
	}
	switch t := target.(type) {
	case *arrow.StringType:
		if text {
			return relabel(t)
		}
	case *arrow.BinaryType:
		if bytes {
			return relabel(t)
		}
	case *arrow.Decimal128Type:
		return convertBytesDecimal(c, t)
	}
	return nil
}

func convertFixed(c *schema.Column, target arrow.DataType) conversion {
	switch t := target.(type) {
	case *arrow.FixedSizeBinaryType:
		if t.ByteWidth == c.TypeLength() && !isDecimal(c) {
			return relabel(t)
		}
	case *arrow.BinaryType:
		if convert.Unannotated(c) {
			return fixedToBinary(t, c.TypeLength())
		}
	case *arrow.Decimal128Type:
		return convertBytesDecimal(c, t)
	}
	return nil
}

func isDecimal(c *schema.Column) bool {
	_, ok := c.LogicalType().(schema.DecimalLogicalType)
	return ok
}

// relabel keeps the bytes and says what they are; text that is not valid UTF-8 stays as it is, as in Spark.
func relabel(t arrow.DataType) conversion {
	return func(v *values, _ memory.Allocator) (arrow.Array, error) {
		return retyped(v.bytes, t), nil
	}
}

func fixedToBinary(t arrow.DataType, width int) conversion {
	return func(v *values, mem memory.Allocator) (arrow.Array, error) {
		in := v.bytes.(*array.FixedSizeBinary)
		b := array.NewBinaryBuilder(mem, arrow.BinaryTypes.Binary)
		defer b.Release()
		b.Reserve(in.Len())
		b.ReserveData(in.Len() * width)
		for i := range in.Len() {
			if in.IsNull(i) {
				b.AppendNull()
				continue
			}
			b.Append(in.Value(i))
		}
		return b.NewArray(), nil
	}
}

// convertBytesDecimal reads big-endian two's complement numbers of any length.
func convertBytesDecimal(c *schema.Column, t *arrow.Decimal128Type) conversion {
	check, ok := convert.DecimalOf(c, t)
	if !ok {
		return nil
	}
	to := convert.Decimal(check)
	return func(v *values, mem memory.Allocator) (arrow.Array, error) {
		b := memory.NewResizableBuffer(mem)
		defer b.Release()
		b.Resize(v.n * t.Bytes())
		out, value := b.Bytes(), byteValues(v.bytes)
		clear(out)
		for i := range v.n {
			if v.isValid(i) && !to(out[i*t.Bytes():(i+1)*t.Bytes()], value(i)) {
				return nil, convert.Failure(c, t, value(i))
			}
		}
		return v.array(t, b), nil
	}
}

func byteValues(a arrow.Array) func(int) []byte {
	switch a := a.(type) {
	case *array.FixedSizeBinary:
		return a.Value
	case *array.Binary:
		return a.Value
	}
	return func(int) []byte { return nil }
}
