package engine

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/engine/sparkname"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/scan"
)

// aggregateKinds are the functions of one column that a scan answers itself.
var aggregateKinds = map[string]scan.AggregateKind{"count": scan.CountValues, "min": scan.Minimum, "max": scan.Maximum}

// aggregate binds count(c), min(c) and max(c) of a column whose values can be ordered; false: the item is none of these.
func (b *selectBinder) aggregate(item syntax.Item) (bool, error) {
	call, ok := item.Expr.(*syntax.Call)
	if !ok || b.query.source == nil || len(call.Name) != 1 || len(call.Args) != 1 || call.Distinct || call.Star {
		return false, nil
	}
	kind, ok := aggregateKinds[strings.ToLower(call.Name[0].Text)]
	if !ok {
		return false, nil
	}
	column, ok := b.qualifier.expr(call.Args[0]).(*syntax.Column)
	if !ok {
		return false, nil
	}
	ref, err := b.binder.Column(column)
	if err != nil {
		return false, err
	}
	if kind != scan.CountValues && extremeOf(ref.Type, kind) == nil {
		return false, nil
	}
	at, ok := b.positions[ref.ID]
	if !ok {
		at = len(b.query.request.Fields)
		b.positions[ref.ID] = at
		b.query.request.Fields = append(b.query.request.Fields, ref.ID)
	}
	f := arrow.Field{Name: itemName(item, sparkname.Of(item.Expr)), Type: ref.Type, Nullable: true}
	if kind == scan.CountValues {
		f.Type, f.Nullable = arrow.PrimitiveTypes.Int64, false
	}
	b.add(output{kind: aggregateValue, column: at, aggregate: scan.Aggregate{Kind: kind, Field: ref.ID}}, f, "")
	return true, nil
}

// aggregates lists what the outputs ask of the scan, in their order.
func (q *query) aggregates() []scan.Aggregate {
	var out []scan.Aggregate
	for _, o := range q.outputs {
		switch o.kind {
		case rowCount:
			out = append(out, scan.Aggregate{Kind: scan.CountRows})
		case aggregateValue:
			out = append(out, o.aggregate)
		}
	}
	return out
}

// reduces reports whether some output is an aggregate of a column.
func (q *query) reduces() bool {
	return slices.ContainsFunc(q.outputs, func(o output) bool { return o.kind == aggregateValue })
}

// told gives the aggregates' values by output, where metadata tells them and may.
func (s *set) told() ([]any, bool) {
	if s.plan == nil || len(s.query.request.Aggregates) == 0 {
		return nil, false
	}
	values, instead := scan.Aggregates(s.plan)
	if instead != "" {
		return nil, false
	}
	out := make([]any, len(s.query.outputs))
	for i, o := range s.query.outputs {
		if o.kind == rowCount || o.kind == aggregateValue {
			out[i], values = values[0], values[1:]
		}
	}
	return out, true
}

// reduced gives one row that holds the aggregates of a scan's rows, which are known or must be read.
type reduced struct {
	counted
	outputs  []output
	values   []any // by output; nil where they are read
	extremes []extreme
}

func newReduced(q *query, reader array.RecordReader) *reduced {
	r := &reduced{counted: counted{reader: reader}, outputs: q.outputs, extremes: make([]extreme, len(q.outputs))}
	for i, o := range q.outputs {
		if o.kind == aggregateValue && o.aggregate.Kind != scan.CountValues {
			r.extremes[i] = extremeOf(q.schema.Field(i).Type, o.aggregate.Kind)
		}
	}
	return r
}

func (r *reduced) next() (rowBatch, bool) {
	if r.done {
		return rowBatch{}, false
	}
	r.done = true
	if r.reader == nil {
		return rowBatch{rows: 1, count: r.rows, values: r.values}, true
	}
	counts := make([]int64, len(r.outputs))
	for r.reader.Next() {
		b := r.reader.RecordBatch()
		r.rows += b.NumRows()
		for i, o := range r.outputs {
			if o.kind != aggregateValue {
				continue
			}
			column := b.Column(o.column)
			counts[i] += int64(column.Len() - column.NullN())
			if r.extremes[i] != nil && column.NullN() < column.Len() {
				r.extremes[i].take(column)
			}
		}
	}
	r.values = make([]any, len(r.outputs))
	for i := range r.outputs {
		if r.extremes[i] != nil {
			r.values[i] = r.extremes[i].value()
		} else {
			r.values[i] = counts[i]
		}
	}
	return rowBatch{rows: 1, count: r.rows, values: r.values}, r.err() == nil
}

