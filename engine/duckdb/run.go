//go:build cgo

package duckdb

import (
	"context"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan"
)

// run is one execution of a statement: its sources read under one context, and the first error of theirs, which the engine passes on as
// mere text.
type run struct {
	ctx context.Context

	mu     sync.Mutex
	failed error
}

// fail keeps the first error and gives err back.
func (r *run) fail(err error) error {
	if err == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil {
		r.failed = err
	}
	return err
}

// cause gives the error behind one of the engine's.
func (r *run) cause(err error) error {
	if err == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.failed != nil:
		return r.failed
	case r.ctx.Err() != nil:
		return fault.As(fault.Canceled, context.Cause(r.ctx))
	}
	return err
}

// occurrence is one place where a statement reads a table, in one execution.
type occurrence struct {
	run        *run
	input      *input
	filter     predicate.Expr // what every row that counts passes; nil: all count
	partitions scan.PartitionTest
	limit      int64        // rows that are enough; negative: all
	best       *bestPush    // those that come first by a column are enough; nil: all are wanted
	joins      []joinFilter // what other tables may say about this one
	learnt     []predicate.Expr
	planned    scan.Plan // what was opened; nil: nothing was
	collected  *keySet   // keys that were read here; nil: nobody wants them
}

// columns are the source's columns and metadata columns as the engine gets them.
func (o *occurrence) columns() *arrow.Schema { return engineSchema(o.input) }

// rows is the number of rows expected.
func (o *occurrence) rows() (n int64, exact bool) { return o.input.estimate, false }

// plan plans the source with what was pushed and with what joins found out while running.
func (o *occurrence) plan(fields []int, best *scan.Best) (scan.Plan, error) {
	filter := o.filter
	var wide []predicate.Expr
	for _, j := range o.joins {
		found, isWide := j.filter()
		switch {
		case found == nil:
		case isWide:
			wide = append(wide, found)
		default:
			o.learnt = append(o.learnt, found)
			filter = both(filter, found)
		}
	}
	plan, err := o.planWith(fields, filter, best)
	if err != nil || len(wide) == 0 {
		return plan, err
	}
	narrower, err := o.planWith(fields, both(filter, predicate.Join(wide)), best)
	if err != nil || expected(narrower)*4 > expected(plan)*3 {
		return plan, nil
	}
	o.learnt = append(o.learnt, wide...)
	return narrower, nil
}

func (o *occurrence) planWith(fields []int, filter predicate.Expr, best *scan.Best) (scan.Plan, error) {
	return o.input.table.Source.Plan(resource.WithProgress(o.run.ctx, nil), scan.Request{Fields: fields, Filter: filter, Partitions: o.partitions, Limit: o.limit, Best: best, Options: o.input.table.Options})
}

func both(a, b predicate.Expr) predicate.Expr {
	if a == nil {
		return b
	}
	return predicate.And{Left: a, Right: b}
}

// expected is the number of rows that a plan may give, its filter not counted but for the files that it leaves out.
func expected(p scan.Plan) int64 {
	if n, known := p.Rows(); known {
		return n
	}
	total := int64(0)
	for _, split := range p.Explain().Splits {
		for _, t := range split.Tasks {
			total += t.Rows
		}
	}
	return total
}

// openReader plans and opens the source with the columns at these positions.
func (o *occurrence) openReader(positions []int) (*reader, error) {
	all := sourceFields(o.input)
	engineColumns := o.columns()
	fields, ids := make([]arrow.Field, len(positions)), make([]int, len(positions))
	for i, p := range positions {
		if p >= len(all) {
			return nil, fault.New(fault.Internal, "the SQL engine asks for column %d of %s", p, o.input.table.Name)
		}
		if err := readable(o.input.table.Name, all[p]); err != nil {
			return nil, err
		}
		fields[i], ids[i] = engineColumns.Field(p), fieldID(all[p])
	}
	var best *bestRows
	if o.best != nil {
		if at := slices.Index(ids, o.best.field.ID); at >= 0 {
			best = newBestRows(*o.best, at)
		}
	}
	plan, err := o.plan(ids, best.request())
	if err != nil {
		return nil, err
	}
	o.run.mu.Lock()
	again := o.planned != nil
	o.planned = plan
	o.run.mu.Unlock()
	if !again {
		resource.ProgressOf(o.run.ctx).Expect(-o.input.splits()) // in whose place the plan's come
	}
	source, err := plan.Open(o.run.ctx, 0, plan.Splits())
	if err != nil {
		return nil, err
	}
	r := &reader{of: o, source: source, schema: arrow.NewSchema(fields, nil), best: best}
	if o.collected != nil {
		r.keys = o.collected.begin(ids)
	}
	return r, nil
}

// reader gives a source's batches to the engine. It is pulled by one worker at a time.
type reader struct {
	of     *occurrence
	source array.RecordReader
	schema *arrow.Schema
	keys   *keyReader // nil: nobody wants them
	best   *bestRows  // nil: all rows are wanted
}

// next gives the next batch, nil at the end.
func (r *reader) next() (arrow.RecordBatch, error) {
	for r.source.Next() {
		b := r.source.RecordBatch()
		if b.NumRows() == 0 {
			continue
		}
		r.keys.add(b)
		r.best.add(b)
		return r.convert(b)
	}
	if err := r.source.Err(); err != nil {
		return nil, err
	}
	r.keys.end()
	return nil, nil
}

// convert gives a batch the types and the layout that the engine takes.
func (r *reader) convert(b arrow.RecordBatch) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, b.NumCols())
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i := range columns {
		column, err := engineArray(b.Column(i), r.schema.Field(i).Type, memory.DefaultAllocator)
		if err != nil {
			return nil, err
		}
		columns[i] = column
	}
	return array.NewRecordBatch(r.schema, columns, b.NumRows()), nil
}

func (r *reader) close() { r.source.Release() }
