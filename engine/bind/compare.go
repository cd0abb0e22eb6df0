package bind

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/constant"
	"github.com/skua-data/skua/engine/sparkname"
	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
)

// bindComparison binds left op right.
func (b *Binder) bindComparison(e *syntax.Binary, op predicate.Op) (predicate.Expr, error) {
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

func (b *Binder) compare(e syntax.Expr, op predicate.Op, left, right operand) (predicate.Expr, error) {
	if left.column && right.column {
		return nil, fault.New(fault.Unsupported, "%s: comparing two columns is not supported yet", sparkname.Of(e))
	}
	if right.column {
		left, right, op = right, left, op.Swap()
	}
	common, ok := b.Common(left.typ(), right.typ())
	switch {
	case left.value.Unbound || right.value.Unbound:
		return predicate.Null, nil
	case !ok:
		return nil, constant.DifferentTypes(e, left.typ(), right.typ())
	case !left.column:
		return b.compareConstants(op, left.value, right.value, common)
	}
	return b.compareColumn(e, op, left.ref, right.value, common)
}

// compareConstants folds a comparison.
func (b *Binder) compareConstants(op predicate.Op, left, right sparktype.Value, common arrow.DataType) (predicate.Expr, error) {
	left, err := b.Cast(left, common)
	if err != nil {
		return nil, err
	}
	if right, err = b.Cast(right, common); err != nil {
		return nil, err
	}
	if left.Null() || right.Null() {
		return predicate.Null, nil
	}
	c := sparktype.CompareValues(left.Value, right.Value)
	return truth(sparktype.BoolValue([]bool{predicate.Eq: c == 0, predicate.NotEq: c != 0, predicate.Lt: c < 0, predicate.LtEq: c <= 0, predicate.Gt: c > 0,
		predicate.GtEq: c >= 0}[op])), nil
}

// bindNullSafe binds left <=> right, which is never null.
func (b *Binder) bindNullSafe(e, left, right syntax.Expr) (predicate.Expr, error) {
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
	if l.column && !r.column && r.value.Null() {
		if r.value.Unbound {
			return predicate.Null, nil
		}
		return predicate.IsNull{Field: l.ref.field()}, nil
	}
	if !l.column && !r.column && (l.value.Null() || r.value.Null()) {
		return truth(sparktype.BoolValue(l.value.Null() && r.value.Null())), nil
	}
	p, err := b.compare(e, predicate.Eq, l, r)
	if err != nil {
		return nil, err
	}
	return definite(predicate.Simplify(p)), nil
}

// compareColumn compares a column with a constant as Spark does: both in the type they have in common.
func (b *Binder) compareColumn(e syntax.Expr, op predicate.Op, ref Field, c sparktype.Value, common arrow.DataType) (predicate.Expr, error) {
	t := sparktype.Logical(ref.Type)
	if arrow.IsNested(t.ID()) {
		return nil, fault.New(fault.Unsupported, "%s: comparing a %s is not supported yet", sparkname.Of(e), sparktype.SQLName(t))
	}
	if c.Null() {
		return predicate.Null, nil
	}
	if t.ID() == arrow.STRING && common.ID() != arrow.STRING && !(sparktype.IsUUID(ref.Type) && common.ID() == arrow.BINARY) {
		return nil, fault.New(fault.Unsupported, "%s: comparing a string column with a %s, which casts the column, is not supported yet", sparkname.Of(e), sparktype.SQLName(c.Type))
	}
	if common.ID() == arrow.DECIMAL128 && op != predicate.Eq && op != predicate.NotEq && sparktype.Integral(t) {
		common = c.Type // an order of integers and decimals is exact, whatever their common type
		if sparktype.Integral(common) {
			common = t
		}
	} else {
		var err error
		if c, err = b.Cast(c, common); err != nil {
			return nil, err
		}
	}
	if ref.length > 0 && c.Type.ID() == arrow.STRING {
		var err error
		if c.Value, err = charText(e, c.Value.(string), ref.length); err != nil {
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
		return "", fault.New(fault.Unsupported, "%s: comparing a char(%d) with a longer text that goes on with a control character is not supported", sparkname.Of(e), n)
	}
	return text, nil
}

// compareAs compares a column, brought into the constant's type, with the constant.
func (b *Binder) compareAs(e syntax.Expr, op predicate.Op, ref Field, c sparktype.Value) (predicate.Expr, error) {
	f := ref.field()
	t := sparktype.Logical(ref.Type)
	if !sparktype.IsUUID(ref.Type) && arrow.TypeEqual(t, c.Type) {
		if fixed, ok := ref.Type.(*arrow.FixedSizeBinaryType); ok {
			return compareFixed(op, f, c.Value.([]byte), fixed.ByteWidth), nil
		}
		return predicate.Comparison{Op: op, Field: f, Value: predicate.Literal{Type: ref.Type, Value: c.Value}}, nil
	}
	d, err := b.domainOf(e, ref.Type, c)
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
