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
	root   *planNode
	steps  int
	err    error
}

// maxTraced bounds the nodes that columns are followed through: a plan of queries that name each other has many ways.
const maxTraced = 100_000

// of gives what column does, and follows set operations, windows, joins and queries of WITH, too. A length below 0 is of several, which differ or are not of all rows.
func (c *chars) of(n *planNode, output int) (name string, length int) {
	if c.steps++; output < 0 || c.steps > maxTraced {
		return "", 0
	}
	if name, length = c.column(n, output); length != 0 {
		return name, length
	}
	child := func(i, output int) (string, int) {
		if i >= len(n.Children) {
			return "", 0
		}
		return c.of(n.Children[i], output)
	}
	switch n.Type {
	case "LOGICAL_UNION", "LOGICAL_EXCEPT", "LOGICAL_INTERSECT":
		return c.ofAll(n, output)
	case "LOGICAL_PROJECTION":
		if output < len(n.Expressions) && n.Expressions[output].Class == "BOUND_REF" {
			return child(0, n.Expressions[output].Index)
		}
	case "LOGICAL_FILTER", "LOGICAL_LIMIT", "LOGICAL_TOP_N", "LOGICAL_ORDER_BY", "LOGICAL_DISTINCT":
		return child(0, mapped(n.ProjectionMap, output))
	case "LOGICAL_AGGREGATE_AND_GROUP_BY":
		return child(0, n.unchanged(output))
	case "LOGICAL_WINDOW", "LOGICAL_UNNEST":
		if output < n.childWidth(0) {
			return child(0, output)
		}
	case "LOGICAL_MATERIALIZED_CTE":
		return child(1, output)
	case "LOGICAL_CTE_REF":
		if query := c.root.materialized(n.CTEIndex); query != nil {
			return c.of(query, output)
		}
	case "LOGICAL_COMPARISON_JOIN", "LOGICAL_CROSS_PRODUCT", "LOGICAL_ANY_JOIN", "LOGICAL_DELIM_JOIN":
		left := n.side(0)
		switch {
		case n.JoinType == "RIGHT_SEMI" || n.JoinType == "RIGHT_ANTI":
			return child(1, mapped(n.RightMap, output))
		case output < left || n.JoinType == "SEMI" || n.JoinType == "ANTI":
			return child(0, mapped(n.LeftMap, output))
		case left >= 0 && n.JoinType != "MARK":
			return child(1, mapped(n.RightMap, output-left))
		}
	}
	return "", 0
}

// ofAll gives what the queries of a set operation have in a column.
func (c *chars) ofAll(n *planNode, output int) (name string, length int) {
	for i, query := range n.Children {
		s, l := c.of(query, output)
		if s != "" {
			name = s
		}
		if i > 0 && l != length {
			length = -1
			continue
		}
		length = l
	}
	return name, length
}

// materialized gives the query of WITH of a number; nil: it is none of the plan's.
func (n *planNode) materialized(number int) *planNode {
	if n == nil {
		return nil
	}
	if n.Type == "LOGICAL_MATERIALIZED_CTE" && n.TableIndex == number && len(n.Children) > 0 {
		return n.Children[0]
	}
	for _, child := range n.Children {
		if found := child.materialized(number); found != nil {
			return found
		}
	}
	return nil
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
	name, length := c.of(at, e.Index)
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
		if _, n := c.of(otherAt, other.Index); n != 0 && (n != length || n < 0) {
			c.refuse(name, length, "a char of another length")
		}
	}
}

func (c *chars) refuse(name string, length int, with string) {
	if length < 0 {
		c.err = fault.New(fault.Unsupported, "comparing %s, a char(n) of several tables, with %s is not supported: compare rtrim(%[1]s) with the text without its last blanks", name, with)
		return
	}
	c.err = fault.New(fault.Unsupported, "comparing %s, a char(%d), with %s is supported in plain SELECTs only: compare rtrim(%[1]s) with the text without its last blanks", name, length, with)
}
