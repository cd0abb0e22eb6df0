package engine

import (
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/fault"
)

var argumentTypes = map[arrow.Type]arrow.DataType{arrow.NULL: arrow.Null, arrow.BOOL: typeBoolean, arrow.INT8: typeTinyint, arrow.INT16: typeSmallint, arrow.INT32: typeInt,
	arrow.INT64: typeBigint, arrow.UINT8: typeSmallint, arrow.UINT16: typeInt, arrow.UINT32: typeBigint, arrow.UINT64: decimalType(20, 0),
	arrow.FLOAT16: typeFloat, arrow.FLOAT32: typeFloat, arrow.FLOAT64: typeDouble, arrow.STRING: typeString, arrow.LARGE_STRING: typeString,
	arrow.STRING_VIEW: typeString, arrow.BINARY: typeBinary, arrow.LARGE_BINARY: typeBinary, arrow.BINARY_VIEW: typeBinary, arrow.FIXED_SIZE_BINARY: typeBinary,
	arrow.DATE32: typeDate, arrow.DATE64: typeDate, arrow.TIME32: typeTime, arrow.TIME64: typeTime}

// argumentType gives the type that a bound column's values have here.
func argumentType(t arrow.DataType) (arrow.DataType, error) {
	switch t := t.(type) {
	case *arrow.TimestampType:
		unit := arrow.Microsecond
		if t.Unit == arrow.Nanosecond {
			unit = arrow.Nanosecond
		}
		if t.TimeZone == "" {
			return &arrow.TimestampType{Unit: unit}, nil
		}
		return &arrow.TimestampType{Unit: unit, TimeZone: "UTC"}, nil
	case *arrow.DictionaryType:
		return argumentType(t.ValueType)
	case arrow.DecimalType:
		if t.GetPrecision() > maxPrecision {
			return nil, unsupported("a bound value of type %s is not supported", t)
		}
		return decimalType(int(t.GetPrecision()), int(t.GetScale())), nil
	}
	if out, ok := argumentTypes[t.ID()]; ok {
		return out, nil
	}
	return nil, unsupported("a bound value of type %s is not supported", t)
}

func argumentValue(column arrow.Array, i int) (any, error) {
	switch a := column.(type) {
	case *array.Boolean:
		return a.Value(i), nil
	case *array.Int8:
		return int64(a.Value(i)), nil
	case *array.Int16:
		return int64(a.Value(i)), nil
	case *array.Int32:
		return int64(a.Value(i)), nil
	case *array.Int64:
		return a.Value(i), nil
	case *array.Uint8:
		return int64(a.Value(i)), nil
	case *array.Uint16:
		return int64(a.Value(i)), nil
	case *array.Uint32:
		return int64(a.Value(i)), nil
	case *array.Uint64:
		return decimal128.FromBigInt(new(big.Int).SetUint64(a.Value(i))), nil
	case *array.Float16:
		return float64(a.Value(i).Float32()), nil
	case *array.Float32:
		return float64(a.Value(i)), nil
	case *array.Float64:
		return a.Value(i), nil
	case *array.Decimal32:
		return decimal128.FromI64(int64(a.Value(i))), nil
	case *array.Decimal64:
		return decimal128.FromI64(int64(a.Value(i))), nil
	case *array.Decimal128:
		return a.Value(i), nil
	case *array.Decimal256:
		return decimal128.FromBigInt(a.Value(i).BigInt()), nil
	}
	return otherArgument(column, i)
}

func otherArgument(column arrow.Array, i int) (any, error) {
	switch a := column.(type) {
	case *array.String:
		return a.Value(i), nil
	case *array.LargeString:
		return a.Value(i), nil
	case *array.StringView:
		return a.Value(i), nil
	case *array.Binary:
		return append([]byte{}, a.Value(i)...), nil
	case *array.LargeBinary:
		return append([]byte{}, a.Value(i)...), nil
	case *array.BinaryView:
		return append([]byte{}, a.Value(i)...), nil
	case *array.FixedSizeBinary:
		return append([]byte{}, a.Value(i)...), nil
	case *array.Date32:
		return int64(a.Value(i)), nil
	case *array.Date64:
		return floorDiv(int64(a.Value(i)), 86_400_000), nil
	case *array.Time32:
		return scaled(int64(a.Value(i)), a.DataType().(*arrow.Time32Type).Unit)
	case *array.Time64:
		return scaled(int64(a.Value(i)), a.DataType().(*arrow.Time64Type).Unit)
	case *array.Timestamp:
		unit := a.DataType().(*arrow.TimestampType).Unit
		if unit == arrow.Nanosecond {
			return int64(a.Value(i)), nil
		}
		return scaled(int64(a.Value(i)), unit)
	}
	return nil, unsupported("a bound value of type %s is not supported", column.DataType())
}

// scaled turns a time of any unit into microseconds.
func scaled(n int64, unit arrow.TimeUnit) (any, error) {
	if unit == arrow.Nanosecond {
		return floorDiv(n, 1000), nil
	}
	factor := map[arrow.TimeUnit]int64{arrow.Second: 1_000_000, arrow.Millisecond: 1000, arrow.Microsecond: 1}[unit]
	if out := n * factor; out/factor == n {
		return out, nil
	}
	return nil, fault.New(fault.Invalid, "a time of %d %s is out of range", n, unit)
}
