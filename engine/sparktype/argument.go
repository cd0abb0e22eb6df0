package sparktype

import (
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/fault"
)

// Argument reads the i-th value of a column of bound values. Clients bind what their language has: every width of numbers, every unit of time.
func Argument(column arrow.Array, i int) (Value, error) {
	if d, ok := column.(*array.Dictionary); ok && !d.IsNull(i) {
		return Argument(d.Dictionary(), d.GetValueIndex(i))
	}
	if e, ok := column.(array.ExtensionArray); ok {
		return Argument(e.Storage(), i)
	}
	t, err := argumentType(column.DataType())
	if err != nil || t.ID() == arrow.NULL || column.IsNull(i) {
		return Value{Type: t}, err
	}
	value, err := argumentValue(column, i)
	if n, ok := value.(int64); ok && Integral(t) {
		return Value{Type: t, Value: n, Digits: digitsOf(n)}, err
	}
	return Value{Type: t, Value: value}, err
}

var argumentTypes = map[arrow.Type]arrow.DataType{arrow.NULL: arrow.Null, arrow.BOOL: Boolean, arrow.INT8: Tinyint, arrow.INT16: Smallint, arrow.INT32: Int,
	arrow.INT64: Bigint, arrow.UINT8: Smallint, arrow.UINT16: Int, arrow.UINT32: Bigint, arrow.UINT64: Decimal(20, 0),
	arrow.FLOAT16: Float, arrow.FLOAT32: Float, arrow.FLOAT64: Double, arrow.STRING: String, arrow.LARGE_STRING: String,
	arrow.STRING_VIEW: String, arrow.BINARY: Binary, arrow.LARGE_BINARY: Binary, arrow.BINARY_VIEW: Binary, arrow.FIXED_SIZE_BINARY: Binary,
	arrow.DATE32: Date, arrow.DATE64: Date, arrow.TIME32: Time, arrow.TIME64: Time}

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
		if t.GetPrecision() > MaxPrecision {
			return nil, fault.New(fault.Unsupported, "a bound value of type %s is not supported", t)
		}
		return Decimal(int(t.GetPrecision()), int(t.GetScale())), nil
	}
	if out, ok := argumentTypes[t.ID()]; ok {
		return out, nil
	}
	return nil, fault.New(fault.Unsupported, "a bound value of type %s is not supported", t)
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
		return sparktext.FloorDiv(int64(a.Value(i)), 86_400_000), nil
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
	return nil, fault.New(fault.Unsupported, "a bound value of type %s is not supported", column.DataType())
}

// scaled turns a time of any unit into microseconds.
func scaled(n int64, unit arrow.TimeUnit) (any, error) {
	if unit == arrow.Nanosecond {
		return sparktext.FloorDiv(n, 1000), nil
	}
	factor := map[arrow.TimeUnit]int64{arrow.Second: 1_000_000, arrow.Millisecond: 1000, arrow.Microsecond: 1}[unit]
	if out := n * factor; out/factor == n {
		return out, nil
	}
	return nil, fault.New(fault.Invalid, "a time of %d %s is out of range", n, unit)
}
