package engine

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
)

// queryResult is a compiled query before its rows are read: one part for each set of parameters, in order.
type queryResult struct {
	engine  *Engine
	planned *planned
	pin     Pin
	account *resource.Statement
}

var _ Result = (*queryResult)(nil)

func (r *queryResult) Schema() *arrow.Schema { return r.planned.schema }
func (r *queryResult) Parts() int            { return len(r.planned.programs) }
func (r *queryResult) Ordered() bool         { return true }
func (r *queryResult) Rows() int64           { return -1 }
func (r *queryResult) Updated() int64        { return -1 }
func (r *queryResult) Pin() Pin              { return r.pin }
func (r *queryResult) Close() error          { return nil }

func (r *queryResult) Open(ctx context.Context, from, to int) (array.RecordReader, error) {
	if err := checkParts(from, to, r.Parts()); err != nil {
		return nil, err
	}
	line, leave, err := r.engine.begin(ctx, queryKind, r.pin, r.account, partsText(from, to, r.Parts()))
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

// open runs the programs one after the other; the line, unless it is nil, is written when the reader is released.
func (r *queryResult) open(ctx context.Context, from, to int, line *ended) (*queryReader, error) {
	out := &queryReader{result: r, ctx: resource.With(ctx, r.account), line: line, pending: r.planned.programs[from:to]}
	out.references.Store(1)
	if !out.advance() && out.failed != nil {
		err := out.failed
		out.Release()
		return nil, err
	}
	return out, nil
}

// queryReader gives the batches of programs, one after the other. It is for one goroutine.
type queryReader struct {
	result     *queryResult
	ctx        context.Context
	line       *ended
	leave      func() // gives the statement's place in the process's memory back; nil: another does
	pending    []Program
	current    array.RecordReader // nil: none
	batch      arrow.RecordBatch  // the current one's
	whole      bool
	failed     error
	references atomic.Int64
}

var _ array.RecordReader = (*queryReader)(nil)

func (r *queryReader) Schema() *arrow.Schema          { return r.result.Schema() }
func (r *queryReader) RecordBatch() arrow.RecordBatch { return r.batch }
func (r *queryReader) Record() arrow.RecordBatch      { return r.batch }
func (r *queryReader) Retain()                        { r.references.Add(1) }
func (r *queryReader) Err() error                     { return r.failed }

// Next gives the next batch.
func (r *queryReader) Next() (ok bool) {
	defer func() { ok = ok && r.failed == nil }()
	defer fault.Recover(&r.failed, fault.Internal, "read")
	r.count()
	r.batch = nil
	for r.failed == nil {
		if r.current != nil && r.current.Next() {
			r.batch = r.current.RecordBatch()
			return true
		}
		if r.current != nil {
			r.failed = r.current.Err()
		}
		if r.failed == nil && !r.advance() {
			r.whole = r.failed == nil
			return false
		}
	}
	return false
}

// advance starts the next program.
func (r *queryReader) advance() (opened bool) {
	defer fault.Recover(&r.failed, fault.Internal, "run")
	r.drop()
	if len(r.pending) == 0 {
		return false
	}
	next := r.pending[0]
	r.pending = r.pending[1:]
	r.current, r.failed = next.Open(r.ctx)
	if r.failed != nil {
		r.current = nil
	}
	return r.current != nil
}

func (r *queryReader) drop() {
	if r.current != nil {
		r.current.Release()
		r.current = nil
	}
}

func (r *queryReader) count() {
	if r.batch == nil {
		return
	}
	c := &r.result.account.Counters
	c.Rows.Add(r.batch.NumRows())
	c.Batches.Add(1)
	c.Bytes.Add(batchBytes(r.batch))
}

func (r *queryReader) Release() {
	if r.references.Add(-1) > 0 {
		return
	}
	r.batch = nil
	r.drop()
	if r.leave != nil {
		r.leave()
	}
	if r.line == nil {
		return
	}
	r.line.duration, r.line.err = r.result.engine.config.Clock().Sub(r.line.started), endingOf(r.ctx, r.failed, r.whole)
	r.result.engine.lines.write(*r.line)
}

// reportQuery compiles a statement and tells how it is run; with analyze it is run, its rows thrown away.
func (s *statement) reportQuery(ctx context.Context, text string, analyze bool, cause error) (*report, error) {
	clock := s.engine.config.Clock
	started := clock()
	fresh := *s.fresh()
	fresh.text = strings.TrimSpace(text)
	s = &fresh
	c, err := s.compile(ctx, nil, cause)
	if err != nil {
		return nil, err
	}
	compiledAt := clock()
	out := &report{}
	for _, f := range c.program.Schema().Fields() {
		out.Output = append(out.Output, reportColumn{f.Name, sparkType(f.Type)})
	}
	if out.Plan, err = c.program.Plan(ctx); err != nil {
		return nil, err
	}
	if analyze {
		if err := s.drainQuery(ctx, c); err != nil {
			return nil, err
		}
	}
	for _, sc := range c.program.Scans() {
		r := newScanReport(sc.Scan, c.resolved.wraps[sc.Scan.Source])
		r.Runtime = sc.Runtime
		r.Ignored = append(r.Ignored, c.resolved.ignored[sc.Scan.Source]...)
		out.Scans = append(out.Scans, r)
	}
	if analyze {
		out.Analyze = newRunReport(resource.From(ctx))
		out.Analyze.Stages = []stage{{"plan", compiledAt.Sub(started).Microseconds()}, {"run", clock().Sub(compiledAt).Microseconds()}}
	}
	return out, nil
}

// drainQuery runs a compiled statement on the account of the context.
func (s *statement) drainQuery(ctx context.Context, c *compiled) error {
	account := resource.From(ctx)
	r := &queryResult{engine: s.engine, planned: &planned{schema: c.program.Schema(), programs: []Program{c.program}}, pin: s.pin(account.ID), account: account}
	reader, err := r.open(ctx, 0, 1, nil)
	if err != nil {
		return err
	}
	defer reader.Release()
	for reader.Next() {
	}
	return reader.Err()
}
