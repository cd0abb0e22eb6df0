//go:build cgo

package duckdb

import (
	"container/heap"
	"math"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/scan"
)

// maxBest is how many rows an ORDER BY with a LIMIT may want for the scan to be told how good they must be: the best values are kept in memory.
const maxBest = 10_000

// bestPush says that of a table's rows only those count that are among the first rows by one of its columns: what stands behind them in the order
// never reaches the result. Rows that are as good as the last of them all count.
type bestPush struct {
	field      predicate.Field
	descending bool
	nullsFirst bool
	rows       int64
	distinct   bool // rows of one value count as one
}

// best finds out which scans an ORDER BY with a LIMIT asks for its first rows.
func (p *planner) best(n *planNode) {
	order, limit := n, n.Limit
	switch {
	case n.Type == "LOGICAL_TOP_N":
		limit += n.Offset
	case n.Type == "LOGICAL_LIMIT" && len(n.Children) == 1 && n.Children[0].Type == "LOGICAL_ORDER_BY":
		if n.LimitValue.Type != "CONSTANT_VALUE" || n.OffsetValue.Type != "CONSTANT_VALUE" && n.OffsetValue.Type != "UNSET" {
			return
		}
		order, limit = n.Children[0], n.LimitValue.Constant+max(0, n.OffsetValue.Constant)
	default:
		return
	}
	if len(order.Orders) == 0 || len(order.Children) != 1 || limit <= 0 || limit > maxBest {
		return
	}
	first := order.Orders[0]
	if first.Expression == nil || first.Expression.Class != "BOUND_REF" {
		return
	}
	push := bestPush{descending: first.Type == "DESCENDING", nullsFirst: first.NullOrder == "NULLS FIRST", rows: limit}
	if first.Type != "ASCENDING" && first.Type != "DESCENDING" || first.NullOrder != "NULLS FIRST" && first.NullOrder != "NULLS LAST" {
		return
	}
	p.bestOf(order.Children[0], first.Expression.Index, push)
}

// bestOf follows a column down to the tables that it comes from, as long as every row of theirs is one, or more, at the top.
func (p *planner) bestOf(n *planNode, output int, push bestPush) {
	if output < 0 {
		return
	}
	switch n.Type {
	case "LOGICAL_GET", "LOGICAL_FILTER":
		p.bestScan(n, output, push)
	case "LOGICAL_PROJECTION":
		if output < len(n.Expressions) && len(n.Children) == 1 && n.Expressions[output].Class == "BOUND_REF" {
			p.bestOf(n.Children[0], n.Expressions[output].Index, push)
		}
	case "LOGICAL_ORDER_BY":
		if len(n.Children) == 1 {
			p.bestOf(n.Children[0], mapped(n.ProjectionMap, output), push)
		}
	case "LOGICAL_DISTINCT":
		if len(n.Children) == 1 && n.DistinctType == "DISTINCT" {
			push.distinct = true
			p.bestOf(n.Children[0], output, push)
		}
	case "LOGICAL_AGGREGATE_AND_GROUP_BY":
		if len(n.Children) == 1 && output < len(n.Groups) && n.Groups[output].Class == "BOUND_REF" && len(n.GroupingSets) <= 1 {
			push.distinct = true
			p.bestOf(n.Children[0], n.Groups[output].Index, push)
		}
	case "LOGICAL_UNION":
		if n.SetOpAll {
			for _, c := range n.Children {
				p.bestOf(c, output, push)
			}
		}
	case "LOGICAL_COMPARISON_JOIN":
		p.bestJoin(n, output, push)
	}
}

// bestJoin goes on in the side of a join whose rows all have a place in the result.
func (p *planner) bestJoin(n *planNode, output int, push bestPush) {
	left := n.side(0)
	if len(n.Children) != 2 || left < 0 {
		return
	}
	switch n.JoinType {
	case "LEFT", "SINGLE", "MARK":
		if output < left {
			p.bestOf(n.Children[0], mapped(n.LeftMap, output), push)
		}
	case "RIGHT":
		if output >= left {
			p.bestOf(n.Children[1], mapped(n.RightMap, output-left), push)
		}
	}
}

// bestScan ends at a table whose filters, if there are any, the scan tests itself, and whole.
func (p *planner) bestScan(n *planNode, output int, push bestPush) {
	var filters []*planExpr
	for n.Type == "LOGICAL_FILTER" {
		if len(n.Children) != 1 {
			return
		}
		output = mapped(n.ProjectionMap, output)
		filters = append(filters, n.Expressions...)
		if n = n.Children[0]; n.Type == "LOGICAL_FILTER" && len(n.ProjectionMap) > 0 {
			return
		}
	}
	i, known := p.number[n.id()]
	at, ok := n.origin(output, false)
	if !n.isScan() || !known || !ok {
		return
	}
	c := &converter{column: func(output int) (predicate.Field, bool) {
		o, ok := n.origin(output, false)
		if !ok {
			return predicate.Field{}, false
		}
		return p.field(i, o.column)
	}}
	for _, f := range filters {
		if c.exact(f) == nil {
			return
		}
	}
	if push.field, ok = p.field(i, at.column); ok {
		p.out.best[i] = push
	}
}

