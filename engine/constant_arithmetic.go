package engine

import (
	"math"
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/engine/arith"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

func (b *binder) unary(e *syntax.Unary) (constant, error) {
	if e.Op == "NOT" {
		return b.truthConstant(e)
	}
	c, err := b.evaluate(e.Expr)
	if err != nil || c.unbound {
		return c, err
	}
	if c.typ.ID() == arrow.STRING {
		if c, err = b.cast(c, typeDouble); err != nil {
			return c, err
		}
	}
	switch {
	case c.typ.ID() == arrow.NULL:
		return c, nil
	case e.Op == "~" && !integral(c.typ), !numeric(c.typ):
		return constant{}, wrongOperand(e, c.typ)
	case c.null() || e.Op == "+":
		return c, nil
	case e.Op == "~":
		return constant{typ: c.typ, value: ^c.value.(int64)}, nil
	}
	return negate(c)
}

func wrongOperand(e syntax.Expr, t arrow.DataType) error {
	return fault.New(fault.Invalid, "Cannot resolve \"%s\" due to data type mismatch: the operator does not take a value of the type %s.", outputName(e), sqlName(t)).
		With("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "42K09")
}

func negate(c constant) (constant, error) {
	switch v := c.value.(type) {
	case float64:
		return constant{typ: c.typ, value: -v}, nil
	case decimal128.Num:
		return constant{typ: c.typ, value: v.Negate()}, nil
	}
	zero := constant{typ: c.typ, value: int64(0)}
	out, err := integerResult("-", zero, c, new(big.Int).Neg(big.NewInt(c.value.(int64))), c.typ)
	out.digits = c.digits
	return out, err
}

// binary evaluates an operator on constants.
func (b *binder) binary(e *syntax.Binary) (constant, error) {
	switch e.Op {
	case "+", "-", "*", "/", "%", "DIV", "&", "|", "^":
	case "||":
		return b.call(&syntax.Call{Name: []syntax.Ident{{Text: "concat"}}, Args: []syntax.Expr{e.Left, e.Right}})
	case "AND", "OR", "=", "<>", "<", "<=", ">", ">=", "<=>":
		return b.truthConstant(e)
	default:
		return constant{}, unsupported("the operator %s is not supported", e.Op)
	}
	left, err := b.evaluate(e.Left)
	if err != nil {
		return constant{}, err
	}
	right, err := b.evaluate(e.Right)
	if err != nil {
		return constant{}, err
	}
	if left.unbound || right.unbound {
		return constant{typ: arrow.Null, unbound: true}, nil
	}
	if c, done, err := dateArithmetic(e.Op, left, right); done {
		return c, err
	}
	c, err := b.arithmetic(e, left, right)
	if err == nil && b.leavesBinary(e.Op, left, right) {
		return constant{}, leftOver(e)
	}
	return c, err
}

// dateArithmetic adds days to dates and takes them away.
func dateArithmetic(op string, left, right constant) (constant, bool, error) {
	if op == "+" && right.typ.ID() == arrow.DATE32 {
		left, right = right, left
	}
	if left.typ.ID() != arrow.DATE32 {
		return constant{}, false, nil
	}
	if op != "+" && op != "-" || !integral(right.typ) || right.typ.ID() == arrow.INT64 {
		return constant{}, true, unsupported("the operator %s between %s and %s is not supported", op, sqlName(left.typ), sqlName(right.typ))
	}
	if left.null() || right.null() {
		return nullOf(typeDate), true, nil
	}
	days := right.value.(int64)
	if op == "-" {
		days = -days
	}
	sum := left.value.(int64) + days
	if sum != int64(int32(sum)) {
		return constant{}, true, arith.Overflow("integer", "add")
	}
	return constant{typ: typeDate, value: sum}, true, nil
}

// arithmetic brings both sides to one type, as Spark does, and computes.
func (b *binder) arithmetic(e *syntax.Binary, left, right constant) (constant, error) {
	if left.typ.ID() == arrow.NULL && right.typ.ID() == arrow.NULL {
		return nullOf(typeDouble), nil
	}
	common, ok := commonType(left.typ, right.typ)
	if !ok || !numeric(common) && common.ID() != arrow.STRING {
		return constant{}, differentTypes(e, left.typ, right.typ)
	}
	if common.ID() == arrow.STRING {
		common = typeDouble
	}
	_, _, exact := decimalOf(common)
	switch {
	case exact && e.Op != "DIV":
		return b.decimalArithmetic(e, left, right)
	case e.Op == "/":
		common = typeDouble
	case e.Op == "DIV":
		common = typeBigint
	}
	var err error
	if left, err = b.cast(left, common); err != nil {
		return constant{}, err
	}
	if right, err = b.cast(right, common); err != nil {
		return constant{}, err
	}
	if left.null() || right.null() {
		return nullOf(common), nil
	}
	if floating(common) {
		return floatArithmetic(e, left, right)
	}
	return integerArithmetic(e, left, right)
}

func floatArithmetic(e *syntax.Binary, left, right constant) (constant, error) {
	x, y := left.value.(float64), right.value.(float64)
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
			return constant{}, arith.DivideByZero()
		}
		z = x / y
	case "%":
		if y == 0 {
			return constant{}, arith.RemainderByZero()
		}
		z = math.Mod(x, y)
	default:
		return constant{}, wrongOperand(e, left.typ)
	}
	if left.typ.ID() == arrow.FLOAT32 {
		z = float64(float32(z))
	}
	return constant{typ: left.typ, value: z}, nil
}

