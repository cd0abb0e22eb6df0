package engine

import (
	"context"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
)

// reader gives the batches of a result's parts, one piece after the other. It is for one goroutine. It holds the context of its Open, as the
// interface of Arrow's readers has no other place for one.
type reader struct {
	outcome    *outcome
	ctx        context.Context
	line       *ended // of the log; nil: none
	leave      func() // gives the statement's place in the process's memory back; nil: another does
	pending    []piece
	current    batches
	batch      arrow.RecordBatch // nil: none
	whole      bool              // read to its end
	failed     error
	references atomic.Int64
}

// piece is what is opened as one: some parts of a set, or a program.
type piece interface {
	open(ctx context.Context) (batches, error)
}

// batches are those of a piece.
type batches interface {
	// next gives a batch that is the caller's to release; nil at the end.
	next() (arrow.RecordBatch, error)
	release()
}

// noBatches stand where nothing is open.
type noBatches struct{}

func (noBatches) next() (arrow.RecordBatch, error) { return nil, nil }
func (noBatches) release()                         {}

var _ array.RecordReader = (*reader)(nil)

func (r *reader) Schema() *arrow.Schema          { return r.outcome.Schema() }
func (r *reader) RecordBatch() arrow.RecordBatch { return r.batch }
func (r *reader) Record() arrow.RecordBatch      { return r.batch }
func (r *reader) Retain()                        { r.references.Add(1) }
func (r *reader) Err() error                     { return r.failed }

func (r *reader) Release() {
	if r.references.Add(-1) > 0 {
		return
	}
	r.drop()
	r.current.release()
	r.current = noBatches{}
	if r.leave != nil {
		r.leave()
	}
	if r.line == nil {
		return
	}
	r.line.duration, r.line.err = r.outcome.engine.config.Clock().Sub(r.line.started), endingOf(r.ctx, r.failed, r.whole)
	r.outcome.engine.lines.write(*r.line)
}

// exhaust reads to the end, for what reading counts.
func exhaust(r *reader, err error) error {
	if err != nil {
		return err
	}
	defer r.Release()
	for r.Next() {
	}
	return r.Err()
}

// endingOf is what kept a reader from giving everything. One that is let go of early was not wanted any more.
func endingOf(ctx context.Context, failed error, whole bool) error {
	switch {
	case ctx.Err() != nil && (failed == nil || fault.Is(failed, fault.Canceled)):
		return fault.As(fault.Canceled, context.Cause(ctx))
	case failed != nil:
		return failed
	case !whole:
		return fault.New(fault.Canceled, "the reader was closed before its end")
	}
	return nil
}

func (r *reader) drop() {
	if r.batch != nil {
		r.batch.Release()
		r.batch = nil
	}
}

// Next gives the next batch. A panic below it costs this stream an error and nobody else anything.
func (r *reader) Next() (ok bool) {
	defer func() {
		if r.failed != nil {
			ok = false
		}
	}()
	defer fault.Recover(&r.failed, fault.Internal, "read")
	r.count()
	r.drop()
	for r.failed == nil {
		if r.batch, r.failed = r.current.next(); r.batch != nil {
			return true
		}
		if r.failed == nil && !r.advance() {
			r.whole = r.failed == nil
			return false
		}
	}
	return false
}

// advance opens the next piece.
func (r *reader) advance() (opened bool) {
	defer fault.Recover(&r.failed, fault.Internal, "read")
	r.current.release()
	r.current = noBatches{}
	if len(r.pending) == 0 {
		return false
	}
	next, err := r.pending[0].open(r.ctx)
	r.pending = r.pending[1:]
	if err != nil {
		r.failed = err
		return false
	}
	r.current = next
	return true
}

// count counts the batch that the caller is done with: one that it did not come back from may not have been sent.
func (r *reader) count() {
	if r.batch == nil {
		return
	}
	c := &r.outcome.account.Counters
	c.Rows.Add(r.batch.NumRows())
	c.Batches.Add(1)
	c.Bytes.Add(batchBytes(r.batch))
}

// stream makes the batches of one piece: it leaves out the rows of OFFSET, stops at LIMIT, and puts columns and constants in their places.
type stream struct {
	query      *query
	account    *resource.Statement
	source     rowSource
	skip, left int64
}

func (s *stream) release() { s.source.release() }

// next gives the next batch; nil at the end.
func (s *stream) next() (arrow.RecordBatch, error) {
	for s.left > 0 {
		b, ok := s.source.next()
		if !ok {
			return nil, s.source.err()
		}
		from := min(s.skip, b.rows)
		s.skip -= from
		n := min(b.rows-from, s.left)
		if n == 0 {
			continue
		}
		s.left -= n
		return s.project(b, from, n)
	}
	return nil, nil
}

// project makes the output batch of n rows from one on.
func (s *stream) project(b rowBatch, from, n int64) (arrow.RecordBatch, error) {
	if err := s.account.Err(); err != nil {
		return nil, err
	}
	columns := make([]arrow.Array, 0, len(s.query.outputs))
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for i, o := range s.query.outputs {
		column, err := s.column(i, o, b, from, n)
		if err != nil {
			return nil, err
		}
		columns = append(columns, column)
	}
	return array.NewRecordBatch(s.query.schema, columns, n), nil
}

func (s *stream) column(at int, o output, b rowBatch, from, n int64) (arrow.Array, error) {
	switch o.kind {
	case scanColumn:
		return array.NewSlice(b.columns.Column(o.column), from, from+n), nil
	case aggregateValue:
		return repeated(sparktype.Value{Type: s.query.schema.Field(at).Type, Value: b.values[at]}, int(n), s.account.Allocator())
	case rowCount:
		return repeated(sparktype.Value{Type: sparktype.Bigint, Value: b.count}, int(n), s.account.Allocator())
	}
	return repeated(o.constant, int(n), s.account.Allocator())
}
