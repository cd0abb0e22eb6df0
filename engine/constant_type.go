package engine

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/extensions"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// Spark's types, as Arrow has them on the wire.
var (
	typeBoolean      arrow.DataType = arrow.FixedWidthTypes.Boolean
	typeTinyint      arrow.DataType = arrow.PrimitiveTypes.Int8
	typeSmallint     arrow.DataType = arrow.PrimitiveTypes.Int16
	typeInt          arrow.DataType = arrow.PrimitiveTypes.Int32
	typeBigint       arrow.DataType = arrow.PrimitiveTypes.Int64
	typeFloat        arrow.DataType = arrow.PrimitiveTypes.Float32
	typeDouble       arrow.DataType = arrow.PrimitiveTypes.Float64
	typeString       arrow.DataType = arrow.BinaryTypes.String
	typeBinary       arrow.DataType = arrow.BinaryTypes.Binary
	typeDate         arrow.DataType = arrow.FixedWidthTypes.Date32
	typeTime         arrow.DataType = arrow.FixedWidthTypes.Time64us
	typeTimestamp    arrow.DataType = &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	typeTimestampNTZ arrow.DataType = &arrow.TimestampType{Unit: arrow.Microsecond}
)

const maxPrecision = 38

func decimalType(precision, scale int) arrow.DataType {
	return &arrow.Decimal128Type{Precision: int32(precision), Scale: int32(scale)}
}

// rank orders the numeric types that are no decimals by width; 0 for all other types.
func rank(t arrow.DataType) int {
	switch t.ID() {
	case arrow.INT8:
		return 1
	case arrow.INT16:
		return 2
	case arrow.INT32:
		return 3
	case arrow.INT64:
		return 4
	case arrow.FLOAT32:
		return 5
	case arrow.FLOAT64:
		return 6
	}
	return 0
}

func integral(t arrow.DataType) bool { r := rank(t); return r >= 1 && r <= 4 }

func floating(t arrow.DataType) bool { return rank(t) >= 5 }

func decimalOf(t arrow.DataType) (precision, scale int, ok bool) {
	if d, is := t.(*arrow.Decimal128Type); is {
		return int(d.Precision), int(d.Scale), true
	}
	return 0, 0, false
}

func numeric(t arrow.DataType) bool {
	_, _, decimal := decimalOf(t)
	return decimal || rank(t) > 0
}

// zoned reports whether t is a timestamp that means an instant.
func zoned(t arrow.DataType) bool {
	ts, ok := t.(*arrow.TimestampType)
	return ok && ts.TimeZone != ""
}

func datetime(t arrow.DataType) bool { return t.ID() == arrow.DATE32 || t.ID() == arrow.TIMESTAMP }

// logical gives the type that Spark sees in a column: a uuid is a string, fixed-size binary is binary.
func logical(t arrow.DataType) arrow.DataType {
	if e, ok := t.(arrow.ExtensionType); ok {
		if e.ExtensionName() == extensions.NewUUIDType().ExtensionName() {
			return typeString
		}
		return logical(e.StorageType())
	}
	switch d := t.(type) {
	case *arrow.DictionaryType:
		return logical(d.ValueType)
	case *arrow.FixedSizeBinaryType, *arrow.LargeBinaryType:
		return typeBinary
	case *arrow.LargeStringType:
		return typeString
	}
	return t
}

func isUUID(t arrow.DataType) bool {
	e, ok := t.(arrow.ExtensionType)
	return ok && e.ExtensionName() == extensions.NewUUIDType().ExtensionName()
}

var catalogNames = map[arrow.Type]string{arrow.NULL: "void", arrow.BOOL: "boolean", arrow.INT8: "tinyint", arrow.INT16: "smallint", arrow.INT32: "int",
	arrow.INT64: "bigint", arrow.FLOAT32: "float", arrow.FLOAT64: "double", arrow.STRING: "string", arrow.BINARY: "binary", arrow.DATE32: "date",
	arrow.TIME64: "time(6)"}

// catalogName spells a type as Spark's catalog strings do: decimal(9,2), timestamp_ntz.
func catalogName(t arrow.DataType) string {
	t = logical(t)
	if name, ok := catalogNames[t.ID()]; ok {
		return name
	}
	switch t := t.(type) {
	case *arrow.Decimal128Type:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	case *arrow.TimestampType:
		name := "timestamp"
		if t.Unit == arrow.Nanosecond {
			name += "_ns"
		}
		if t.TimeZone == "" {
			return name + "_ntz"
		}
		return name
	case *arrow.StructType:
		fields := make([]string, t.NumFields())
		for i, f := range t.Fields() {
			fields[i] = f.Name + ": " + catalogName(f.Type)
		}
		return "struct<" + strings.Join(fields, ", ") + ">"
	case *arrow.MapType:
		return "map<" + catalogName(t.KeyType()) + ", " + catalogName(t.ItemType()) + ">"
	case arrow.ListLikeType:
		return "array<" + catalogName(t.Elem()) + ">"
	}
	return t.String()
}

// sqlName spells a type as Spark's errors do, in upper case and double quotes.
func sqlName(t arrow.DataType) string { return `"` + strings.ToUpper(catalogName(t)) + `"` }

