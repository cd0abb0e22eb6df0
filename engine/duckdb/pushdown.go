//go:build cgo

package duckdb

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/scan"
)

// pushdown is what a plan lets the scans of a statement do.
type pushdown struct {
	filters  map[int]predicate.Expr
	tests    map[int]scan.PartitionTest
	seen     map[int]int // how often an occurrence stands in the plan
	limits   map[int]int64
	columns  map[int][]int // that are read, by their places in the table; empty: none are, or it is not known
	best     map[int]bestPush
	joins    []joinPush
	decimals map[int]*arrow.Decimal128Type // of result columns that are sums
	kept     map[int]arrow.DataType        // of result columns that are a table's, where the engine's own type says less
}

// joinPush says that keys read at one occurrence filter another.
type joinPush struct {
	from, to           int
	fromField, toField predicate.Field
}

func (p pushdown) filter(i int) predicate.Expr {
	if f, ok := p.filters[i]; ok {
		return f
	}
	return nil
}

func (p pushdown) limit(i int) int64 {
	if n, ok := p.limits[i]; ok {
		return n
	}
	return -1
}

// planner reads what can be pushed from a plan.
type planner struct {
	out    pushdown
	number map[string]int // occurrence by the id in the text
	field  func(occurrence, column int) (predicate.Field, bool)
	typeOf func(occurrence, column int) arrow.DataType // nil: there is none; so is the type of no column
}

// read goes through the plan.
func (p *planner) read(n *planNode) {
	p.node(n, nil)
	p.sums(n)
	p.keep(n)
	for i, times := range p.out.seen {
		if times > 1 {
			delete(p.out.filters, i)
			delete(p.out.tests, i)
			delete(p.out.limits, i)
			delete(p.out.best, i)
		}
	}
	joins := p.out.joins[:0]
	for _, j := range p.out.joins {
		if p.out.seen[j.from] == 1 && p.out.seen[j.to] == 1 && j.from != j.to {
			joins = append(joins, j)
		}
	}
	p.out.joins = joins
}

// node reads an operator. filters are the conditions that stand directly above it, over its output.
func (p *planner) node(n *planNode, filters []*planExpr) {
	p.best(n)
	switch {
	case n.isScan():
		p.scan(n, filters)
		return
	case n.Type == "LOGICAL_FILTER" && len(n.Children) == 1 && len(n.ProjectionMap) == 0:
		p.node(n.Children[0], append(filters, n.Expressions...))
		return
	case n.Type == "LOGICAL_FILTER" && len(n.Children) == 1:
		p.node(n.Children[0], n.Expressions)
		return
	case n.Type == "LOGICAL_COMPARISON_JOIN":
		p.join(n)
	case n.Type == "LOGICAL_LIMIT" && len(n.Children) == 1:
		p.rowLimit(n)
	}
	for _, c := range n.Children {
		p.node(c, nil)
	}
}

// scan takes the conditions above a table that a scan can test.
func (p *planner) scan(n *planNode, filters []*planExpr) {
	i, ok := p.number[n.id()]
	if !ok {
		return
	}
	p.out.seen[i]++
	for _, c := range n.ColumnIndexes {
		if !slices.Contains(p.out.columns[i], c.Index) {
			p.out.columns[i] = append(p.out.columns[i], c.Index)
		}
	}
	c := &converter{column: func(output int) (predicate.Field, bool) {
		o, ok := n.origin(output, false)
		if !ok {
			return predicate.Field{}, false
		}
		return p.field(i, o.column)
	}}
	if test := c.partitions(filters); test.Expr != nil {
		p.out.tests[i] = test
	}
	var parts []predicate.Expr
	for _, f := range filters {
		if e := c.weakened(f); e != nil {
			parts = append(parts, e)
		}
	}
	if len(parts) == 0 {
		return
	}
	e := predicate.Simplify(predicate.Join(parts))
	switch e {
	case predicate.True:
		return
	case predicate.Null:
		e = predicate.False
	}
	p.out.filters[i] = e
}

// rowLimit tells a scan below a LIMIT, with nothing but a choice of columns between, how many rows are wanted.
func (p *planner) rowLimit(n *planNode) {
	if n.LimitValue.Type != "CONSTANT_VALUE" || n.OffsetValue.Type != "CONSTANT_VALUE" && n.OffsetValue.Type != "UNSET" {
		return
	}
	child := n.Children[0]
	for child.Type == "LOGICAL_PROJECTION" && len(child.Children) == 1 {
		child = child.Children[0]
	}
	if i, ok := p.number[child.id()]; ok && child.isScan() {
		p.out.limits[i] = n.LimitValue.Constant + max(0, n.OffsetValue.Constant)
	}
}

// join notes which keys of one side rows of the other must have.
func (p *planner) join(n *planNode) {
	if len(n.Children) != 2 {
		return
	}
	toLeft := n.JoinType == "INNER" || n.JoinType == "SEMI" || n.JoinType == "RIGHT"
	toRight := n.JoinType == "INNER" || n.JoinType == "LEFT" || n.JoinType == "SEMI" || n.JoinType == "ANTI"
	for _, c := range n.Conditions {
		left, right := c.Left.widened(), c.Right.widened()
		if c.Comparison != "COMPARE_EQUAL" || left == nil || right == nil {
			continue
		}
		if toLeft {
			p.push(n.Children[1], right.Index, n.Children[0], left.Index)
		}
		if toRight {
			p.push(n.Children[0], left.Index, n.Children[1], right.Index)
		}
	}
}

// widened gives the column that an expression is, maybe as a whole number of more bits; nil: it is something else.
func (e *planExpr) widened() *planExpr {
	if e != nil && e.Class == "BOUND_CAST" && e.ReturnType.ID == "BIGINT" && e.Child != nil && e.Child.ReturnType.ID == "INTEGER" {
		e = e.Child
	}
	if e == nil || e.Class != "BOUND_REF" {
		return nil
	}
	return e
}

func (p *planner) push(from *planNode, fromColumn int, to *planNode, toColumn int) {
	f, ok := from.origin(fromColumn, true)
	if !ok {
		return
	}
	t, ok := to.origin(toColumn, false)
	if !ok {
		return
	}
	i, knownFrom := p.number[f.scan.id()]
	j, knownTo := p.number[t.scan.id()]
	if !knownFrom || !knownTo {
		return
	}
	fromField, okFrom := p.field(i, f.column)
	toField, okTo := p.field(j, t.column)
	if okFrom && okTo && sameKind(fromField, toField) {
		p.out.joins = append(p.out.joins, joinPush{from: i, to: j, fromField: fromField, toField: toField})
	}
}

// sums finds the result columns that are sums of decimals. They have ten digits more than what they sum, not all that there are.
func (p *planner) sums(root *planNode) {
	p.out.decimals = map[int]*arrow.Decimal128Type{}
	for i := range max(0, root.width()) {
		if t := root.sum(i); t != nil {
			p.out.decimals[i] = t
		}
	}
}

// keep finds the result columns that are columns of tables whose type the engine has no like of.
func (p *planner) keep(root *planNode) {
	p.out.kept = map[int]arrow.DataType{}
	for i := range max(0, root.width()) {
		if t, ok := p.valueType(root, i).(*arrow.FixedSizeBinaryType); ok {
			p.out.kept[i] = t
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
		if output < len(n.Expressions) && n.Expressions[output].Class == "BOUND_REF" {
			return p.valueType(n.Children[0], n.Expressions[output].Index)
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
