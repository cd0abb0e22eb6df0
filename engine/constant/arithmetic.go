package constant

import (
	"math"
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/engine/arith"
	"github.com/skua-data/skua/engine/sparkname"
	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

func (ev *Evaluator) unary(e *syntax.Unary) (sparktype.Value, error) {
	if e.Op == "NOT" {
		return ev.Scope.Test(e)
	}
	c, err := ev.evaluate(e.Expr)
	if err != nil || c.Unbound {
		return c, err
	}
	if c.Type.ID() == arrow.STRING {
		if c, err = ev.Cast(c, sparktype.Double); err != nil {
			return c, err
		}
	}
	switch {
	case c.Type.ID() == arrow.NULL:
		return c, nil
	case e.Op == "~" && !sparktype.Integral(c.Type), !sparktype.Numeric(c.Type):
		return sparktype.Value{}, wrongOperand(e, c.Type)
	case c.Null() || e.Op == "+":
		return c, nil
	case e.Op == "~":
		return sparktype.Value{Type: c.Type, Value: ^c.Value.(int64)}, nil
	}
	return negate(c)
}

func wrongOperand(e syntax.Expr, t arrow.DataType) error {
	return fault.New(fault.Invalid, "Cannot resolve \"%s\" due to data type mismatch: the operator does not take a value of the type %s.", sparkname.Of(e), sparktype.SQLName(t)).
		With("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "42K09")
}

func negate(c sparktype.Value) (sparktype.Value, error) {
	switch v := c.Value.(type) {
	case float64:
		return sparktype.Value{Type: c.Type, Value: -v}, nil
	case decimal128.Num:
		return sparktype.Value{Type: c.Type, Value: v.Negate()}, nil
	}
	zero := sparktype.Value{Type: c.Type, Value: int64(0)}
	out, err := integerResult("-", zero, c, new(big.Int).Neg(big.NewInt(c.Value.(int64))), c.Type)
	out.Digits = c.Digits
	return out, err
}

// binary evaluates an operator on constants.
func (ev *Evaluator) binary(e *syntax.Binary) (sparktype.Value, error) {
	switch e.Op {
	case "+", "-", "*", "/", "%", "DIV", "&", "|", "^":
	case "||":
		return ev.call(&syntax.Call{Name: []syntax.Ident{{Text: "concat"}}, Args: []syntax.Expr{e.Left, e.Right}})
	case "AND", "OR", "=", "<>", "<", "<=", ">", ">=", "<=>":
		return ev.Scope.Test(e)
	default:
		return sparktype.Value{}, fault.New(fault.Unsupported, "the operator %s is not supported", e.Op)
	}
	left, err := ev.evaluate(e.Left)
	if err != nil {
		return sparktype.Value{}, err
	}
	right, err := ev.evaluate(e.Right)
	if err != nil {
		return sparktype.Value{}, err
	}
	if left.Unbound || right.Unbound {
		return sparktype.Value{Type: arrow.Null, Unbound: true}, nil
	}
	if c, done, err := dateArithmetic(e.Op, left, right); done {
		return c, err
	}
	if e.Op == "-" && (left.Type.ID() == arrow.TIMESTAMP || right.Type.ID() == arrow.TIMESTAMP) {
		return sparktype.Value{}, fault.New(fault.Unsupported, "the operator - between %s and %s is not supported", sparktype.SQLName(left.Type), sparktype.SQLName(right.Type))
	}
	c, err := ev.arithmetic(e, left, right)
	if err == nil && ev.leavesBinary(e.Op, left, right) {
		return sparktype.Value{}, leftOver(e)
	}
	return c, err
}

// dateArithmetic adds days to dates and takes them away.
func dateArithmetic(op string, left, right sparktype.Value) (sparktype.Value, bool, error) {
	if op == "+" && right.Type.ID() == arrow.DATE32 {
		left, right = right, left
	}
	if left.Type.ID() != arrow.DATE32 {
		return sparktype.Value{}, false, nil
	}
	if op != "+" && op != "-" || !sparktype.Integral(right.Type) || right.Type.ID() == arrow.INT64 {
		return sparktype.Value{}, true, fault.New(fault.Unsupported, "the operator %s between %s and %s is not supported", op, sparktype.SQLName(left.Type), sparktype.SQLName(right.Type))
	}
	if left.Null() || right.Null() {
		return sparktype.NullOf(sparktype.Date), true, nil
	}
	days := right.Value.(int64)
	if op == "-" {
		days = -days
	}
	sum := left.Value.(int64) + days
	if sum != int64(int32(sum)) {
		return sparktype.Value{}, true, arith.Overflow("integer", "add")
	}
	return sparktype.Value{Type: sparktype.Date, Value: sum}, true, nil
}

// arithmetic brings both sides to one type, as Spark does, and computes.
func (ev *Evaluator) arithmetic(e *syntax.Binary, left, right sparktype.Value) (sparktype.Value, error) {
	if left.Type.ID() == arrow.NULL && right.Type.ID() == arrow.NULL {
		return sparktype.NullOf(sparktype.Double), nil
	}
	common, ok := sparktype.Common(left.Type, right.Type)
	if !ok || !sparktype.Numeric(common) && common.ID() != arrow.STRING {
		return sparktype.Value{}, DifferentTypes(e, left.Type, right.Type)
	}
	if common.ID() == arrow.STRING {
		common = sparktype.Double
	}
	_, _, exact := sparktype.DecimalOf(common)
	switch {
	case exact && e.Op != "DIV":
		return ev.decimalArithmetic(e, left, right)
	case e.Op == "/":
		common = sparktype.Double
	case e.Op == "DIV":
		common = sparktype.Bigint
	}
	var err error
	if left, err = ev.Cast(left, common); err != nil {
		return sparktype.Value{}, err
	}
	if right, err = ev.Cast(right, common); err != nil {
		return sparktype.Value{}, err
	}
	if left.Null() || right.Null() {
		return sparktype.NullOf(common), nil
	}
	if sparktype.Floating(common) {
		return floatArithmetic(e, left, right)
	}
	return integerArithmetic(e, left, right)
}

func floatArithmetic(e *syntax.Binary, left, right sparktype.Value) (sparktype.Value, error) {
	x, y := left.Value.(float64), right.Value.(float64)
	var z float64
	switch e.Op {
	case "+":
		z = x + y
	case "-":
		z = x - y
	case "*":
		z = x * y
	case "/":
		if y == 0 {
			return sparktype.Value{}, arith.DivideByZero()
		}
		z = x / y
	case "%":
		if y == 0 {
			return sparktype.Value{}, arith.RemainderByZero()
		}
		z = math.Mod(x, y)
	default:
		return sparktype.Value{}, wrongOperand(e, left.Type)
	}
	if left.Type.ID() == arrow.FLOAT32 {
		z = float64(float32(z))
	}
	return sparktype.Value{Type: left.Type, Value: z}, nil
}

func integerArithmetic(e *syntax.Binary, left, right sparktype.Value) (sparktype.Value, error) {
	x, y := big.NewInt(left.Value.(int64)), big.NewInt(right.Value.(int64))
	z := new(big.Int)
	switch e.Op {
	case "+":
		z.Add(x, y)
	case "-":
		z.Sub(x, y)
	case "*":
		z.Mul(x, y)
	case "DIV":
		if y.Sign() == 0 {
			return sparktype.Value{}, arith.DivideByZero()
		}
		z.Quo(x, y)
	case "%":
		if y.Sign() == 0 {
			return sparktype.Value{}, arith.RemainderByZero()
		}
		z.Rem(x, y)
	case "&":
		z.And(x, y)
	case "|":
		z.Or(x, y)
	case "^":
		z.Xor(x, y)
	}
	return integerResult(e.Op, left, right, z, left.Type)
}

var tolerant = map[string]string{"+": "add", "-": "subtract", "*": "multiply", "DIV": "divide"}

// integerResult checks that a result fits its type.
func integerResult(op string, left, right sparktype.Value, z *big.Int, t arrow.DataType) (sparktype.Value, error) {
	bits := map[arrow.Type]int{arrow.INT8: 8, arrow.INT16: 16, arrow.INT32: 32, arrow.INT64: 64}[t.ID()]
	if z.IsInt64() && z.Int64()<<(64-bits)>>(64-bits) == z.Int64() {
		return sparktype.Value{Type: t, Value: z.Int64()}, nil
	}
	switch bits {
	case 64:
		return sparktype.Value{}, arith.Overflow("long", tolerant[op])
	case 32:
		return sparktype.Value{}, arith.Overflow("integer", tolerant[op])
	}
	return sparktype.Value{}, arith.SmallOverflow(left.SQL(), op, right.SQL(), tolerant[op])
}

// exactOf gives the precision and scale with which an operand enters decimal arithmetic: a literal's by its digits.
func exactOf(c sparktype.Value) (precision, scale int) {
	if c.Digits > 0 {
		return c.Digits, 0
	}
	if p, s, ok := sparktype.DecimalFor(c.Type); ok {
		return p, s
	}
	return 1, 0
}

func (ev *Evaluator) decimalArithmetic(e *syntax.Binary, left, right sparktype.Value) (sparktype.Value, error) {
	p1, s1 := exactOf(left)
	p2, s2 := exactOf(right)
	result, ok := arith.Decimals(e.Op, p1, s1, p2, s2)
	if !ok {
		return sparktype.Value{}, wrongOperand(e, left.Type)
	}
	t := sparktype.Decimal(result.Precision, result.Scale)
	if left.Null() || right.Null() {
		return sparktype.NullOf(t), nil
	}
	z, scale, err := exactly(e.Op, left, right)
	if err != nil {
		return sparktype.Value{}, err
	}
	precision, to, _ := sparktype.DecimalOf(t)
	out := sparktext.Rescale(z, scale, to)
	if !sparktype.Fits(out, precision) {
		return sparktype.Value{}, arith.OutOfRange(sparktext.Decimal(z, scale), precision, to)
	}
	return sparktype.Value{Type: t, Value: decimal128.FromBigInt(out)}, nil
}

// exactly computes on decimals; a quotient gets one digit more than any result can hold.
func exactly(op string, left, right sparktype.Value) (z *big.Int, scale int, err error) {
	x, xs := sparktype.Unscaled(left)
	y, ys := sparktype.Unscaled(right)
	switch {
	case y.Sign() == 0 && op == "/":
		return nil, 0, arith.DivideByZero()
	case y.Sign() == 0 && op == "%":
		return nil, 0, arith.RemainderByZero()
	case op == "*":
		return x.Mul(x, y), xs + ys, nil
	case op == "/":
		scale = sparktype.MaxPrecision + 1
		return sparktext.DivideHalfUp(x.Mul(x, sparktext.Power10(scale+ys)), y.Mul(y, sparktext.Power10(xs))), scale, nil
	}
	scale = max(xs, ys)
	x, y = sparktext.Rescale(x, xs, scale), sparktext.Rescale(y, ys, scale)
	switch op {
	case "+":
		return x.Add(x, y), scale, nil
	case "-":
		return x.Sub(x, y), scale, nil
	}
	return x.Rem(x, y), scale, nil
}