// extreme keeps the smallest or the largest value of columns.
type extreme interface {
	// take takes in a column that has a value.
	take(column arrow.Array)
	// value is in the representation of predicate.Literal; nil: there was none.
	value() any
}

// extremeOf makes an extreme of a type's values; nil: they have no order that is asked for here.
func extremeOf(typ arrow.DataType, kind scan.AggregateKind) extreme {
	sign := 1
	if kind == scan.Maximum {
		sign = -1
	}
	integer := func(n int64) any { return n }
	switch typ.(type) {
	case *arrow.BooleanType:
		return &best[*array.Boolean, bool]{at: (*array.Boolean).Value, compare: orderBooleans, sign: sign, literal: func(v bool) any { return v }}
	case *arrow.Int32Type:
		return &best[*array.Int32, int32]{at: (*array.Int32).Value, compare: cmp.Compare[int32], sign: sign, literal: func(v int32) any { return integer(int64(v)) }}
	case *arrow.Int64Type:
		return &best[*array.Int64, int64]{at: (*array.Int64).Value, compare: cmp.Compare[int64], sign: sign, literal: integer}
	case *arrow.Date32Type:
		return &best[*array.Date32, arrow.Date32]{at: (*array.Date32).Value, compare: cmp.Compare[arrow.Date32], sign: sign, literal: func(v arrow.Date32) any { return integer(int64(v)) }}
	case *arrow.TimestampType:
		return &best[*array.Timestamp, arrow.Timestamp]{at: (*array.Timestamp).Value, compare: cmp.Compare[arrow.Timestamp], sign: sign, literal: func(v arrow.Timestamp) any { return integer(int64(v)) }}
	case *arrow.Float32Type:
		return &best[*array.Float32, float32]{at: (*array.Float32).Value, compare: orderFloats[float32], sign: sign, literal: func(v float32) any { return float64(v) }}
	case *arrow.Float64Type:
		return &best[*array.Float64, float64]{at: (*array.Float64).Value, compare: orderFloats[float64], sign: sign, literal: func(v float64) any { return v }}
	case *arrow.Decimal128Type:
		return &best[*array.Decimal128, decimal128.Num]{at: (*array.Decimal128).Value, compare: decimal128.Num.Cmp, sign: sign, literal: func(v decimal128.Num) any { return v }}
	case *arrow.StringType:
		return &best[*array.String, string]{at: (*array.String).Value, compare: strings.Compare, sign: sign, own: strings.Clone, literal: func(v string) any { return v }}
	case *arrow.BinaryType:
		return &best[*array.Binary, []byte]{at: (*array.Binary).Value, compare: bytes.Compare, sign: sign, own: slices.Clone[[]byte], literal: func(v []byte) any { return v }}
	}
	return nil
}

func orderBooleans(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// orderFloats takes NaN for the largest and both zeros for equal, as the filters do.
func orderFloats[T float32 | float64](a, b T) int {
	if math.IsNaN(float64(a)) || math.IsNaN(float64(b)) {
		return orderBooleans(math.IsNaN(float64(a)), math.IsNaN(float64(b)))
	}
	return cmp.Compare(a, b)
}

// best is the extreme of arrays of one type.
type best[A arrow.Array, T any] struct {
	at      func(a A, i int) T
	compare func(a, b T) int
	sign    int         // 1: the smallest, -1: the largest
	own     func(v T) T // of values that lie in the array; nil: they do not
	literal func(v T) any

	current T
	found   bool
}

func (b *best[A, T]) take(column arrow.Array) {
	a := column.(A)
	current, found := b.current, b.found
	for i := range a.Len() {
		if a.IsNull(i) {
			continue
		}
		if v := b.at(a, i); !found || b.sign*b.compare(v, current) < 0 {
			current, found = v, true
		}
	}
	if b.own != nil && found {
		current = b.own(current)
	}
	b.current, b.found = current, found
}

func (b *best[A, T]) value() any {
	if !b.found {
		return nil
	}
	return b.literal(b.current)
}
