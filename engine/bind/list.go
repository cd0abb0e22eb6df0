package bind

import (
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/constant"
	"github.com/skua-data/skua/engine/sparkname"
	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
)

// bindIn binds IN. All of the list and the value meet in one type.
func (b *Binder) bindIn(e *syntax.In) (predicate.Expr, error) {
	value, err := b.operand(e.Expr)
	if err != nil {
		return nil, err
	}
	common := value.typ()
	items := make([]operand, len(e.List))
	for i, item := range e.List {
		if items[i], err = b.valueFor(value, item); err != nil {
			return nil, err
		}
		if items[i].column {
			return nil, fault.New(fault.Unsupported, "%s: a column in an IN list is not supported yet", sparkname.Of(e))
		}
		var ok bool
		if common, ok = b.Common(common, items[i].typ()); !ok {
			return nil, constant.DifferentTypes(e, value.typ(), items[i].typ())
		}
	}
	p, err := b.membership(e, value, items, common)
	if err != nil {
		return nil, err
	}
	if e.Not {
		return predicate.Negate(p), nil
	}
	return p, nil
}

// membership tests for equality with any of the items.
func (b *Binder) membership(e syntax.Expr, value operand, items []operand, common arrow.DataType) (predicate.Expr, error) {
	in := predicate.In{Field: value.ref.field()}
	var rest, nothing predicate.Expr = predicate.False, predicate.False
	for _, item := range items {
		p, err := b.equalAs(e, value, item.value, common)
		if err != nil {
			return nil, err
		}
		switch c, plain := p.(predicate.Comparison); {
		case p == predicate.Null:
			in.HasNull = true
		case isNever(p):
			nothing = p
		case plain && c.Op == predicate.Eq:
			in.Values = append(in.Values, c.Value)
		default:
			rest = predicate.Or{Left: rest, Right: p}
		}
	}
	switch {
	case len(in.Values) > 0:
		return predicate.Or{Left: in, Right: rest}, nil
	case in.HasNull:
		return predicate.Or{Left: rest, Right: predicate.Null}, nil
	case rest == predicate.False:
		return nothing, nil
	}
	return rest, nil
}

func (b *Binder) equalAs(e syntax.Expr, value operand, c sparktype.Value, common arrow.DataType) (predicate.Expr, error) {
	if c.Unbound || value.value.Unbound {
		return predicate.Null, nil
	}
	if !value.column {
		return b.compareConstants(predicate.Eq, value.value, c, common)
	}
	return b.compareColumn(e, predicate.Eq, value.ref, c, common)
}

// bindBetween binds BETWEEN as two comparisons.
func (b *Binder) bindBetween(e *syntax.Between) (predicate.Expr, error) {
	value, err := b.operand(e.Expr)
	if err != nil {
		return nil, err
	}
	low, err := b.valueFor(value, e.Low)
	if err != nil {
		return nil, err
	}
	high, err := b.valueFor(value, e.High)
	if err != nil {
		return nil, err
	}
	from, err := b.compare(e, predicate.GtEq, value, low)
	if err != nil {
		return nil, err
	}
	to, err := b.compare(e, predicate.LtEq, value, high)
	if err != nil {
		return nil, err
	}
	if e.Not {
		return predicate.Negate(predicate.And{Left: from, Right: to}), nil
	}
	return predicate.And{Left: from, Right: to}, nil
}

// bindIsNull binds IS [NOT] NULL of a column, a constant or a test.
func (b *Binder) bindIsNull(e syntax.Expr, not bool) (predicate.Expr, error) {
	p, err := b.nullTest(e)
	if err != nil {
		return nil, err
	}
	if not {
		return predicate.Negate(p), nil
	}
	return p, nil
}

func (b *Binder) nullTest(e syntax.Expr) (predicate.Expr, error) {
	if c, ok := e.(*syntax.Column); ok || !b.readsColumn(e) {
		value, err := b.operand(e)
		switch {
		case err != nil:
			return nil, err
		case !value.column:
			return truth(sparktype.BoolValue(value.value.Null())), nil
		case !value.ref.Nullable && len(c.Parts) == 1:
			return predicate.False, nil
		}
		return predicate.IsNull{Field: value.ref.field()}, nil
	}
	p, err := b.bind(e)
	if err != nil {
		return nil, err
	}
	known := predicate.Or{Left: definite(predicate.Simplify(p)), Right: definite(predicate.Negate(p))}
	return predicate.Negate(known), nil
}

