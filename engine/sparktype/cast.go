package sparktype

import (
	"math"
	"math/big"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/fault"
)

// Cast gives a value in another type, or Spark's error.
func (in Session) Cast(c Value, to arrow.DataType) (Value, error) {
	if c.Unbound || arrow.TypeEqual(c.Type, to) {
		c.Type = to
		return c, nil
	}
	value, err := in.castValue(c, to)
	if err != nil {
		return Value{}, err
	}
	return Value{Type: to, Value: value}, nil
}

func (in Session) castValue(c Value, to arrow.DataType) (any, error) {
	if c.Type.ID() == arrow.NULL {
		return nil, nil
	}
	var convert func(Value, arrow.DataType) (any, error)
	switch to.ID() {
	case arrow.STRING:
		if c.Null() {
			return nil, nil
		}
		return in.Text(c), nil
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64:
		convert = castToInteger
	case arrow.FLOAT32, arrow.FLOAT64:
		convert = castToFloat
	case arrow.DECIMAL128:
		convert = castToDecimal
	case arrow.BOOL:
		convert = castToBoolean
	case arrow.BINARY:
		convert = castToBinary
	case arrow.DATE32, arrow.TIMESTAMP, arrow.TIME64:
		convert = in.castToTime
	default:
		return nil, mismatchedCast(c, to)
	}
	if c.Null() || to.ID() == arrow.DECIMAL128 && !in.Ansi && c.Endless() {
		return nil, nil
	}
	return convert(c, to)
}

// Endless reports whether a value is no number or infinite: as a decimal it is NULL.
func (c Value) Endless() bool {
	f, ok := c.Value.(float64)
	return ok && (math.IsNaN(f) || math.IsInf(f, 0))
}

func castToInteger(c Value, to arrow.DataType) (any, error) {
	bits := map[arrow.Type]int{arrow.INT8: 8, arrow.INT16: 16, arrow.INT32: 32, arrow.INT64: 64}[to.ID()]
	var n *big.Int
	switch v := c.Value.(type) {
	case string:
		n, ok := sparktext.ParseInteger(sparktext.Trim(v), bits)
		if !ok {
			return nil, invalidInput(c, to)
		}
		return n, nil
	case bool:
		if v {
			return int64(1), nil
		}
		return int64(0), nil
	case float64:
		whole, ok := sparktext.FloatToInteger(v, bits)
		if !ok {
			return nil, castOverflow(c, to)
		}
		return whole, nil
	case decimal128.Num:
		unscaled, scale := Unscaled(c)
		n = new(big.Int).Quo(unscaled, sparktext.Power10(scale))
	case int64:
		n = big.NewInt(v)
		if c.Type.ID() == arrow.TIMESTAMP {
			if !Zoned(c.Type) {
				return nil, mismatchedCast(c, to)
			}
			n = big.NewInt(sparktext.FloorDiv(v, PerSecond(c.Type)))
		} else if !Integral(c.Type) {
			return nil, mismatchedCast(c, to)
		}
	default:
		return nil, mismatchedCast(c, to)
	}
	if !n.IsInt64() || n.Int64()<<(64-bits)>>(64-bits) != n.Int64() {
		return nil, castOverflow(c, to)
	}
	return n.Int64(), nil
}

func castToFloat(c Value, to arrow.DataType) (any, error) {
	bits := 64
	if to.ID() == arrow.FLOAT32 {
		bits = 32
	}
	round := func(f float64) (any, error) {
		if bits == 32 {
			return float64(float32(f)), nil
		}
		return f, nil
	}
	switch v := c.Value.(type) {
	case string:
		f, ok := sparktext.ParseFloat(sparktext.Trim(v), bits)
		if !ok {
			return nil, invalidInput(c, to)
		}
		return f, nil
	case bool:
		if v {
			return 1.0, nil
		}
		return 0.0, nil
	case float64:
		return round(v)
	case decimal128.Num:
		n, scale := Unscaled(c)
		return round(sparktext.ToDouble(n, scale))
	case int64:
		if Zoned(c.Type) {
			return round(float64(v) / float64(PerSecond(c.Type)))
		}
		if Integral(c.Type) {
			if bits == 32 {
				return float64(float32(v)), nil
			}
			return float64(v), nil
		}
	}
	return nil, mismatchedCast(c, to)
}

func castToDecimal(c Value, to arrow.DataType) (any, error) {
	precision, scale, _ := DecimalOf(to)
	var n *big.Int
	from := 0
	switch v := c.Value.(type) {
	case string:
		var ok bool
		if n, from, ok = sparktext.ParseDecimal(sparktext.Trim(v)); !ok {
			return nil, invalidInput(c, to)
		}
	case bool:
		n = big.NewInt(int64(boolDigit(v)))
	case float64:
		var ok bool
		if n, from, ok = sparktext.ParseDecimal(sparktext.Float(v, 64)); !ok {
			return nil, castOverflow(c, to)
		}
	case decimal128.Num:
		n, from = Unscaled(c)
	case int64:
		switch {
		case Zoned(c.Type):
			n, from = big.NewInt(v), int(math.Round(math.Log10(float64(PerSecond(c.Type)))))
		case Integral(c.Type):
			n = big.NewInt(v)
		default:
			return nil, mismatchedCast(c, to)
		}
	default:
		return nil, mismatchedCast(c, to)
	}
	out := sparktext.Rescale(n, from, scale)
	if !Fits(out, precision) {
		return nil, fault.New(fault.Invalid, "%s cannot be represented as Decimal(%d, %d). If necessary set \"spark.sql.ansi.enabled\" to \"false\" "+
			"to bypass this error, and return NULL instead.", sparktext.Decimal(n, from), precision, scale).With("NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "22003")
	}
	return decimal128.FromBigInt(out), nil
}

func castToBoolean(c Value, to arrow.DataType) (any, error) {
	switch v := c.Value.(type) {
	case string:
		if out, ok := sparktext.ParseBoolean(sparktext.Trim(v)); ok {
			return out, nil
		}
		return nil, invalidInput(c, to)
	case float64:
		return v != 0, nil
	case decimal128.Num:
		return v.Sign() != 0, nil
	case int64:
		if Integral(c.Type) {
			return v != 0, nil
		}
	}
	return nil, mismatchedCast(c, to)
}

func castToBinary(c Value, to arrow.DataType) (any, error) {
	if s, ok := c.Value.(string); ok {
		return []byte(s), nil
	}
	return nil, mismatchedCast(c, to)
}

func invalidInput(c Value, to arrow.DataType) error {
	return sparktext.InvalidInput(c.SQL(), typeInError(c.Type), typeInError(to))
}

func castOverflow(c Value, to arrow.DataType) error {
	return sparktext.CastOverflow(c.SQL(), typeInError(c.Type), typeInError(to))
}

// typeInError spells a type as Spark's errors do, in upper case.
func typeInError(t arrow.DataType) string { return strings.ToUpper(Name(t)) }

func mismatchedCast(c Value, to arrow.DataType) error {
	return fault.New(fault.Invalid, "Cannot resolve \"CAST(%s AS %s)\" due to data type mismatch: cannot cast %s to %s.", c.Plain(), strings.ToUpper(Name(to)), SQLName(c.Type),
		SQLName(to)).With("DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION", "42K09")
}
