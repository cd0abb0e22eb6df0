//go:build cgo

package duckdb

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// sums finds the result columns that are sums of decimals. They have ten digits more than what they sum, not all that there are.
func (p *planner) sums(root *planNode) {
	p.out.decimals = map[int]*arrow.Decimal128Type{}
	for i := range max(0, root.width()) {
		if t := root.sum(i); t != nil {
			p.out.decimals[i] = t
		}
	}
}

// keep finds the types of result columns that are columns of tables, since the engine has no like of some, and which columns are a table's as they stand.
func (p *planner) keep(root *planNode) {
	p.out.kept, p.out.from = map[int]arrow.DataType{}, map[int]int{}
	for i := range max(0, root.width()) {
		p.out.kept[i] = p.valueType(root, i)
		if o, ok := root.origin(i, true); ok {
			if occurrence, known := p.number[o.scan.id()]; known {
				p.out.from[i] = occurrence
			}
		}
	}
}

// valueType gives the type that all of the tables' columns have which a node's output has its values from; nil: there is none, or they are computed.
func (p *planner) valueType(n *planNode, output int) arrow.DataType {
	if o, ok := n.valueOrigin(output); ok {
		if number, known := p.number[o.scan.id()]; known && p.typeOf != nil {
			return p.typeOf(number, o.column)
		}
		return nil
	}
	if output < 0 || len(n.Children) == 0 {
		return nil
	}
	switch n.Type {
	case "LOGICAL_UNION", "LOGICAL_EXCEPT", "LOGICAL_INTERSECT":
		var common arrow.DataType
		for i, child := range n.Children {
			t := p.valueType(child, output)
			if t == nil || i > 0 && !arrow.TypeEqual(common, t) {
				return nil
			}
			common = t
		}
		return common
	case "LOGICAL_PROJECTION":
		if output < len(n.Expressions) {
			return p.typeIn(n.Children[0], n.Expressions[output])
		}
	case "LOGICAL_FILTER", "LOGICAL_LIMIT", "LOGICAL_TOP_N", "LOGICAL_ORDER_BY", "LOGICAL_DISTINCT":
		return p.valueType(n.Children[0], mapped(n.ProjectionMap, output))
	case "LOGICAL_AGGREGATE_AND_GROUP_BY":
		if from := n.unchanged(output); from >= 0 {
			return p.valueType(n.Children[0], from)
		}
	}
	return nil
}

// typeIn gives the type of a column of a node, or of a field of a struct in one; nil: it is something else.
func (p *planner) typeIn(n *planNode, e *planExpr) arrow.DataType {
	switch {
	case e.Class == "BOUND_REF":
		return p.valueType(n, e.Index)
	case e.Class != "BOUND_FUNCTION" || e.Name != "struct_extract" || len(e.Children) != 2:
		return nil
	}
	t, ok := p.typeIn(n, e.Children[0]).(*arrow.StructType)
	name, constant := e.Children[1].Value.Value.(string)
	if !ok || !constant {
		return nil
	}
	for _, f := range t.Fields() {
		if strings.EqualFold(f.Name, name) {
			return f.Type
		}
	}
	return nil
}

// unchanged gives the column below an aggregation that one of its outputs has its values from: a group, or the least or greatest value of one; -1: none.
func (n *planNode) unchanged(output int) int {
	at := output - len(n.Groups)
	switch {
	case output < len(n.Groups) && n.Groups[output].Class == "BOUND_REF":
		return n.Groups[output].Index
	case at < 0 || at >= len(n.Expressions):
		return -1
	}
	e := n.Expressions[at]
	if (e.Name == "min" || e.Name == "max" || e.Name == "first" || e.Name == "any_value") && len(e.Children) == 1 && e.Children[0].Class == "BOUND_REF" {
		return e.Children[0].Index
	}
	return -1
}

// valueOrigin finds the column that a node's output has its values from: unchanged, or the least or greatest of a group.
func (n *planNode) valueOrigin(output int) (origin, bool) {
	if o, ok := n.origin(output, true); ok || output < 0 || len(n.Children) != 1 {
		return o, ok
	}
	switch n.Type {
	case "LOGICAL_PROJECTION":
		if output < len(n.Expressions) && n.Expressions[output].Class == "BOUND_REF" {
			return n.Children[0].valueOrigin(n.Expressions[output].Index)
		}
	case "LOGICAL_FILTER", "LOGICAL_LIMIT", "LOGICAL_TOP_N", "LOGICAL_ORDER_BY":
		return n.Children[0].valueOrigin(mapped(n.ProjectionMap, output))
	case "LOGICAL_AGGREGATE_AND_GROUP_BY":
		if from := n.unchanged(output); from >= 0 {
			return n.Children[0].valueOrigin(from)
		}
	}
	return origin{}, false
}

// sum gives the type of an output that is a sum of decimals; nil: it is none.
func (n *planNode) sum(output int) *arrow.Decimal128Type {
	switch n.Type {
	case "LOGICAL_PROJECTION":
		if len(n.Children) != 1 || output >= len(n.Expressions) || n.Expressions[output].Class != "BOUND_REF" {
			return nil
		}
		return n.Children[0].sum(n.Expressions[output].Index)
	case "LOGICAL_FILTER", "LOGICAL_LIMIT", "LOGICAL_TOP_N", "LOGICAL_ORDER_BY":
		if len(n.Children) != 1 {
			return nil
		}
		return n.Children[0].sum(mapped(n.ProjectionMap, output))
	case "LOGICAL_AGGREGATE_AND_GROUP_BY":
		at := output - len(n.Groups)
		if at < 0 || at >= len(n.Expressions) {
			return nil
		}
		e := n.Expressions[at]
		if e.Name != "sum" && e.Name != "sum_no_overflow" || len(e.Children) != 1 {
			return nil
		}
		in := e.Children[0].ReturnType
		if in.ID != "DECIMAL" || in.Info == nil {
			return nil
		}
		return &arrow.Decimal128Type{Precision: int32(min(38, in.Info.Width+10)), Scale: int32(in.Info.Scale)}
	}
	return nil
}