func integerArithmetic(e *syntax.Binary, left, right constant) (constant, error) {
	x, y := big.NewInt(left.value.(int64)), big.NewInt(right.value.(int64))
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
			return constant{}, arith.DivideByZero()
		}
		z.Quo(x, y)
	case "%":
		if y.Sign() == 0 {
			return constant{}, arith.RemainderByZero()
		}
		z.Rem(x, y)
	case "&":
		z.And(x, y)
	case "|":
		z.Or(x, y)
	case "^":
		z.Xor(x, y)
	}
	return integerResult(e.Op, left, right, z, left.typ)
}

var tolerant = map[string]string{"+": "add", "-": "subtract", "*": "multiply", "DIV": "divide"}

// integerResult checks that a result fits its type.
func integerResult(op string, left, right constant, z *big.Int, t arrow.DataType) (constant, error) {
	bits := map[arrow.Type]int{arrow.INT8: 8, arrow.INT16: 16, arrow.INT32: 32, arrow.INT64: 64}[t.ID()]
	if z.IsInt64() && z.Int64()<<(64-bits)>>(64-bits) == z.Int64() {
		return constant{typ: t, value: z.Int64()}, nil
	}
	switch bits {
	case 64:
		return constant{}, arith.Overflow("long", tolerant[op])
	case 32:
		return constant{}, arith.Overflow("integer", tolerant[op])
	}
	return constant{}, arith.SmallOverflow(left.sql(), op, right.sql(), tolerant[op])
}

// differentTypes is the error of an operator whose sides have no common type.
func differentTypes(e syntax.Expr, left, right arrow.DataType) error {
	return fault.New(fault.Invalid, "Cannot resolve \"%s\" due to data type mismatch: the left and right operands of the binary operator have incompatible types "+
		"(%s and %s).", outputName(e), sqlName(left), sqlName(right)).With("DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES", "42K09")
}

// exactOf gives the precision and scale with which an operand enters decimal arithmetic: a literal's by its digits.
func exactOf(c constant) (precision, scale int) {
	if c.digits > 0 {
		return c.digits, 0
	}
	if p, s, ok := decimalFor(c.typ); ok {
		return p, s
	}
	return 1, 0
}

func (b *binder) decimalArithmetic(e *syntax.Binary, left, right constant) (constant, error) {
	p1, s1 := exactOf(left)
	p2, s2 := exactOf(right)
	result, ok := arith.Decimals(e.Op, p1, s1, p2, s2)
	if !ok {
		return constant{}, wrongOperand(e, left.typ)
	}
	t := decimalType(result.Precision, result.Scale)
	if left.null() || right.null() {
		return nullOf(t), nil
	}
	z, scale, err := exactly(e.Op, left, right)
	if err != nil {
		return constant{}, err
	}
	precision, to, _ := decimalOf(t)
	out := rescale(z, scale, to)
	if !fits(out, precision) {
		return constant{}, arith.OutOfRange(plainDecimal(z, scale), precision, to)
	}
	return constant{typ: t, value: decimal128.FromBigInt(out)}, nil
}

// exactly computes on decimals; a quotient gets one digit more than any result can hold.
func exactly(op string, left, right constant) (z *big.Int, scale int, err error) {
	x, xs := decimalValue(left)
	y, ys := decimalValue(right)
	switch {
	case y.Sign() == 0 && op == "/":
		return nil, 0, arith.DivideByZero()
	case y.Sign() == 0 && op == "%":
		return nil, 0, arith.RemainderByZero()
	case op == "*":
		return x.Mul(x, y), xs + ys, nil
	case op == "/":
		scale = maxPrecision + 1
		return divideHalfUp(x.Mul(x, power10(scale+ys)), y.Mul(y, power10(xs))), scale, nil
	}
	scale = max(xs, ys)
	x, y = rescale(x, xs, scale), rescale(y, ys, scale)
	switch op {
	case "+":
		return x.Add(x, y), scale, nil
	case "-":
		return x.Sub(x, y), scale, nil
	}
	return x.Rem(x, y), scale, nil
}
