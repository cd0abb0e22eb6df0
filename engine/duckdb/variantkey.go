//go:build cgo

package duckdb

import (
	"bytes"
	"strings"

	"github.com/skua-data/skua/fault"
)

// unordered are values that have no order, or of which equal ones may have other bytes.
type unordered struct {
	is     func(t planType) bool
	refuse func(where string) error // nil: they may be there
}

// variantKeys are variants: equal ones may be spelled with other bytes, so that no comparison of bytes is right.
var variantKeys = unordered{planType.isVariant, func(where string) error {
	condition, state := "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE", "42K09"
	switch where {
	case inGroups:
		condition, state = "GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE", "42822"
	case inDistinct, inSets:
		condition, state = "UNSUPPORTED_FEATURE.SET_OPERATION_ON_VARIANT_TYPE", "0A000"
	}
	return fault.New(fault.Unsupported, "values of type variant in %s are not supported: take out what is compared, as variant_get(v, '$.part', 'string') does", where).With(condition, state)
}}

// maps are maps, which Spark does not order: their entries have no order.
var maps = unordered{planType.holdsMap, func(where string) error {
	condition, state := "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE", "42K09"
	switch where {
	case inGroups, inDistinctCall:
		return nil
	case inDistinct, inSets:
		condition, state = "UNSUPPORTED_FEATURE.SET_OPERATION_ON_MAP_TYPE", "0A000"
	case inPartitions:
		condition, state = "EXPRESSION_TYPE_IS_NOT_ORDERABLE", "42822"
	case inDistinctList:
		condition = "DATATYPE_MISMATCH.UNSUPPORTED_INPUT_TYPE"
	}
	return fault.New(fault.Invalid, "%s does not support ordering on values of type map", where).With(condition, state)
}}

// Where values are compared.
const (
	inGroups       = "GROUP BY"
	inDistinct     = "DISTINCT"
	inOrders       = "ORDER BY"
	inJoins        = "a join"
	inSets         = "a set operation"
	inComparisons  = "a comparison"
	inPartitions   = "PARTITION BY"
	inDistinctCall = "an aggregate with DISTINCT"
	inDistinctList = "a set of values"
)

// refuses refuses what would compare such values as a whole.
func (n *planNode) refuses(u unordered) error {
	var err error
	at := func(where string, list ...*planExpr) {
		for _, e := range list {
			if err == nil && e != nil && u.is(e.typ()) {
				err = u.refuse(where)
			}
		}
	}
	at(inGroups, n.Groups...)
	at(inDistinct, n.DistinctBy...)
	for _, o := range n.Orders {
		at(inOrders, o.Expression)
	}
	for _, c := range n.Conditions {
		if c.Comparison != "COMPARE_NOT_DISTINCT_FROM" { // by which the engine finds the rows of the query around a subquery again
			at(inJoins, c.Left, c.Right)
		}
	}
	if n.Type == "LOGICAL_EXCEPT" || n.Type == "LOGICAL_INTERSECT" {
		for _, c := range n.Children {
			if c.Type == "LOGICAL_PROJECTION" {
				at(inSets, c.Expressions...)
			}
		}
	}
	for _, e := range n.Expressions {
		e.walk(func(e *planExpr) { e.compares(at) })
	}
	for _, c := range n.Children {
		if err == nil {
			err = c.refuses(u)
		}
	}
	return err
}

// compares tells what an expression orders, or tells equal ones apart of.
func (e *planExpr) compares(at func(where string, list ...*planExpr)) {
	if strings.HasPrefix(e.Type, "COMPARE_") {
		at(inComparisons, e.Left, e.Right, e.Input)
		at(inComparisons, e.Children...)
	}
	for _, o := range e.Orders {
		at(inOrders, o.Expression)
	}
	at(inPartitions, e.Partitions...)
	switch {
	case e.AggregateType == "DISTINCT" && e.Name == "list":
		at(inDistinctList, e.Children...)
	case e.AggregateType == "DISTINCT" || e.Class == "BOUND_AGGREGATE" && e.Name == "mode":
		at(inDistinctCall, e.Children...)
	case e.Class != "BOUND_AGGREGATE" && e.Class != "BOUND_WINDOW":
	case e.Name == "min" || e.Name == "max":
		at(inComparisons, e.Children...)
	case e.Name == "arg_min_null" || e.Name == "arg_max_null":
		at(inComparisons, e.Children[min(1, len(e.Children)):]...)
	}
}

// isVariant reports whether values of a type are variants, or hold some.
func (t planType) isVariant() bool { return t.holds(`"` + engineVariant.Field(0).Name + `"`) }

// holdsMap reports whether values of a type are maps, or hold some.
func (t planType) holdsMap() bool { return t.ID == "MAP" || t.holds(`"id":"MAP"`) }

// holds reports whether a mark stands in what the engine tells of the parts of a type.
func (t planType) holds(mark string) bool {
	return t.Info != nil && (bytes.Contains(t.Info.Children, []byte(mark)) || bytes.Contains(t.Info.Child, []byte(mark)))
}
