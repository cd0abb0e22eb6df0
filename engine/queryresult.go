package engine

import (
	"context"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/resource"
)

// queryResult is a compiled query before its rows are read: one part for each set of parameters, in order.
type queryResult struct{ outcome }

var _ Result = (*queryResult)(nil)

func (r *queryResult) Parts() int    { return len(r.planned.programs) }
func (r *queryResult) Ordered() bool { return true }
func (r *queryResult) Rows() int64   { return -1 }

func (r *queryResult) Open(ctx context.Context, from, to int) (array.RecordReader, error) {
	if err := checkParts(from, to, r.Parts()); err != nil {
		return nil, err
	}
	var pieces []piece
	for _, p := range r.planned.programs[from:to] {
		pieces = append(pieces, programRun{p})
	}
	return r.enter(ctx, queryKind, partsText(from, to, r.Parts()), pieces)
}

// programRun is a run of one program.
type programRun struct{ program Program }

func (p programRun) open(ctx context.Context) (batches, error) {
	reader, err := p.program.Open(ctx)
	if err != nil {
		return nil, err
	}
	return programBatches{reader}, nil
}

// programBatches are those of a program's reader, which keeps its own of each.
type programBatches struct{ reader array.RecordReader }

func (p programBatches) next() (arrow.RecordBatch, error) {
	if !p.reader.Next() {
		return nil, p.reader.Err()
	}
	batch := p.reader.RecordBatch()
	batch.Retain()
	return batch, nil
}

func (p programBatches) release() { p.reader.Release() }

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
		if err := exhaust(s.readQuery(ctx, c)); err != nil {
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

// readQuery opens a compiled statement on the account of the context, within a statement that has its place in memory.
func (s *statement) readQuery(ctx context.Context, c *compiled) (*reader, error) {
	o := s.outcome(ctx, &planned{schema: c.program.Schema()})
	return o.read(ctx, []piece{programRun{c.program}}, nil)
}
