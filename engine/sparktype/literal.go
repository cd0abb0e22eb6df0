package sparktype

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// Literal reads a literal that spells its own type.
func Literal(e *syntax.Literal) (Value, error) {
	switch e.Kind {
	case syntax.Null:
		return NullOf(arrow.Null), nil
	case syntax.Boolean:
		return BoolValue(e.Value == "true" || e.Value == "TRUE"), nil
	case syntax.String:
		return TextValue(e.Value), nil
	case syntax.Integer:
		return integerLiteral(e.Value)
	case syntax.Tinyint:
		return wholeLiteral(e, Tinyint, 8)
	case syntax.Smallint:
		return wholeLiteral(e, Smallint, 16)
	case syntax.Bigint:
		return wholeLiteral(e, Bigint, 64)
	case syntax.Decimal:
		return decimalLiteral(e.Value)
	case syntax.Float:
		return floatLiteral(e, Float, 32)
	case syntax.Double:
		return floatLiteral(e, Double, 64)
	}
	return Value{}, fault.New(fault.Unsupported, "a literal of kind %d is not supported", e.Kind)
}

// integerLiteral gives an int, a bigint or a decimal, whichever holds the number first.
func integerLiteral(text string) (Value, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return decimalLiteral(text)
	}
	if n == int64(int32(n)) {
		return Value{Type: Int, Value: n, Digits: digitsOf(n)}, nil
	}
	return Value{Type: Bigint, Value: n, Digits: digitsOf(n)}, nil
}

func digitsOf(n int64) int {
	s := strconv.FormatInt(n, 10)
	if n < 0 {
		s = s[1:]
	}
	return len(s)
}

func wholeLiteral(e *syntax.Literal, t arrow.DataType, bits int) (Value, error) {
	n, err := strconv.ParseInt(e.Value, 10, bits)
	if err != nil {
		lo, hi := int64(-1)<<(bits-1), int64(math.MaxInt64)>>(64-bits)
		return Value{}, literalRange(e, t, strconv.FormatInt(lo, 10), strconv.FormatInt(hi, 10))
	}
	return Value{Type: t, Value: n, Digits: digitsOf(n)}, nil
}

func floatLiteral(e *syntax.Literal, t arrow.DataType, bits int) (Value, error) {
	f, err := strconv.ParseFloat(e.Value, bits)
	if err != nil {
		most := sparktext.Float(math.MaxFloat64, 64)
		if bits == 32 {
			most = sparktext.Float(math.MaxFloat32, 64)
		}
		return Value{}, literalRange(e, t, "-"+most, most)
	}
	return Value{Type: t, Value: f}, nil
}

func literalRange(e *syntax.Literal, t arrow.DataType, lo, hi string) error {
	return fault.New(fault.Invalid, "Numeric literal %s is outside the valid range for %s with minimum value of %s and maximum value of %s. "+
		"Consider adjusting the value accordingly.", e.Value, Name(t), lo, hi).With("INVALID_NUMERIC_LITERAL_RANGE", "22003")
}

// decimalLiteral takes precision and scale from the digits.
func decimalLiteral(text string) (Value, error) {
	n, scale, ok := sparktext.ParseDecimal(text)
	if !ok {
		return Value{}, fault.New(fault.Invalid, "the number %s cannot be read", text)
	}
	if scale < 0 {
		n, scale = n.Mul(n, sparktext.Power10(-scale)), 0
	}
	precision := max(digitCount(n), scale)
	if precision > MaxPrecision {
		return Value{}, fault.New(fault.Invalid, "Decimal precision %d exceeds max precision %d.", precision, MaxPrecision).
			With("DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", "22003")
	}
	return Value{Type: Decimal(precision, scale), Value: decimal128.FromBigInt(n)}, nil
}

// Typed reads DATE '…' and its like.
func (in Session) Typed(e *syntax.Typed) (Value, error) {
	if e.Type == "X" {
		return hexLiteral(e)
	}
	to, ok := Named(strings.ToLower(e.Type))
	if !ok || !datetime(to) && to.ID() != arrow.TIME64 {
		return Value{}, fault.New(fault.Unsupported, "a literal of type %s is not supported", e.Type)
	}
	v, err := in.castValue(TextValue(e.Text), to)
	if err != nil {
		return Value{}, invalidTyped(e)
	}
	return Value{Type: to, Value: v}, nil
}

func invalidTyped(e *syntax.Typed) error {
	return fault.New(fault.Invalid, "The value of the typed literal \"%s\" is invalid: %s.", e.Type, TextValue(e.Text).SQL()).
		With("INVALID_TYPED_LITERAL", "42604")
}

// hexLiteral reads X'…'.
func hexLiteral(e *syntax.Typed) (Value, error) {
	raw, ok := Unhex(e.Text)
	if !ok {
		return Value{}, invalidTyped(e)
	}
	return Value{Type: Binary, Value: raw}, nil
}

// Unhex reads bytes that are spelled in hexadecimal; an odd number of digits gets a zero in front.
func Unhex(digits string) ([]byte, bool) {
	if len(digits)%2 == 1 {
		digits = "0" + digits
	}
	raw, err := hex.DecodeString(digits)
	return raw, err == nil
}