var namedTypes = map[string]arrow.DataType{"boolean": typeBoolean, "tinyint": typeTinyint, "byte": typeTinyint, "smallint": typeSmallint,
	"short": typeSmallint, "int": typeInt, "integer": typeInt, "bigint": typeBigint, "long": typeBigint, "float": typeFloat, "real": typeFloat,
	"double": typeDouble, "string": typeString, "varchar": typeString, "char": typeString, "character": typeString, "binary": typeBinary,
	"date": typeDate, "timestamp": typeTimestamp, "timestamp_ltz": typeTimestamp, "timestamp_ntz": typeTimestampNTZ, "time": typeTime, "void": arrow.Null}

// typeOf gives the type that a cast names. As in Spark, the length of varchar and char means nothing there.
func typeOf(n syntax.TypeName) (arrow.DataType, error) {
	if t, ok := namedTypes[n.Name]; ok {
		return t, nil
	}
	switch n.Name {
	case "decimal", "dec", "numeric":
		return decimalNamed(n)
	case "array", "map", "struct", "interval", "variant":
		return nil, unsupported("a cast to %s is not supported", n.Name)
	}
	return nil, fault.New(fault.Invalid, "Unsupported data type \"%s\".", strings.ToUpper(n.Name)).With("UNSUPPORTED_DATATYPE", "0A000").At(position(n.Pos))
}

func decimalNamed(n syntax.TypeName) (arrow.DataType, error) {
	precision, scale := 10, 0
	if len(n.Params) > 0 {
		precision = n.Params[0]
	}
	if len(n.Params) > 1 {
		scale = n.Params[1]
	}
	switch {
	case precision > maxPrecision:
		return nil, fault.New(fault.Invalid, "Decimal precision %d exceeds max precision %d.", precision, maxPrecision).
			With("DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", "22003").At(position(n.Pos))
	case scale > precision:
		return nil, fault.New(fault.Invalid, "Decimal scale (%d) cannot be greater than precision (%d).", scale, precision).
			With("_LEGACY_ERROR_TEMP_1229", "").At(position(n.Pos))
	case precision < 1 || scale < 0:
		return nil, fault.New(fault.Invalid, "decimal(%d,%d) is no type", precision, scale).At(position(n.Pos))
	}
	return decimalType(precision, scale), nil
}

// decimalFor gives the decimal type that holds every value of an integral or decimal type.
func decimalFor(t arrow.DataType) (precision, scale int, ok bool) {
	switch t.ID() {
	case arrow.INT8:
		return 3, 0, true
	case arrow.INT16:
		return 5, 0, true
	case arrow.INT32:
		return 10, 0, true
	case arrow.INT64:
		return 20, 0, true
	}
	return decimalOf(t)
}

// widerDecimal gives the decimal type in which two of them meet. When 38 digits are too few, digits before the point win.
func widerDecimal(p1, s1, p2, s2 int) arrow.DataType {
	scale := max(s1, s2)
	precision := max(p1-s1, p2-s2) + scale
	if precision > maxPrecision {
		return decimalType(maxPrecision, max(0, scale-(precision-maxPrecision)))
	}
	return decimalType(precision, scale)
}

// commonType gives the type in which Spark compares values of two types, the ANSI way. Both are logical types.
func commonType(a, b arrow.DataType) (arrow.DataType, bool) {
	switch {
	case arrow.TypeEqual(a, b):
		return a, true
	case a.ID() == arrow.NULL:
		return b, true
	case b.ID() == arrow.NULL:
		return a, true
	case numeric(a) && numeric(b):
		return commonNumber(a, b), true
	case datetime(a) && datetime(b):
		return commonTime(a, b), true
	case a.ID() == arrow.STRING:
		return commonText(b)
	case b.ID() == arrow.STRING:
		return commonText(a)
	}
	return nil, false
}

func commonNumber(a, b arrow.DataType) arrow.DataType {
	p1, s1, ok1 := decimalFor(a)
	p2, s2, ok2 := decimalFor(b)
	_, _, d1 := decimalOf(a)
	_, _, d2 := decimalOf(b)
	switch {
	case (d1 || d2) && ok1 && ok2:
		return widerDecimal(p1, s1, p2, s2)
	case d1 || d2:
		return typeDouble
	}
	wider := a
	if rank(b) > rank(a) {
		wider = b
	}
	if wider.ID() == arrow.FLOAT32 {
		return typeDouble // an integer and a float
	}
	return wider
}

// commonTime prefers the instant, and the finer unit.
func commonTime(a, b arrow.DataType) arrow.DataType {
	unit := arrow.Microsecond
	for _, t := range []arrow.DataType{a, b} {
		if ts, ok := t.(*arrow.TimestampType); ok && ts.Unit == arrow.Nanosecond {
			unit = arrow.Nanosecond
		}
	}
	if zoned(a) || zoned(b) {
		return &arrow.TimestampType{Unit: unit, TimeZone: "UTC"}
	}
	return &arrow.TimestampType{Unit: unit}
}

// commonText gives what a string is cast to when it meets another type.
func commonText(other arrow.DataType) (arrow.DataType, bool) {
	switch {
	case integral(other):
		return typeBigint, true
	case numeric(other):
		return typeDouble, true
	case arrow.IsNested(other.ID()):
		return nil, false
	}
	return other, true
}
