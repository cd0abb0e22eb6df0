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
	kept     map[int]arrow.DataType        // of result columns that are a table's; nil: they are not
	from     map[int]int                   // which occurrence's column a result column is, unchanged
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
	folds  func(occurrence int) bool                   // its source is told of tests of names in lower or upper case
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
	c := &converter{folds: p.folds(i), column: func(output int) (predicate.Field, bool) {
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
