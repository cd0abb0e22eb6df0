package engine

import (
	"bytes"
	"cmp"
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/predicate"
)

// bindComparison binds left op right.
func (b *binder) bindComparison(e *syntax.Binary, op predicate.Op) (predicate.Expr, error) {
	left, err := b.operand(e.Left)
	if err != nil {
		return nil, err
	}
	right, err := b.valueFor(left, e.Right)
	if err != nil {
		return nil, err
	}
	return b.compare(e, op, left, right)
}

func (b *binder) compare(e syntax.Expr, op predicate.Op, left, right operand) (predicate.Expr, error) {
	if left.column && right.column {
		return nil, unsupported("%s: comparing two columns is not supported yet", outputName(e))
	}
	if right.column {
		left, right, op = right, left, op.Swap()
	}
	common, ok := b.common(left.typ(), right.typ())
	switch {
	case left.value.unbound || right.value.unbound:
		return predicate.Null, nil
	case !ok:
		return nil, differentTypes(e, left.typ(), right.typ())
	case !left.column:
		return b.compareConstants(op, left.value, right.value, common)
	}
	return b.compareColumn(e, op, left.ref, right.value, common)
}

// compareConstants folds a comparison.
func (b *binder) compareConstants(op predicate.Op, left, right constant, common arrow.DataType) (predicate.Expr, error) {
	left, err := b.cast(left, common)
	if err != nil {
		return nil, err
	}
	if right, err = b.cast(right, common); err != nil {
		return nil, err
	}
	if left.null() || right.null() {
		return predicate.Null, nil
	}
	c := compareValues(left.value, right.value)
	return truth(boolConstant([]bool{predicate.Eq: c == 0, predicate.NotEq: c != 0, predicate.Lt: c < 0, predicate.LtEq: c <= 0, predicate.Gt: c > 0,
		predicate.GtEq: c >= 0}[op])), nil
}

// compareValues orders two values of one type. NaN equals itself and is the largest, -0.0 equals 0.0.
func compareValues(x, y any) int {
	switch x := x.(type) {
	case int64:
		return cmp.Compare(x, y.(int64))
	case float64:
		return compareFloats(x, y.(float64))
	case string:
		return cmp.Compare(x, y.(string))
	case bool:
		return boolDigit(x) - boolDigit(y.(bool))
	case []byte:
		return bytes.Compare(x, y.([]byte))
	case decimal128.Num:
		return x.Cmp(y.(decimal128.Num))
	}
	return 0
}

func compareFloats(x, y float64) int {
	switch {
	case math.IsNaN(x):
		return boolDigit(!math.IsNaN(y))
	case math.IsNaN(y):
		return -1
	}
	return cmp.Compare(x, y)
}

// bindNullSafe binds left <=> right, which is never null.
func (b *binder) bindNullSafe(e, left, right syntax.Expr) (predicate.Expr, error) {
	l, err := b.operand(left)
	if err != nil {
		return nil, err
	}
	r, err := b.valueFor(l, right)
	if err != nil {
		return nil, err
	}
	if r.column && !l.column {
		l, r = r, l
	}
	if l.column && !r.column && r.value.null() {
		if r.value.unbound {
			return predicate.Null, nil
		}
		return predicate.IsNull{Field: l.ref.field()}, nil
	}
	if !l.column && !r.column && (l.value.null() || r.value.null()) {
		return truth(boolConstant(l.value.null() && r.value.null())), nil
	}
	p, err := b.compare(e, predicate.Eq, l, r)
	if err != nil {
		return nil, err
	}
	return definite(predicate.Simplify(p)), nil
}

