package parquet

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/skua-data/skua/fault"
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
		if plain(c) {
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

// decimalOf checks that a leaf is a decimal of the target's scale: widening keeps the scale. check is the precision its values have to be
// tested for, where the file allows more digits than the target.
func decimalOf(c *schema.Column, t *arrow.Decimal128Type) (check int32, ok bool) {
	d, isDecimal := c.LogicalType().(schema.DecimalLogicalType)
	if !isDecimal || d.Scale() != t.Scale {
		return 0, false
	}
	if d.Precision() > t.Precision {
		check = t.Precision
	}
	return check, true
}

func convertIntDecimal(c *schema.Column, t *arrow.Decimal128Type) conversion {
	check, ok := decimalOf(c, t)
	if !ok {
		return nil
	}
	narrow := c.PhysicalType() == parquet.Types.Int32
	return func(v *values, mem memory.Allocator) (arrow.Array, error) {
		b, out := allocate[decimal128.Num](v.n, mem)
		defer b.Release()
		if narrow {
			for i, in := range arrow.GetData[int32](v.fixed.Bytes())[:v.n] {
				out[i] = decimal128.FromI64(int64(in))
			}
		} else {
			for i, in := range arrow.GetData[int64](v.fixed.Bytes())[:v.n] {
				out[i] = decimal128.FromI64(in)
			}
		}
		return v.decimals(t, b, out, check)
	}
}

// decimals wraps decoded decimals after testing those that may have too many digits.
func (v *values) decimals(t *arrow.Decimal128Type, b *memory.Buffer, out []decimal128.Num, check int32) (arrow.Array, error) {
	for i := 0; check > 0 && i < v.n; i++ {
		if v.isValid(i) && !out[i].FitsInPrecision(check) {
			return nil, fault.New(fault.Corrupt, "decimal %s is out of the range of %s", out[i].ToString(t.Scale), t)
		}
	}
	return v.array(t, b), nil
}

// convertBytesDecimal reads big-endian two's complement numbers of any length.
func convertBytesDecimal(c *schema.Column, t *arrow.Decimal128Type) conversion {
	check, ok := decimalOf(c, t)
	if !ok {
		return nil
	}
	return func(v *values, mem memory.Allocator) (arrow.Array, error) {
		b, out := allocate[decimal128.Num](v.n, mem)
		defer b.Release()
		value := byteValues(v.bytes)
		for i := range out {
			if !v.isValid(i) {
				out[i] = decimal128.Num{}
				continue
			}
			var ok bool
			if out[i], ok = bigEndian(value(i)); !ok {
				return nil, fault.New(fault.Corrupt, "decimal of %d bytes is out of the range of %s", len(value(i)), t)
			}
		}
		return v.decimals(t, b, out, check)
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

// bigEndian reads a two's complement number, if it fits 16 bytes. No bytes are 0.
func bigEndian(b []byte) (decimal128.Num, bool) {
	var fill byte
	if len(b) > 0 && b[0]&0x80 != 0 {
		fill = 0xff
	}
	for len(b) > 16 {
		if b[0] != fill || (b[1]^fill)&0x80 != 0 {
			return decimal128.Num{}, false
		}
		b = b[1:]
	}
	high, low := int64(int8(fill)), uint64(int64(int8(fill)))
	for _, c := range b {
		high = high<<8 | int64(low>>56)
		low = low<<8 | uint64(c)
	}
	return decimal128.New(high, low), true
}
