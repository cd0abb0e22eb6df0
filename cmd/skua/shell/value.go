package shell

import (
	"encoding/hex"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// bytesArray is an array of binary values, of whatever layout.
type bytesArray interface{ Value(row int) []byte }

// valueText is a non-null value as people read it: decimals keep their scale, binary is hexadecimal, nested values are JSON, the rest is Arrow's text.
func valueText(column arrow.Array, row int) string {
	switch c := column.(type) {
	case *array.Decimal32:
		return c.Value(row).ToString(c.DataType().(arrow.DecimalType).GetScale())
	case *array.Decimal64:
		return c.Value(row).ToString(c.DataType().(arrow.DecimalType).GetScale())
	case *array.Decimal128:
		return c.Value(row).ToString(c.DataType().(arrow.DecimalType).GetScale())
	case *array.Decimal256:
		return c.Value(row).ToString(c.DataType().(arrow.DecimalType).GetScale())
	case bytesArray:
		return hex.EncodeToString(c.Value(row))
	case *array.Dictionary:
		return valueText(c.Dictionary(), c.GetValueIndex(row))
	case *array.RunEndEncoded:
		return valueText(c.Values(), c.GetPhysicalIndex(row))
	case *array.Struct, array.ListLike, array.Union:
		return string(appendJSON(nil, c, row))
	}
	return column.ValueStr(row)
}

// isNull reports whether a value is NULL, also where the array has no bits that say so.
func isNull(column arrow.Array, row int) bool {
	switch c := column.(type) {
	case *array.Null:
		return true
	case *array.Dictionary:
		return c.IsNull(row) || isNull(c.Dictionary(), c.GetValueIndex(row))
	case *array.RunEndEncoded:
		return isNull(c.Values(), c.GetPhysicalIndex(row))
	case *array.DenseUnion:
		return isNull(c.Field(c.ChildID(row)), int(c.ValueOffset(row)))
	case *array.SparseUnion:
		return isNull(c.Field(c.ChildID(row)), row)
	}
	return column.IsNull(row)
}

func isText(t arrow.DataType) bool {
	return t.ID() == arrow.STRING || t.ID() == arrow.LARGE_STRING || t.ID() == arrow.STRING_VIEW
}