// compareColumn compares a column with a constant as Spark does: both in the type they have in common.
func (b *binder) compareColumn(e syntax.Expr, op predicate.Op, ref fieldRef, c constant, common arrow.DataType) (predicate.Expr, error) {
	t := logical(ref.typ)
	if arrow.IsNested(t.ID()) {
		return nil, unsupported("%s: comparing a %s is not supported yet", outputName(e), sqlName(t))
	}
	if c.null() {
		return predicate.Null, nil
	}
	if t.ID() == arrow.STRING && common.ID() != arrow.STRING && !(isUUID(ref.typ) && common.ID() == arrow.BINARY) {
		return nil, unsupported("%s: comparing a string column with a %s, which casts the column, is not supported yet", outputName(e), sqlName(c.typ))
	}
	if common.ID() == arrow.DECIMAL128 && op != predicate.Eq && op != predicate.NotEq && integral(t) {
		common = c.typ // an order of integers and decimals is exact, whatever their common type
		if integral(common) {
			common = t
		}
	} else {
		var err error
		if c, err = b.cast(c, common); err != nil {
			return nil, err
		}
	}
	if ref.length > 0 && c.typ.ID() == arrow.STRING {
		var err error
		if c.value, err = charText(e, c.value.(string), ref.length); err != nil {
			return nil, err
		}
	}
	return b.compareAs(e, op, ref, c)
}

// charText brings a text to the length n of the column that it is compared with, such that the order of both as they stand is that which they have in Spark, where the
// shorter one is padded with blanks to the length of the longer one.
func charText(e syntax.Expr, text string, n int) (string, error) {
	runes := []rune(text)
	if len(runes) <= n {
		return text + strings.Repeat(" ", n-len(runes)), nil
	}
	switch rest := strings.TrimLeft(string(runes[n:]), " "); {
	case rest == "":
		return string(runes[:n]), nil
	case rest[0] < ' ': // which is less than a blank, though the text is longer
		return "", unsupported("%s: comparing a char(%d) with a longer text that goes on with a control character is not supported", outputName(e), n)
	}
	return text, nil
}

// compareAs compares a column, brought into the constant's type, with the constant.
func (b *binder) compareAs(e syntax.Expr, op predicate.Op, ref fieldRef, c constant) (predicate.Expr, error) {
	f := ref.field()
	t := logical(ref.typ)
	if !isUUID(ref.typ) && arrow.TypeEqual(t, c.typ) {
		if fixed, ok := ref.typ.(*arrow.FixedSizeBinaryType); ok {
			return compareFixed(op, f, c.value.([]byte), fixed.ByteWidth), nil
		}
		return predicate.Comparison{Op: op, Field: f, Value: predicate.Literal{Type: ref.typ, Value: c.value}}, nil
	}
	d, err := b.domainOf(e, ref.typ, c)
	if err != nil {
		return nil, err
	}
	return d.compare(op, f), nil
}

// compareFixed brings a literal to the width of its field: an order of bytes needs no more of it.
func compareFixed(op predicate.Op, f predicate.Field, raw []byte, width int) predicate.Expr {
	value := make([]byte, width)
	n := copy(value, raw)
	switch {
	case len(raw) == width:
	case op == predicate.Eq:
		return never(f)
	case op == predicate.NotEq:
		return always(f)
	case n < width && (op == predicate.LtEq || op == predicate.Gt):
		op = map[predicate.Op]predicate.Op{predicate.LtEq: predicate.Lt, predicate.Gt: predicate.GtEq}[op] // what begins with raw is greater than it
	case n == width && (op == predicate.Lt || op == predicate.GtEq):
		op = map[predicate.Op]predicate.Op{predicate.Lt: predicate.LtEq, predicate.GtEq: predicate.Gt}[op] // what raw begins with is less than it
	}
	return predicate.Comparison{Op: op, Field: f, Value: predicate.Literal{Type: f.Type, Value: value}}
}

// never is false, and null for a null field.
func never(f predicate.Field) predicate.Expr {
	return predicate.And{Left: predicate.IsNull{Field: f}, Right: predicate.Null}
}

func isNever(p predicate.Expr) bool {
	and, ok := p.(predicate.And)
	return ok && and.Right == predicate.Null
}

// always is true, and null for a null field.
func always(f predicate.Field) predicate.Expr {
	return predicate.Or{Left: predicate.Not{Expr: predicate.IsNull{Field: f}}, Right: predicate.Null}
}
