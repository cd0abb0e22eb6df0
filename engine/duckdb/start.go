//go:build cgo

package duckdb

import (
	"context"
	"runtime/cgo"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/engine/duckdb/dialect"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
)

// started holds what one execution reads: an occurrence for each table, under the number by which the engine asks for it.
type started struct {
	run         *run
	occurrences map[int]*occurrence
	handles     map[int]cgo.Handle
}

// start makes the occurrences of an execution under ctx.
func (p *program) start(ctx context.Context) *started {
	s := &started{run: &run{ctx: ctx}, occurrences: map[int]*occurrence{}, handles: map[int]cgo.Handle{}}
	for i, in := range p.tables {
		o := &occurrence{run: s.run, input: in, filter: p.pushed.filter(i), partitions: p.pushed.tests[i], limit: p.pushed.limit(i)}
		if best, ok := p.pushed.best[i]; ok {
			o.best = &best
		}
		s.occurrences[i], s.handles[i] = o, cgo.NewHandle(o)
	}
	for _, j := range p.pushed.joins {
		from, to := s.occurrences[j.from], s.occurrences[j.to]
		if from == nil || to == nil {
			continue
		}
		if from.collected == nil {
			from.collected = &keySet{}
		}
		to.joins = append(to.joins, joinFilter{keys: from.collected, column: from.collected.want(j.fromField), field: j.toField})
	}
	return s
}

// id is the number by which the engine asks for a table.
func (s *started) id(i int) uint64 { return uint64(s.handles[i]) }

// end forgets the occurrences. The engine reads none of them any more.
func (s *started) end() {
	for _, h := range s.handles {
		h.Delete()
	}
	s.handles = nil
}

// open runs the statement.
func (p *program) open(ctx context.Context, i *instance) (*stream, error) {
	account := resource.From(ctx)
	ctx, cancel := context.WithCancelCause(ctx)
	if limit := p.executor.config.Timeout; limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, limit, fault.New(fault.Exhausted, "the statement ran longer than %s", limit).Change("skua.sql.timeout"))
		context.AfterFunc(ctx, stop)
	}
	c, err := p.connect(ctx, i.running)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	out := &stream{program: p, connection: c, started: p.start(ctx), cancel: cancel, allocator: account.Allocator(), account: account}
	out.rest.account, out.rest.held = account, func() int64 { return p.executor.share(i) }
	out.references.Store(1)
	out.unwatch = watch(ctx, c)
	out.rendered = p.render(out.started.id)
	if err := i.running.provide(out.rendered.Exact); err != nil {
		out.Release()
		return nil, err
	}
	for _, in := range p.tables {
		resource.ProgressOf(ctx).Expect(in.splits())
	}
	if err := out.begin(); err != nil {
		err = out.started.run.cause(translated(err, out.rendered))
		out.Release()
		return nil, err
	}
	return out, nil
}

// stream gives the rows of a running statement. It is for one goroutine.
type stream struct {
	program    *program
	connection *connection
	rendered   *dialect.Rendered
	statement  *prepared
	chunks     *chunks
	started    *started
	account    *resource.Statement
	rest       rest
	allocator  allocator
	cancel     context.CancelCauseFunc
	unwatch    func()
	done       func()
	references atomic.Int64

	batch  arrow.RecordBatch
	ended  bool
	failed error
}

var _ array.RecordReader = (*stream)(nil)

// begin prepares and starts the statement.
func (s *stream) begin() (err error) {
	if s.statement, err = s.connection.prepare(s.rendered.Text); err != nil {
		return err
	}
	s.chunks, err = s.statement.run(s.program.output.engine)
	return err
}

func (s *stream) Schema() *arrow.Schema          { return s.program.output.schema }
func (s *stream) RecordBatch() arrow.RecordBatch { return s.batch }
func (s *stream) Record() arrow.RecordBatch      { return s.batch }
func (s *stream) Err() error                     { return s.failed }
func (s *stream) Retain()                        { s.references.Add(1) }

// Next gives the next batch, made of many of the engine's small ones.
func (s *stream) Next() (more bool) {
	s.rest.end()
	defer func() {
		if more {
			s.rest.begin()
		}
	}()
	s.drop()
	if s.ended || s.failed != nil {
		return false
	}
	if s.failed = s.account.Err(); s.failed != nil {
		return false
	}
	g := newGathering(s.program.output)
	defer g.release()
	for !g.full() && !s.ended {
		chunk, err := s.chunks.next()
		if err != nil {
			s.failed = s.started.run.cause(translated(err, s.rendered))
			return false
		}
		if chunk == nil {
			s.ended = true
			break
		}
		g.add(chunk)
	}
	if err := s.started.run.ctx.Err(); err != nil {
		s.failed = s.started.run.cause(err)
		return false
	}
	s.batch, s.failed = g.batch(s.allocator)
	return s.batch != nil
}

func (s *stream) drop() {
	if s.batch != nil {
		s.batch.Release()
		s.batch = nil
	}
}

// Release ends the statement: what runs is interrupted, and what was opened is closed before it returns.
func (s *stream) Release() {
	if s.references.Add(-1) > 0 {
		return
	}
	s.rest.end()
	s.drop()
	if !s.ended {
		s.cancel(context.Canceled)
	}
	if s.chunks != nil {
		s.chunks.close()
	}
	if s.statement != nil {
		s.statement.close()
	}
	s.unwatch()
	s.connection.close()
	s.cancel(nil)
	if s.program.explained.Load() {
		s.program.tell(s.started)
	}
	s.started.end()
	if s.done != nil {
		s.done()
	}
}
