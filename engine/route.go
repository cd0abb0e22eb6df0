package engine

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/scan"
)

// route is how a statement's rows come about: a scan of one source, or a program of the Executor.
type route interface {
	kind() string // what its statements are to the log
	// bind resolves a statement's names for one set of parameters, which is a batch of one row; nil leaves them unbound.
	bind(ctx context.Context, s *statement, set arrow.RecordBatch) (bound, error)
	// plan plans statements of one schema that the route bound.
	plan(ctx context.Context, schema *arrow.Schema, all []bound) (*planned, error)
}

// bound is a statement whose names are resolved, for one set of parameters.
type bound interface {
	marks() *arrow.Schema        // one field for each ?
	columns() *arrow.Schema      // of its rows
	settings() map[string]string // of the session that it reads by
	// pins fixes the tables that it reads; p is what was planned, nil where nothing is yet.
	pins(p *planned) []PinnedTable
	explain(ctx context.Context, s *statement, analyze bool) (*scan.Explanation, error)
}

// scanRoute binds a SELECT over one source.
type scanRoute struct{ tree *syntax.Select }

func (scanRoute) kind() string { return scanKind }

func (r scanRoute) bind(ctx context.Context, s *statement, set arrow.RecordBatch) (bound, error) {
	var params []sparktype.Value
	if set != nil {
		sets, err := arguments(int(set.NumCols()), set)
		if err != nil {
			return nil, err
		}
		params = sets[0]
	}
	q, err := s.bind(ctx, r.tree, params)
	if err != nil {
		return nil, err
	}
	return q, nil
}

func (scanRoute) plan(ctx context.Context, schema *arrow.Schema, all []bound) (*planned, error) {
	p := &planned{schema: schema}
	for _, b := range all {
		s := set{query: b.(*query)}
		if s.query.source != nil {
			var err error
			if s.plan, err = s.query.source.Plan(ctx, s.query.request); err != nil {
				return nil, s.query.found.planning(err)
			}
		}
		p.sets = append(p.sets, s)
	}
	return p, nil
}

func (q *query) marks() *arrow.Schema        { return q.parameters }
func (q *query) columns() *arrow.Schema      { return q.schema }
func (q *query) settings() map[string]string { return q.used }

func (q *query) pins(p *planned) []PinnedTable {
	if q.found == nil {
		return nil
	}
	table := q.found.pin()
	if p != nil && len(p.sets) == 1 {
		table.listed(p.sets[0].plan)
	}
	return []PinnedTable{table}
}

func (q *query) explain(ctx context.Context, s *statement, analyze bool) (*scan.Explanation, error) {
	return s.explain(ctx, q, analyze)
}

// queryRoute gives a statement to the Executor. cause is why it is no scan: where the Executor takes it for no SQL either, that is what is told.
type queryRoute struct{ cause error }

func (queryRoute) kind() string { return queryKind }

func (r queryRoute) bind(ctx context.Context, s *statement, set arrow.RecordBatch) (bound, error) {
	c, err := s.compile(ctx, set, r.cause)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (queryRoute) plan(_ context.Context, schema *arrow.Schema, all []bound) (*planned, error) {
	p := &planned{schema: schema, programs: []Program{}}
	for _, b := range all {
		p.programs = append(p.programs, b.(*compiled).program)
	}
	return p, nil
}

func (c *compiled) marks() *arrow.Schema        { return c.program.Parameters() }
func (c *compiled) columns() *arrow.Schema      { return c.program.Schema() }
func (c *compiled) settings() map[string]string { return c.resolved.used }
func (c *compiled) pins(*planned) []PinnedTable { return c.resolved.pins }

func (c *compiled) explain(context.Context, *statement, bool) (*scan.Explanation, error) {
	for _, s := range c.program.Scans() {
		return s.Scan, nil
	}
	return &scan.Explanation{Kind: "constants"}, nil
}
