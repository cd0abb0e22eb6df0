package engine

import (
	"math"
	"math/big"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

func (b *binder) castExpr(e *syntax.Cast) (constant, error) {
	to, err := typeOf(e.Type)
	if err != nil {
		return constant{}, err
	}
	c, err := b.evaluate(e.Expr)
	if err != nil {
		return constant{}, err
	}
	if c.unbound {
		return constant{typ: to, unbound: true}, nil
	}
	if b.leavesCast(c.typ, to) {
		return constant{}, leftOver(e)
	}
	out, err := b.cast(c, to)
	if e.Try && badValue(err) {
		return nullOf(to), nil
	}
	return out, err
}

// badValue reports whether an error is about a value, which TRY_CAST makes NULL, and not about its type.
func badValue(err error) bool {
	f, ok := err.(*fault.Error)
	if !ok {
		return false
	}
	switch f.Condition {
	case "CAST_INVALID_INPUT", "CAST_OVERFLOW", "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "DATETIME_OVERFLOW":
		return true
	}
	return false
}

// cast gives a constant in another type, or Spark's error.
func (b *binder) cast(c constant, to arrow.DataType) (constant, error) {
	if c.unbound || arrow.TypeEqual(c.typ, to) {
		c.typ = to
		return c, nil
	}
	value, err := b.castValue(c, to)
	if err != nil {
		return constant{}, err
	}
	return constant{typ: to, value: value}, nil
}

func (b *binder) castValue(c constant, to arrow.DataType) (any, error) {
	if c.typ.ID() == arrow.NULL {
		return nil, nil
	}
	var convert func(constant, arrow.DataType) (any, error)
	switch to.ID() {
	case arrow.STRING:
		if c.null() {
			return nil, nil
		}
		return b.text(c), nil
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
		convert = b.castToTime
	default:
		return nil, mismatchedCast(c, to)
	}
	if c.null() {
		return nil, nil
	}
	return convert(c, to)
}

func castToInteger(c constant, to arrow.DataType) (any, error) {
	bits := map[arrow.Type]int{arrow.INT8: 8, arrow.INT16: 16, arrow.INT32: 32, arrow.INT64: 64}[to.ID()]
	var n *big.Int
	switch v := c.value.(type) {
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
		unscaled, scale := decimalValue(c)
		n = new(big.Int).Quo(unscaled, power10(scale))
	case int64:
		n = big.NewInt(v)
		if c.typ.ID() == arrow.TIMESTAMP {
			if !zoned(c.typ) {
				return nil, mismatchedCast(c, to)
			}
			n = big.NewInt(floorDiv(v, perSecond(c.typ)))
		} else if !integral(c.typ) {
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

func castToFloat(c constant, to arrow.DataType) (any, error) {
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
	switch v := c.value.(type) {
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
		n, scale := decimalValue(c)
		return round(toDouble(n, scale))
	case int64:
		if zoned(c.typ) {
			return round(float64(v) / float64(perSecond(c.typ)))
		}
		if integral(c.typ) {
			if bits == 32 {
				return float64(float32(v)), nil
			}
			return float64(v), nil
		}
	}
	return nil, mismatchedCast(c, to)
}

func castToDecimal(c constant, to arrow.DataType) (any, error) {
	precision, scale, _ := decimalOf(to)
	var n *big.Int
	from := 0
	switch v := c.value.(type) {
	case string:
		var ok bool
		if n, from, ok = sparktext.ParseDecimal(sparktext.Trim(v)); !ok {
			return nil, invalidInput(c, to)
		}
	case bool:
		n = big.NewInt(int64(boolDigit(v)))
	case float64:
		var ok bool
		if n, from, ok = sparktext.ParseDecimal(doubleText(v)); !ok {
			return nil, castOverflow(c, to)
		}
	case decimal128.Num:
		n, from = decimalValue(c)
	case int64:
		switch {
		case zoned(c.typ):
			n, from = big.NewInt(v), int(math.Round(math.Log10(float64(perSecond(c.typ)))))
		case integral(c.typ):
			n = big.NewInt(v)
		default:
			return nil, mismatchedCast(c, to)
		}
	default:
		return nil, mismatchedCast(c, to)
	}
	out := rescale(n, from, scale)
	if !fits(out, precision) {
		return nil, fault.New(fault.Invalid, "%s cannot be represented as Decimal(%d, %d). If necessary set \"spark.sql.ansi.enabled\" to \"false\" "+
			"to bypass this error, and return NULL instead.", plainDecimal(n, from), precision, scale).With("NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "22003")
	}
	return decimal128.FromBigInt(out), nil
}

func boolDigit(v bool) int {
	if v {
		return 1
	}
	return 0
}

func castToBoolean(c constant, to arrow.DataType) (any, error) {
	switch v := c.value.(type) {
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
		if integral(c.typ) {
			return v != 0, nil
		}
	}
	return nil, mismatchedCast(c, to)
}

func castToBinary(c constant, to arrow.DataType) (any, error) {
	if s, ok := c.value.(string); ok {
		return []byte(s), nil
	}
	return nil, mismatchedCast(c, to)
}

func invalidInput(c constant, to arrow.DataType) error {
	return sparktext.InvalidInput(c.sql(), typeInError(c.typ), typeInError(to))
}

func castOverflow(c constant, to arrow.DataType) error {
	return sparktext.CastOverflow(c.sql(), typeInError(c.typ), typeInError(to))
}

// typeInError spells a type as Spark's errors do, in upper case.
func typeInError(t arrow.DataType) string { return strings.ToUpper(catalogName(t)) }

func mismatchedCast(c constant, to arrow.DataType) error {
	return fault.New(fault.Invalid, "Cannot resolve \"CAST(%s AS %s)\" due to data type mismatch: cannot cast %s to %s.", c.plain(), strings.ToUpper(catalogName(to)), sqlName(c.typ),
		sqlName(to)).With("DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION", "42K09")
}
