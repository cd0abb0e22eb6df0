//go:build cgo

package duckdb

import (
	"encoding/json"
	"math/big"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/scan"
)

// converter turns the engine's bound conditions into predicates of a scan. A condition, or a part of one, that a scan cannot test stays with the
// engine, which tests all of them in any case.
type converter struct {
	column func(output int) (predicate.Field, bool)
	terms  *[]scan.Term // collects the transforms that tests name; nil: they are not converted
	folds  bool         // a change of letters' case is such a transform, too
}

// weakened gives a predicate that holds wherever the condition does; nil: nothing is known. Negations are converted whole or not at all.
func (c *converter) weakened(e *planExpr) predicate.Expr {
	if e == nil {
		return nil
	}
	switch e.Type {
	case "CONJUNCTION_AND":
		var parts []predicate.Expr
		for _, child := range e.Children {
			if p := c.weakened(child); p != nil {
				parts = append(parts, p)
			}
		}
		if len(parts) == 0 {
			return nil
		}
		return predicate.Join(parts)
	case "CONJUNCTION_OR":
		return c.any(e.Children, c.weakened)
	}
	if p := c.exact(e); p != nil {
		return p
	}
	return c.weakCut(e)
}

// any gives the Or of all children; nil where one has none.
func (c *converter) any(children []*planExpr, convert func(*planExpr) predicate.Expr) predicate.Expr {
	var out predicate.Expr
	for _, child := range children {
		p := convert(child)
		switch {
		case p == nil:
			return nil
		case out == nil:
			out = p
		default:
			out = predicate.Or{Left: out, Right: p}
		}
	}
	return out
}

// exact gives the predicate of the same value, null included; nil: a scan has none.
func (c *converter) exact(e *planExpr) predicate.Expr {
	if e == nil {
		return nil
	}
	switch e.Type {
	case "CONJUNCTION_AND":
		var parts []predicate.Expr
		for _, child := range e.Children {
			p := c.exact(child)
			if p == nil {
				return nil
			}
			parts = append(parts, p)
		}
		return predicate.Join(parts)
	case "CONJUNCTION_OR":
		return c.any(e.Children, c.exact)
	case "OPERATOR_NOT":
		if len(e.Children) == 1 {
			if p := c.exact(e.Children[0]); p != nil {
				return predicate.Not{Expr: p}
			}
		}
		return nil
	case "OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL":
		return c.null(e)
	case "COMPARE_BETWEEN":
		return c.between(e)
	case "COMPARE_IN", "COMPARE_NOT_IN":
		return c.in(e)
	}
	if op, ok := comparisons[e.Type]; ok {
		return c.comparison(op, e.Left, e.Right)
	}
	if e.Class == "BOUND_FUNCTION" && (e.Name == "prefix" || e.Name == "starts_with" || e.Name == "^@") && len(e.Children) == 2 {
		return c.prefix(e)
	}
	if e.Class == "BOUND_REF" && e.ReturnType.ID == "BOOLEAN" {
		if f, ok := c.column(e.Index); ok && f.Type.ID() == arrow.BOOL {
			return predicate.Comparison{Op: predicate.Eq, Field: f, Value: predicate.Literal{Type: f.Type, Value: true}}
		}
	}
	return nil
}

var comparisons = map[string]predicate.Op{"COMPARE_EQUAL": predicate.Eq, "COMPARE_NOTEQUAL": predicate.NotEq, "COMPARE_LESSTHAN": predicate.Lt,
	"COMPARE_LESSTHANOREQUALTO": predicate.LtEq, "COMPARE_GREATERTHAN": predicate.Gt, "COMPARE_GREATERTHANOREQUALTO": predicate.GtEq}

var flipped = map[predicate.Op]predicate.Op{predicate.Eq: predicate.Eq, predicate.NotEq: predicate.NotEq, predicate.Lt: predicate.Gt,
	predicate.LtEq: predicate.GtEq, predicate.Gt: predicate.Lt, predicate.GtEq: predicate.LtEq}

// ref gives the field that an expression is.
func (c *converter) ref(e *planExpr) (predicate.Field, bool) {
	if e == nil || e.Class != "BOUND_REF" {
		return c.term(e)
	}
	return c.column(e.Index)
}

func (c *converter) comparison(op predicate.Op, left, right *planExpr) predicate.Expr {
	f, ok := c.ref(left)
	value := right
	if !ok {
		if f, ok = c.ref(right); !ok {
			if e := c.stepped(op, left, right); e != nil {
				return e
			}
			return c.stepped(flipped[op], right, left)
		}
		op, value = flipped[op], left
	}
	l, ok := literalOf(f, value)
	if !ok {
		return nil
	}
	return predicate.Comparison{Op: op, Field: f, Value: l}
}

