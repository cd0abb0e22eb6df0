package sparktype

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/extensions"
)

// Spark's types, as Arrow has them on the wire.
var (
	Boolean      arrow.DataType = arrow.FixedWidthTypes.Boolean
	Tinyint      arrow.DataType = arrow.PrimitiveTypes.Int8
	Smallint     arrow.DataType = arrow.PrimitiveTypes.Int16
	Int          arrow.DataType = arrow.PrimitiveTypes.Int32
	Bigint       arrow.DataType = arrow.PrimitiveTypes.Int64
	Float        arrow.DataType = arrow.PrimitiveTypes.Float32
	Double       arrow.DataType = arrow.PrimitiveTypes.Float64
	String       arrow.DataType = arrow.BinaryTypes.String
	Binary       arrow.DataType = arrow.BinaryTypes.Binary
	Date         arrow.DataType = arrow.FixedWidthTypes.Date32
	Time         arrow.DataType = arrow.FixedWidthTypes.Time64us
	Timestamp    arrow.DataType = &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	TimestampNTZ arrow.DataType = &arrow.TimestampType{Unit: arrow.Microsecond}
)

// MaxPrecision is how many digits a decimal has at most.
const MaxPrecision = 38

// Decimal gives the type of decimals of so many digits, scale of them behind the point.
func Decimal(precision, scale int) arrow.DataType {
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

// Integral reports whether t has whole numbers of a fixed width.
func Integral(t arrow.DataType) bool { r := rank(t); return r >= 1 && r <= 4 }

// Floating reports whether t is float or double.
func Floating(t arrow.DataType) bool { return rank(t) >= 5 }

// DecimalOf gives the parameters of a decimal type; false: t is none.
func DecimalOf(t arrow.DataType) (precision, scale int, ok bool) {
	if d, is := t.(*arrow.Decimal128Type); is {
		return int(d.Precision), int(d.Scale), true
	}
	return 0, 0, false
}

// Numeric reports whether t has numbers.
func Numeric(t arrow.DataType) bool {
	_, _, decimal := DecimalOf(t)
	return decimal || rank(t) > 0
}

// Zoned reports whether t is a timestamp that means an instant.
func Zoned(t arrow.DataType) bool {
	ts, ok := t.(*arrow.TimestampType)
	return ok && ts.TimeZone != ""
}

func datetime(t arrow.DataType) bool { return t.ID() == arrow.DATE32 || t.ID() == arrow.TIMESTAMP }

// Logical gives the type that Spark sees in a column: a uuid is a string, fixed-size binary is binary.
func Logical(t arrow.DataType) arrow.DataType {
	if IsUUID(t) {
		return String
	}
	if e, ok := t.(arrow.ExtensionType); ok {
		return Logical(e.StorageType())
	}
	switch d := t.(type) {
	case *arrow.DictionaryType:
		return Logical(d.ValueType)
	case *arrow.FixedSizeBinaryType, *arrow.LargeBinaryType:
		return Binary
	case *arrow.LargeStringType:
		return String
	}
	return t
}

// IsUUID reports whether t is that of uuids, which Spark sees as text.
func IsUUID(t arrow.DataType) bool {
	e, ok := t.(arrow.ExtensionType)
	return ok && e.ExtensionName() == extensions.NewUUIDType().ExtensionName()
}
