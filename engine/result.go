package engine

import (
	"context"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/resource"
)

// outcome is what results have in common, whatever gives their rows. Every stream of it is on the account of the statement.
type outcome struct {
	engine  *Engine
	planned *planned
	pin     Pin
	account *resource.Statement
}

func (o *outcome) Schema() *arrow.Schema { return o.planned.schema }
func (o *outcome) Updated() int64        { return -1 }
func (o *outcome) Pin() Pin              { return o.pin }
func (o *outcome) Close() error          { return nil }

// enter opens pieces once the process has memory for the statement.
func (o *outcome) enter(ctx context.Context, kind, parts string, pieces []piece) (array.RecordReader, error) {
	line, leave, err := o.engine.begin(ctx, kind, o.pin, o.account, parts)
	if err != nil {
		return nil, err
	}
	out, err := o.read(ctx, pieces, line)
	if err != nil {
		leave()
		return nil, err
	}
	out.leave = leave
	return out, nil
}

// read opens pieces; the line, unless it is nil, is written when the reader is released.
func (o *outcome) read(ctx context.Context, pieces []piece, line *ended) (*reader, error) {
	out := &reader{outcome: o, ctx: resource.With(ctx, o.account), line: line, pending: pieces, current: noBatches{}}
	out.references.Store(1)
	// The first piece is opened here, so that what fails at once fails the call.
	if !out.advance() && out.failed != nil {
		err := out.failed
		out.Release()
		return nil, err
	}
	return out, nil
}

func (e *Engine) result(p *planned, pin Pin, account *resource.Statement) Result {
	o := outcome{engine: e, planned: p, pin: pin, account: account}
	if p.programs != nil {
		return &queryResult{o}
	}
	return &result{o}
}

// outcome is what the statement's rows are read with on the account of the context.
func (s *statement) outcome(ctx context.Context, p *planned) outcome {
	account := resource.From(ctx)
	return outcome{engine: s.engine, planned: p, pin: s.pin(account.ID), account: account}
}

// result is a planned SELECT before its rows are read: the parts of one set of parameters after those of the other.
type result struct{ outcome }

var _ Result = (*result)(nil)

func (r *result) Ordered() bool {
	return len(r.planned.sets) != 1 || r.planned.sets[0].whole()
}

func (r *result) Parts() int {
	n := 0
	for _, s := range r.planned.sets {
		n += s.parts()
	}
	return n
}

func (r *result) Rows() int64 {
	total := int64(0)
	for _, s := range r.planned.sets {
		n, known := s.rows()
		if !known {
			return -1
		}
		total += n
	}
	return total
}

func (r *result) Open(ctx context.Context, from, to int) (array.RecordReader, error) {
	if err := checkParts(from, to, r.Parts()); err != nil {
		return nil, err
	}
	return r.enter(ctx, scanKind, partsText(from, to, r.Parts()), r.pieces(from, to))
}

// pieces gives what some of the parts are of each set.
func (r *result) pieces(from, to int) []piece {
	var out []piece
	for i := range r.planned.sets {
		s := &r.planned.sets[i]
		n := s.parts()
		if from < n && to > 0 && from < to {
			out = append(out, setRun{set: s, from: max(from, 0), to: min(to, n), account: r.account})
		}
		from, to = from-n, to-n
	}
	return out
}

// setRun is a run of parts of one set.
type setRun struct {
	set      *set
	from, to int
	account  *resource.Statement
}

func (r setRun) open(ctx context.Context) (batches, error) {
	return r.set.open(ctx, r.from, r.to, r.account)
}

// whole reports whether the splits must be read as one: for a count, a limit, or without a scan.
func (s *set) whole() bool {
	return s.plan == nil || s.query.counts || s.query.limit >= 0 || s.query.offset > 0
}

func (s *set) parts() int {
	if s.whole() {
		return 1
	}
	return s.plan.Splits()
}

// rows is the number of rows of the set's result, if it is known without reading.
func (s *set) rows() (int64, bool) {
	if s.query.counts {
		return s.query.cut(1), true
	}
	n, known := s.sourceRows()
	return s.query.cut(n), known
}

// sourceRows is the number of rows that pass the filter, where it is known without reading. A SELECT without FROM has one row, unless its filter
// is not true.
func (s *set) sourceRows() (int64, bool) {
	switch {
	case s.plan != nil:
		return s.plan.Rows()
	case s.query.request.Filter != nil:
		return 0, true
	}
	return 1, true
}

// counted reports whether the value of count(*) is known without reading, and may be taken as such.
func (s *set) counted() bool {
	if s.query.reduces() {
		_, told := s.told()
		return told
	}
	_, known := s.sourceRows()
	return s.query.counts && known && (s.plan == nil || s.query.pushDown.Value == "true")
}

// cut gives how many of n rows LIMIT and OFFSET leave.
func (q *query) cut(n int64) int64 {
	n = max(0, n-q.offset)
	if q.limit >= 0 {
		n = min(n, q.limit)
	}
	return n
}

// open gives the rows that the outputs of parts are made of.
func (s *set) open(ctx context.Context, from, to int, account *resource.Statement) (batches, error) {
	out := &stream{query: s.query, account: account, skip: s.query.offset, left: math.MaxInt64}
	if s.query.limit >= 0 {
		out.left = s.query.limit
	}
	n, _ := s.sourceRows()
	switch {
	case out.left == 0:
		out.source = noRows{}
		return out, nil
	case s.counted() && s.query.reduces():
		r := newReduced(s.query, nil)
		r.values, _ = s.told()
		for i, o := range s.query.outputs {
			if o.kind == rowCount {
				r.rows, _ = r.values[i].(int64)
			}
		}
		out.source = r
		return out, nil
	case s.counted():
		out.source = &counted{rows: n}
		return out, nil
	case s.plan == nil:
		out.source = &bareRows{rows: n}
		return out, nil
	}
	if s.whole() {
		from, to = 0, s.plan.Splits()
	}
	source, err := s.plan.Open(ctx, from, to)
	if err != nil {
		return nil, err
	}
	out.source = &scanned{source}
	switch {
	case s.query.reduces():
		out.source = newReduced(s.query, source)
	case s.query.counts:
		out.source = &counted{reader: source}
	}
	return out, nil
}