// bindIsBool binds IS [NOT] TRUE and IS [NOT] FALSE.
func (b *Binder) bindIsBool(e *syntax.IsBool) (predicate.Expr, error) {
	p, err := b.bind(e.Expr)
	if err != nil {
		return nil, err
	}
	if p = predicate.Simplify(p); !e.Value {
		p = predicate.Negate(p)
	}
	if p = definite(p); e.Not {
		p = predicate.Negate(p)
	}
	return p, nil
}

// definite turns null into false. Not stands in front of leaves only.
func definite(p predicate.Expr) predicate.Expr {
	switch p := p.(type) {
	case predicate.And:
		return predicate.And{Left: definite(p.Left), Right: definite(p.Right)}
	case predicate.Or:
		return predicate.Or{Left: definite(p.Left), Right: definite(p.Right)}
	case predicate.Constant:
		return truth(sparktype.BoolValue(p == predicate.True))
	case predicate.IsNull, predicate.IsNaN:
		return p
	case predicate.In:
		p.HasNull = false
		return present(p.Field, p)
	case predicate.Comparison:
		return present(p.Field, p)
	case predicate.StartsWith:
		return present(p.Field, p)
	case predicate.Not:
		return definiteNot(p)
	}
	return p
}

func definiteNot(p predicate.Not) predicate.Expr {
	switch inner := p.Expr.(type) {
	case predicate.In:
		if inner.HasNull {
			return predicate.False
		}
		return present(inner.Field, p)
	case predicate.StartsWith:
		return present(inner.Field, p)
	}
	return p
}

// present is p where the field is not null, else false.
func present(f predicate.Field, p predicate.Expr) predicate.Expr {
	return predicate.And{Left: predicate.Not{Expr: predicate.IsNull{Field: f}}, Right: p}
}

// bindIsNaN binds isnan, which is false for NULL. Only floats can be NaN.
func (b *Binder) bindIsNaN(e syntax.Expr) (predicate.Expr, error) {
	value, err := b.operand(e)
	switch {
	case err != nil:
		return nil, err
	case value.column && sparktype.Floating(value.typ()):
		return predicate.IsNaN{Field: value.ref.field()}, nil
	case value.column && sparktype.Numeric(value.typ()):
		return predicate.False, nil
	case value.column:
		return nil, fault.New(fault.Unsupported, "isnan of a %s column is not supported", sparktype.SQLName(value.typ()))
	}
	c, err := b.Cast(value.value, sparktype.Double)
	if err != nil {
		return nil, err
	}
	f, _ := c.Value.(float64)
	return truth(sparktype.BoolValue(math.IsNaN(f))), nil
}

// bindStartsWith binds startswith(text, prefix).
func (b *Binder) bindStartsWith(text, prefix syntax.Expr) (predicate.Expr, error) {
	value, err := b.operand(text)
	if err != nil {
		return nil, err
	}
	start, err := b.valueFor(value, prefix)
	if err != nil {
		return nil, err
	}
	if start.column {
		return nil, fault.New(fault.Unsupported, "startswith with a column as the prefix is not supported yet")
	}
	return b.begins(value, start.value)
}

func (b *Binder) begins(value operand, prefix sparktype.Value) (predicate.Expr, error) {
	if prefix.Null() || !value.column && value.value.Null() {
		return predicate.Null, nil
	}
	p := b.Text(prefix)
	switch {
	case !value.column:
		return truth(sparktype.BoolValue(strings.HasPrefix(b.Text(value.value), p))), nil
	case sparktype.IsUUID(value.ref.Type):
		d := uuidDomain(value.ref.Type, func(text string) int { return strings.Compare(text[:min(len(text), len(p))], p) })
		return d.compare(predicate.Eq, value.ref.field()), nil
	case value.typ().ID() == arrow.STRING:
		return predicate.StartsWith{Field: value.ref.field(), Prefix: p}, nil
	}
	return nil, fault.New(fault.Unsupported, "a test of the first characters of a %s column is not supported yet", sparktype.SQLName(value.typ()))
}
