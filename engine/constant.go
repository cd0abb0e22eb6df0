package engine

import (
	"math"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// constant is a value that is known before any row is read, in one of Spark's types (constant_type.go has them as Arrow types). value is nil
// for NULL, else as a predicate.Literal of typ holds it.
type constant struct {
	typ     arrow.DataType
	value   any
	unbound bool // a parameter whose value comes later: NULL in the meantime
	digits  int  // of an integer literal: how many decimal digits it needs, since decimals take literals by value and not by type
}

func (c constant) null() bool { return c.value == nil }

func nullOf(t arrow.DataType) constant { return constant{typ: t} }

func textConstant(s string) constant { return constant{typ: typeString, value: s} }

func boolConstant(v bool) constant { return constant{typ: typeBoolean, value: v} }

// constant evaluates an expression that reads no column, in Spark's ANSI semantics.
func (b *binder) constant(e syntax.Expr) (constant, error) {
	c, err := b.evaluate(e)
	if err != nil {
		return constant{}, located(err, e.Pos())
	}
	return c, nil
}

func (b *binder) evaluate(e syntax.Expr) (constant, error) {
	switch e := e.(type) {
	case *syntax.Literal:
		return literal(e)
	case *syntax.Typed:
		return b.typedLiteral(e)
	case *syntax.Parameter:
		return b.parameter(e)
	case *syntax.Column:
		return b.niladic(e)
	case *syntax.Cast:
		return b.castExpr(e)
	case *syntax.Call:
		return b.call(e)
	case *syntax.Unary:
		return b.unary(e)
	case *syntax.Binary:
		return b.binary(e)
	case *syntax.Unsupported:
		return constant{}, unsupported("%s is not supported", e.Feature)
	}
	return b.truthConstant(e)
}

// truthConstant evaluates a test of constants by binding it: the binder folds it.
func (b *binder) truthConstant(e syntax.Expr) (constant, error) {
	p, err := b.bind(e)
	if err != nil {
		return constant{}, err
	}
	return foldedConstant(p, e)
}

// located puts a position on an error that has none.
func located(err error, p syntax.Pos) error {
	f, ok := err.(*fault.Error)
	if !ok || f.Position.Line > 0 || p.Line == 0 {
		return err
	}
	out := *f
	out.Position = position(p)
	return &out
}

// literal reads a literal that spells its own type.
func literal(e *syntax.Literal) (constant, error) {
	switch e.Kind {
	case syntax.Null:
		return nullOf(arrow.Null), nil
	case syntax.Boolean:
		return boolConstant(e.Value == "true" || e.Value == "TRUE"), nil
	case syntax.String:
		return textConstant(e.Value), nil
	case syntax.Integer:
		return integerLiteral(e.Value)
	case syntax.Tinyint:
		return wholeLiteral(e, typeTinyint, 8)
	case syntax.Smallint:
		return wholeLiteral(e, typeSmallint, 16)
	case syntax.Bigint:
		return wholeLiteral(e, typeBigint, 64)
	case syntax.Decimal:
		return decimalLiteral(e.Value)
	case syntax.Float:
		return floatLiteral(e, typeFloat, 32)
	case syntax.Double:
		return floatLiteral(e, typeDouble, 64)
	}
	return constant{}, unsupported("a literal of kind %d is not supported", e.Kind)
}

// integerLiteral gives an int, a bigint or a decimal, whichever holds the number first.
func integerLiteral(text string) (constant, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return decimalLiteral(text)
	}
	if n == int64(int32(n)) {
		return constant{typ: typeInt, value: n, digits: digitsOf(n)}, nil
	}
	return constant{typ: typeBigint, value: n, digits: digitsOf(n)}, nil
}

func digitsOf(n int64) int {
	s := strconv.FormatInt(n, 10)
	if n < 0 {
		s = s[1:]
	}
	return len(s)
}

func wholeLiteral(e *syntax.Literal, t arrow.DataType, bits int) (constant, error) {
	n, err := strconv.ParseInt(e.Value, 10, bits)
	if err != nil {
		lo, hi := int64(-1)<<(bits-1), int64(math.MaxInt64)>>(64-bits)
		return constant{}, literalRange(e, t, strconv.FormatInt(lo, 10), strconv.FormatInt(hi, 10))
	}
	return constant{typ: t, value: n, digits: digitsOf(n)}, nil
}

func floatLiteral(e *syntax.Literal, t arrow.DataType, bits int) (constant, error) {
	f, err := strconv.ParseFloat(e.Value, bits)
	if err != nil {
		most := doubleText(math.MaxFloat64)
		if bits == 32 {
			most = doubleText(math.MaxFloat32)
		}
		return constant{}, literalRange(e, t, "-"+most, most)
	}
	return constant{typ: t, value: f}, nil
}

func literalRange(e *syntax.Literal, t arrow.DataType, lo, hi string) error {
	return fault.New(fault.Invalid, "Numeric literal %s is outside the valid range for %s with minimum value of %s and maximum value of %s. "+
		"Consider adjusting the value accordingly.", e.Value, catalogName(t), lo, hi).With("INVALID_NUMERIC_LITERAL_RANGE", "22003")
}

// decimalLiteral takes precision and scale from the digits.
func decimalLiteral(text string) (constant, error) {
	n, scale, ok := sparktext.ParseDecimal(text)
	if !ok {
		return constant{}, fault.New(fault.Invalid, "the number %s cannot be read", text)
	}
	if scale < 0 {
		n, scale = n.Mul(n, power10(-scale)), 0
	}
	precision := max(digitCount(n), scale)
	if precision > maxPrecision {
		return constant{}, fault.New(fault.Invalid, "Decimal precision %d exceeds max precision %d.", precision, maxPrecision).
			With("DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", "22003")
	}
	return constant{typ: decimalType(precision, scale), value: decimal128.FromBigInt(n)}, nil
}

// parameter gives the value bound to a ?; without values it is NULL for the time being.
func (b *binder) parameter(e *syntax.Parameter) (constant, error) {
	switch {
	case e.Index < 0:
		return constant{}, unsupported("a named parameter such as :%s is not supported; use ?", e.Name)
	case b.params == nil:
		return constant{typ: arrow.Null, unbound: true}, nil
	case e.Index >= len(b.params):
		return constant{}, fault.New(fault.Invalid, "Found the unbound parameter: parameter %d has no value.", e.Index+1).With("UNBOUND_SQL_PARAMETER", "42P02")
	}
	return b.params[e.Index], nil
}
