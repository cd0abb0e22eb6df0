package engine

import (
	"context"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/resource"
)

// result is a planned SELECT before its rows are read: the parts of one set of parameters after those of the other. Every stream of it is on the
// account of the statement.
type result struct {
	engine  *Engine
	planned *planned
	pin     Pin
	account *resource.Statement
}

var _ Result = (*result)(nil)

func (e *Engine) result(p *planned, pin Pin, account *resource.Statement) Result {
	if p.programs != nil {
		return &queryResult{engine: e, planned: p, pin: pin, account: account}
	}
	return e.scanResult(p, pin, account)
}

func (e *Engine) scanResult(p *planned, pin Pin, account *resource.Statement) *result {
	return &result{engine: e, planned: p, pin: pin, account: account}
}

func (r *result) Schema() *arrow.Schema { return r.planned.schema }
func (r *result) Updated() int64        { return -1 }
func (r *result) Pin() Pin              { return r.pin }
func (r *result) Close() error          { return nil }

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
	line, leave, err := r.engine.begin(ctx, scanKind, r.pin, r.account, partsText(from, to, r.Parts()))
	if err != nil {
		return nil, err
	}
	out, err := r.open(ctx, from, to, line)
	if err != nil {
		leave()
		return nil, err
	}
	out.leave = leave
	return out, nil
}

// open reads parts; the line, unless it is nil, is written when the reader is released.
func (r *result) open(ctx context.Context, from, to int, line *ended) (*reader, error) {
	out := &reader{result: r, ctx: resource.With(ctx, r.account), line: line, current: noStream}
	out.references.Store(1)
	for i := range r.planned.sets {
		s := &r.planned.sets[i]
		n := s.parts()
		if from < n && to > 0 && from < to {
			out.pending = append(out.pending, piece{set: s, from: max(from, 0), to: min(to, n)})
		}
		from, to = from-n, to-n
	}
	// The first piece is opened here, so that what fails at once fails the call.
	if !out.advance() && out.failed != nil {
		err := out.failed
		out.Release()
		return nil, err
	}
	return out, nil
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
func (s *set) open(ctx context.Context, from, to int) (*stream, error) {
	out := &stream{query: s.query, skip: s.query.offset, left: math.MaxInt64}
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