// bestRows keeps the best values of the rows that one reader gave. It is for one goroutine, but for what the scan asks of it.
type bestRows struct {
	push   bestPush
	values bestValues
	seen   map[any]struct{} // of values, where rows of one value count as one; nil: they do not
	nulls  int64
	column int // in the reader's batches
	bound  atomic.Pointer[bestBound]
}

// bestBound is what a row must pass to count.
type bestBound struct {
	filter  predicate.Expr
	version int64
}

func newBestRows(push bestPush, column int) *bestRows {
	b := &bestRows{push: push, column: column, values: bestValues{descending: push.descending}}
	if push.distinct {
		b.seen = map[any]struct{}{}
	}
	return b
}

// request asks a scan for the best rows.
func (b *bestRows) request() *scan.Best {
	if b == nil {
		return nil
	}
	return &scan.Best{Field: b.push.field, Descending: b.push.descending, NullsFirst: b.push.nullsFirst, Bound: func() (predicate.Expr, int64) {
		if bound := b.bound.Load(); bound != nil {
			return bound.filter, bound.version
		}
		return nil, 0
	}}
}

// add takes in the rows of a batch.
func (b *bestRows) add(batch arrow.RecordBatch) {
	if b == nil {
		return
	}
	column := batch.Column(b.column)
	changed := false
	for i := range column.Len() {
		changed = b.row(column, i) || changed
	}
	if changed {
		b.tell()
	}
}

// row takes in one row, and says whether the best ones are others now.
func (b *bestRows) row(column arrow.Array, i int) bool {
	if column.IsNull(i) {
		if b.seen != nil && b.nulls > 0 {
			return false
		}
		b.nulls++
		return b.push.nullsFirst && b.nulls <= b.push.rows
	}
	v, ok := bestOf(column, i)
	if !ok {
		return false
	}
	room := b.room()
	if int64(b.values.Len()) >= room && (room == 0 || !b.values.better(v, b.values.list[0])) {
		return false
	}
	v = owned(v)
	if b.seen != nil {
		if _, known := b.seen[distinctKey(v)]; known {
			return false
		}
		b.seen[distinctKey(v)] = struct{}{}
	}
	heap.Push(&b.values, v)
	b.trim()
	return true
}

// room is how many values there may be among the best rows: those without a value may come first.
func (b *bestRows) room() int64 {
	if b.push.nullsFirst {
		return max(0, b.push.rows-b.nulls)
	}
	return b.push.rows
}

func (b *bestRows) trim() {
	for int64(b.values.Len()) > b.room() {
		gone := heap.Pop(&b.values)
		if b.seen != nil {
			delete(b.seen, distinctKey(gone))
		}
	}
}

// tell says what is known once there are enough rows.
func (b *bestRows) tell() {
	b.trim()
	room := b.room()
	f := b.push.field
	var filter predicate.Expr
	switch {
	case room == 0:
		filter = predicate.IsNull{Field: f}
	case int64(b.values.Len()) < room:
		return
	default:
		op := predicate.LtEq
		if b.push.descending {
			op = predicate.GtEq
		}
		filter = predicate.Comparison{Op: op, Field: f, Value: predicate.Literal{Type: f.Type, Value: b.values.list[0]}}
		if b.push.nullsFirst {
			filter = predicate.Or{Left: predicate.IsNull{Field: f}, Right: filter}
		}
	}
	version := int64(1)
	if before := b.bound.Load(); before != nil {
		version = before.version + 1
	}
	b.bound.Store(&bestBound{filter, version})
}

// bestValues is a heap whose first element is the worst of the best.
type bestValues struct {
	list       []any
	descending bool
}

var _ heap.Interface = (*bestValues)(nil)

// better reports whether a comes before b.
func (v *bestValues) better(a, b any) bool {
	if v.descending {
		return lessValue(b, a)
	}
	return lessValue(a, b)
}

func (v *bestValues) Len() int           { return len(v.list) }
func (v *bestValues) Less(i, j int) bool { return v.better(v.list[j], v.list[i]) }
func (v *bestValues) Swap(i, j int)      { v.list[i], v.list[j] = v.list[j], v.list[i] }
func (v *bestValues) Push(x any)         { v.list = append(v.list, x) }

func (v *bestValues) Pop() any {
	last := v.list[len(v.list)-1]
	v.list = v.list[:len(v.list)-1]
	return last
}

// bestOf gives a value as predicate.Literal has it, a text in the batch's memory. NaNs are one, and so are both zeros.
func bestOf(a arrow.Array, i int) (any, bool) {
	switch a := a.(type) {
	case *array.Boolean:
		return a.Value(i), true
	case *array.Float64:
		switch v := a.Value(i); {
		case v != v:
			return math.NaN(), true
		case v == 0:
			return 0.0, true
		default:
			return v, true
		}
	}
	return keyOf(a, i)
}

// distinctKey stands for a value in a map: no NaN is found there by itself.
func distinctKey(v any) any {
	if f, ok := v.(float64); ok && f != f {
		return "NaN"
	}
	return v
}

// lessValue is the engine's order of values: NaN is the greatest.
func lessValue(a, b any) bool {
	switch a := a.(type) {
	case bool:
		return !a && b.(bool)
	case float64:
		other := b.(float64)
		return a < other || a == a && other != other
	case decimal128.Num:
		return a.Less(b.(decimal128.Num))
	}
	return lessKey(a, b)
}
