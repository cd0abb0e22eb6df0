//go:build cgo

package duckdb

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/scan"
)

// partitions gives what conditions say of Iceberg's bucket and truncate, which keep no order that a filter of the column could tell.
func (c *converter) partitions(conditions []*planExpr) scan.PartitionTest {
	var terms []scan.Term
	named := &converter{column: c.column, terms: &terms, folds: c.folds}
	var parts []predicate.Expr
	for _, condition := range conditions {
		e := named.weakened(condition)
		if e != nil && slices.ContainsFunc(predicate.Fields(e), func(f predicate.Field) bool { return f.ID < 0 }) {
			parts = append(parts, e)
		}
	}
	if len(parts) == 0 {
		return scan.PartitionTest{}
	}
	e := predicate.Simplify(predicate.Join(parts))
	switch e {
	case predicate.True:
		return scan.PartitionTest{}
	case predicate.Null:
		e = predicate.False
	}
	return scan.PartitionTest{Expr: e, Terms: terms}
}

// term gives the field that stands for a transform of a column; false: an expression is something else, or nobody collects terms.
func (c *converter) term(e *planExpr) (predicate.Field, bool) {
	none := predicate.Field{}
	if e == nil || c.terms == nil {
		return none, false
	}
	if f, ok := c.folded(e); ok {
		return f, true
	}
	call := e
	if e.Class == "BOUND_CAST" && !e.TryCast && e.Child != nil {
		call = e.Child
	}
	if call.Class != "BOUND_FUNCTION" || len(call.Children) != 2 || call.Children[1].Class != "BOUND_REF" {
		return none, false
	}
	source, ok := c.column(call.Children[1].Index)
	width, isNumber := call.Children[0].Value.Value.(json.Number)
	if !ok || call.Children[0].Type != "VALUE_CONSTANT" || !isNumber {
		return none, false
	}
	t := scan.Term{ID: -1 - len(*c.terms), Source: source}
	typ := source.Type
	switch {
	case call.Name == "skua_bucket" && call == e:
		t.Transform, typ = fmt.Sprintf("bucket[%s]", width), arrow.PrimitiveTypes.Int32
	case call.Name == "skua_truncated" && (call == e) == (source.Type.ID() == arrow.STRING):
		t.Transform = fmt.Sprintf("truncate[%s]", width)
	default:
		return none, false
	}
	return c.standIn(t, typ), true
}

// standIn gives the field of a term, the same one for the same term.
func (c *converter) standIn(t scan.Term, typ arrow.DataType) predicate.Field {
	same := func(o scan.Term) bool { return o.Source.ID == t.Source.ID && o.Transform == t.Transform }
	if at := slices.IndexFunc(*c.terms, same); at >= 0 {
		t = (*c.terms)[at]
	} else {
		*c.terms = append(*c.terms, t)
	}
	return predicate.Field{ID: t.ID, Path: []string{t.Transform + "(" + strings.Join(t.Source.Path, ".") + ")"}, Type: typ}
}

// letterCase are the functions that change the case of letters.
var letterCase = map[string]string{"lower": scan.Lower, "skua_lower": scan.Lower, "upper": scan.Upper, "skua_upper": scan.Upper}

// folded gives the field that stands for a text column in lower or upper case, of sources that tests of it tell something.
func (c *converter) folded(e *planExpr) (predicate.Field, bool) {
	transform, known := letterCase[e.Name]
	if !c.folds || !known || e.Class != "BOUND_FUNCTION" || len(e.Children) != 1 || e.Children[0].Class != "BOUND_REF" {
		return predicate.Field{}, false
	}
	source, ok := c.column(e.Children[0].Index)
	if !ok || source.Type.ID() != arrow.STRING {
		return predicate.Field{}, false
	}
	return c.standIn(scan.Term{ID: -1 - len(*c.terms), Source: source, Transform: transform}, source.Type), true
}
