package shell

import (
	"encoding/hex"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// valueText is a non-null value as people read it: decimals keep their scale, binary is hexadecimal, the rest is Arrow's text.
func valueText(column arrow.Array, row int) string {
	switch c := column.(type) {
	case *array.Decimal128:
		return c.Value(row).ToString(c.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Binary:
		return hex.EncodeToString(c.Value(row))
	case *array.FixedSizeBinary:
		return hex.EncodeToString(c.Value(row))
	}
	return column.ValueStr(row)
}
