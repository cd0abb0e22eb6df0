package scan

import (
	"fmt"
	"strings"

	"github.com/apache/iceberg-go"
)

// sparkType spells a type as Spark's catalog string does.
func sparkType(t iceberg.Type) string {
	switch t := t.(type) {
	case *iceberg.StructType:
		parts := make([]string, len(t.FieldList))
		for i, f := range t.FieldList {
			parts[i] = f.Name + ":" + sparkType(f.Type)
		}
		return "struct<" + strings.Join(parts, ",") + ">"
	case *iceberg.ListType:
		return "array<" + sparkType(t.Element) + ">"
	case *iceberg.MapType:
		return "map<" + sparkType(t.KeyType) + "," + sparkType(t.ValueType) + ">"
	case iceberg.DecimalType:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision(), t.Scale())
	case iceberg.Int64Type:
		return "bigint"
	case iceberg.UUIDType:
		return "string"
	case iceberg.FixedType:
		return "binary"
	case iceberg.TimestampTzType:
		return "timestamp"
	case iceberg.TimestampType:
		return "timestamp_ntz"
	case iceberg.TimestampTzNsType:
		return "timestamp_ns"
	case iceberg.TimestampNsType:
		return "timestamp_ntz_ns"
	case iceberg.UnknownType:
		return "void"
	case iceberg.VariantType:
		return "variant"
	}
	return t.String() // boolean, int, float, double, date, time, string, binary are spelled alike
}