func (c *converter) null(e *planExpr) predicate.Expr {
	if len(e.Children) != 1 {
		return nil
	}
	f, ok := c.ref(e.Children[0])
	if !ok {
		return nil
	}
	if e.Type == "OPERATOR_IS_NULL" {
		return predicate.IsNull{Field: f}
	}
	return predicate.Not{Expr: predicate.IsNull{Field: f}}
}

func (c *converter) between(e *planExpr) predicate.Expr {
	low, high := predicate.Gt, predicate.Lt
	if e.LowerInclusive {
		low = predicate.GtEq
	}
	if e.UpperInclusive {
		high = predicate.LtEq
	}
	a, b := c.comparison(low, e.Input, e.Lower), c.comparison(high, e.Input, e.Upper)
	if a == nil || b == nil {
		return nil
	}
	return predicate.And{Left: a, Right: b}
}

func (c *converter) in(e *planExpr) predicate.Expr {
	if len(e.Children) < 2 {
		return nil
	}
	f, ok := c.ref(e.Children[0])
	if !ok {
		return c.inSteps(e)
	}
	out := predicate.In{Field: f}
	for _, child := range e.Children[1:] {
		l, ok := literalOf(f, child)
		if !ok {
			return nil
		}
		out.Values = append(out.Values, l)
	}
	if e.Type == "COMPARE_NOT_IN" {
		return predicate.Not{Expr: out}
	}
	return out
}

func (c *converter) prefix(e *planExpr) predicate.Expr {
	f, ok := c.ref(e.Children[0])
	if !ok || f.Type.ID() != arrow.STRING {
		return nil
	}
	l, ok := literalOf(f, e.Children[1])
	if !ok {
		return nil
	}
	return predicate.StartsWith{Field: f, Prefix: l.Value.(string)}
}

// literalOf gives a constant of exactly the field's type; false: it is another one, or null.
func literalOf(f predicate.Field, e *planExpr) (predicate.Literal, bool) {
	none := predicate.Literal{}
	if e == nil || e.Type != "VALUE_CONSTANT" || e.Value.IsNull {
		return none, false
	}
	v, ok := value(f.Type, e.Value)
	if !ok {
		return none, false
	}
	return predicate.Literal{Type: f.Type, Value: v}, true
}

// value reads a constant as predicate.Literal has it.
func value(t arrow.DataType, v planValue) (any, bool) {
	text, isText := v.Value.(string)
	number, isNumber := v.Value.(json.Number)
	switch t := t.(type) {
	case *arrow.BooleanType:
		b, ok := v.Value.(bool)
		return b, ok && v.Type.ID == "BOOLEAN"
	case *arrow.Int32Type:
		return whole(number, isNumber && v.Type.ID == "INTEGER")
	case *arrow.Int64Type:
		return whole(number, isNumber && v.Type.ID == "BIGINT")
	case *arrow.Date32Type:
		return whole(number, isNumber && v.Type.ID == "DATE")
	case *arrow.TimestampType:
		want := "TIMESTAMP"
		switch {
		case t.Unit != arrow.Microsecond:
			return nil, false
		case t.TimeZone != "":
			want = "TIMESTAMP WITH TIME ZONE"
		}
		return whole(number, isNumber && v.Type.ID == want)
	case *arrow.Float64Type:
		if !isNumber || v.Type.ID != "DOUBLE" {
			return nil, false
		}
		f, err := number.Float64()
		return f, err == nil
	case *arrow.StringType:
		return text, isText && v.Type.ID == "VARCHAR"
	case *arrow.Decimal128Type:
		return decimal(t, v)
	}
	return nil, false
}

func whole(n json.Number, ok bool) (any, bool) {
	if !ok {
		return nil, false
	}
	i, err := strconv.ParseInt(n.String(), 10, 64)
	return i, err == nil
}

// decimal reads an unscaled number of the field's very type; one of more than 64 bits comes as two halves.
func decimal(t *arrow.Decimal128Type, v planValue) (any, bool) {
	if v.Type.ID != "DECIMAL" || v.Type.Info == nil || v.Type.Info.Scale != int(t.Scale) || v.Type.Info.Width != int(t.Precision) {
		return nil, false
	}
	switch n := v.Value.(type) {
	case json.Number:
		i, ok := new(big.Int).SetString(n.String(), 10)
		if !ok || i.BitLen() > 126 {
			return nil, false
		}
		return decimal128.FromBigInt(i), true
	case map[string]any:
		upper, okUpper := n["upper"].(json.Number)
		lower, okLower := n["lower"].(json.Number)
		high, err := strconv.ParseInt(upper.String(), 10, 64)
		low, errLow := strconv.ParseUint(lower.String(), 10, 64)
		return decimal128.New(high, low), okUpper && okLower && err == nil && errLow == nil
	}
	return nil, false
}
