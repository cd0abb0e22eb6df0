//go:build cgo

package duckdb

import (
	"strings"
	"unicode/utf8"

	"github.com/skua-data/skua/fault"
)

// chars finds comparisons of char(n) columns. Spark pads the shorter side with blanks before it compares, which the engine does not do: where that makes a difference
// they are refused.
type chars struct {
	column func(n *planNode, output int) (name string, length int) // of what a node gives, where it is such a column; else 0
	err    error
}

// check looks through a plan.
func (c *chars) check(n *planNode) error {
	for _, e := range n.Expressions {
		e.walk(func(e *planExpr) { c.expression(n, e) })
	}
	for _, cond := range n.Conditions {
		if len(n.Children) == 2 && strings.HasPrefix(cond.Comparison, "COMPARE_") {
			c.sides(n.Children[0], cond.Left, n.Children[1], cond.Right)
			c.sides(n.Children[1], cond.Right, n.Children[0], cond.Left)
		}
	}
	for _, child := range n.Children {
		if c.err == nil {
			c.err = c.check(child)
		}
	}
	return c.err
}

// expression checks one that stands in a node of one child.
func (c *chars) expression(n *planNode, e *planExpr) {
	if !strings.HasPrefix(e.Type, "COMPARE_") || len(n.Children) != 1 {
		return
	}
	all := append([]*planExpr{e.Left, e.Right, e.Input, e.Lower, e.Upper}, e.Children...)
	for _, x := range all {
		for _, y := range all {
			if x != y {
				c.sides(n.Children[0], x, n.Children[0], y)
			}
		}
	}
}

// sides checks a column on one side against what is on the other.
func (c *chars) sides(at *planNode, e *planExpr, otherAt *planNode, other *planExpr) {
	if c.err != nil || e == nil || other == nil || e.Class != "BOUND_REF" {
		return
	}
	name, length := c.column(at, e.Index)
	if length == 0 {
		return
	}
	switch {
	case other.Type == "VALUE_CONSTANT":
		text, ok := other.Value.Value.(string)
		if ok && !other.Value.IsNull && utf8.RuneCountInString(text) != length {
			c.refuse(name, length, "a text of another length")
		}
	case other.Class != "BOUND_REF":
	case otherAt.Type == "LOGICAL_CHUNK_GET": // the values of a long IN list
		c.refuse(name, length, "a list of texts")
	default:
		if _, n := c.column(otherAt, other.Index); n != 0 && n != length {
			c.refuse(name, length, "a char of another length")
		}
	}
}

func (c *chars) refuse(name string, length int, with string) {
	c.err = fault.New(fault.Unsupported, "comparing %s, a char(%d), with %s is supported in plain SELECTs only: compare rtrim(%[1]s) with the text without its last blanks", name, length, with)
}
