//go:build cgo

package duckdb

import (
	"bytes"
	"strings"

	"github.com/skua-data/skua/fault"
)

// variantKeys refuses what would compare variants as a whole: equal ones may be spelled with other bytes, so that no comparison of bytes is right.
func (n *planNode) variantKeys() error {
	for _, g := range n.Groups {
		if g.isVariant() {
			return variantKey("GROUP BY", "GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE", "42822")
		}
	}
	for _, d := range n.DistinctBy {
		if d.isVariant() {
			return variantKey("DISTINCT", "UNSUPPORTED_FEATURE.SET_OPERATION_ON_VARIANT_TYPE", "0A000")
		}
	}
	for _, o := range n.Orders {
		if o.Expression.isVariant() {
			return variantKey("ORDER BY", "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE", "42K09")
		}
	}
	for _, c := range n.Conditions {
		if c.Left.isVariant() || c.Right.isVariant() {
			return variantKey("a join", "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE", "42K09")
		}
	}
	if n.Type == "LOGICAL_EXCEPT" || n.Type == "LOGICAL_INTERSECT" {
		for _, c := range n.Children {
			for _, e := range c.Expressions {
				if c.Type == "LOGICAL_PROJECTION" && e.isVariant() {
					return variantKey("a set operation", "UNSUPPORTED_FEATURE.SET_OPERATION_ON_VARIANT_TYPE", "0A000")
				}
			}
		}
	}
	var err error
	for _, e := range n.Expressions {
		e.walk(func(e *planExpr) {
			if err == nil && e.comparesVariants() {
				err = variantKey("a comparison", "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE", "42K09")
			}
		})
	}
	for _, c := range n.Children {
		if err == nil {
			err = c.variantKeys()
		}
	}
	return err
}

func variantKey(where, condition, state string) error {
	return fault.New(fault.Unsupported, "values of type variant in %s are not supported: take out what is compared, as variant_get(v, '$.part', 'string') does", where).With(condition, state)
}

// comparesVariants reports whether an expression orders variants or tells equal ones apart.
func (e *planExpr) comparesVariants() bool {
	any := func(list ...*planExpr) bool {
		for _, inner := range list {
			if inner.isVariant() {
				return true
			}
		}
		return false
	}
	if strings.HasPrefix(e.Type, "COMPARE_") {
		return any(e.Left, e.Right, e.Input) || any(e.Children...)
	}
	for _, o := range e.Orders {
		if o.Expression.isVariant() {
			return true
		}
	}
	return any(e.Partitions...) || any(e.Children...) && (e.AggregateType == "DISTINCT" || e.Class == "BOUND_AGGREGATE" && (e.Name == "min" || e.Name == "max" || e.Name == "mode"))
}

// isVariant reports whether values of an expression are variants, or hold some.
func (e *planExpr) isVariant() bool {
	if e == nil || e.ReturnType.Info == nil {
		return false
	}
	mark := []byte(`"` + engineVariant.Field(0).Name + `"`)
	return bytes.Contains(e.ReturnType.Info.Children, mark) || bytes.Contains(e.ReturnType.Info.Child, mark)
}
