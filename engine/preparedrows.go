package engine

import (
	"context"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan"
)

// preparedRows is a statement with rows, whose names were resolved when it was prepared. Each run resolves them anew, but for the first one soon after: a statement that is
// prepared and run at once loads its tables once.
type preparedRows struct {
	statement  *statement
	route      route
	parameters *arrow.Schema
	schema     *arrow.Schema

	mu    sync.Mutex
	first bound // what preparing bound; nil once used, and where parameters are to be bound
}

var _ Prepared = (*preparedRows)(nil)

func (s *statement) prepareRows(ctx context.Context, r route) (Prepared, error) {
	ctx, account := s.account(ctx, newID())
	b, err := within(ctx, account, func() (bound, error) { return r.bind(ctx, s, nil) })
	if err != nil {
		return nil, err
	}
	p := &preparedRows{statement: s, route: r, parameters: b.marks(), schema: b.columns()}
	if p.parameters.NumFields() == 0 {
		p.first = b
	}
	return p, nil
}

func (p *preparedRows) IsUpdate() bool            { return false }
func (p *preparedRows) Parameters() *arrow.Schema { return p.parameters }
func (p *preparedRows) Schema() *arrow.Schema     { return p.schema }
func (p *preparedRows) Close() error              { return nil }

// Run plans the statement by its route. Bound values may make more of it than a scan: a pattern, a value that casts the column, a list.
func (p *preparedRows) Run(ctx context.Context, args arrow.RecordBatch) (Result, error) {
	s, r := p.statement, p.route
	id := newID()
	ctx, account := s.account(ctx, id)
	started := s.engine.config.Clock()
	result, err := within(ctx, account, func() (Result, error) {
		result, err := p.run(ctx, r, args, id)
		if p.parameters.NumFields() == 0 || r.kind() != scanKind || !s.engine.executes(err) {
			return result, err
		}
		r = queryRoute{err}
		return p.run(ctx, r, args, id)
	})
	line := s.engine.lines.ended(r.kind(), s.pin(id), account, started, err)
	if err != nil {
		s.engine.lines.write(line)
		return nil, err
	}
	s.engine.lines.plan(line)
	return result, nil
}

// run plans the statement and fixes it in its pin.
func (p *preparedRows) run(ctx context.Context, r route, args arrow.RecordBatch, id string) (Result, error) {
	if err := countArguments(p.parameters.NumFields(), args); err != nil {
		return nil, err
	}
	s, sets, err := p.bind(ctx, r, args)
	if err != nil {
		return nil, err
	}
	if p.parameters.NumFields() == 0 || r.kind() == scanKind {
		if !sameColumns(p.schema, sets.first.columns()) {
			return nil, fault.New(fault.Invalid, "the columns of the statement changed since it was prepared: prepare it again")
		}
	}
	pin := s.pin(id)
	if pin.Arguments, err = encodeArguments(args); err != nil {
		return nil, err
	}
	planned, err := r.plan(ctx, sets.first.columns(), sets.all)
	if err != nil {
		return nil, err
	}
	used := map[string]string{}
	for _, b := range sets.all {
		for k, v := range b.settings() {
			used[k] = v
		}
	}
	pin.Clock, pin.Settings, pin.Tables = s.clock, s.settings(used), sets.first.pins(planned)
	if key, err := pin.key(); err == nil {
		s.engine.plans.put(key, planned)
	}
	return s.engine.result(planned, pin, resource.From(ctx)), nil
}

// bind gives what each set of parameters makes of the statement, whose clock is the run's.
func (p *preparedRows) bind(ctx context.Context, r route, args arrow.RecordBatch) (*statement, boundSets, error) {
	now := p.statement.engine.config.Clock()
	p.mu.Lock()
	first := p.first
	p.first = nil
	p.mu.Unlock()
	if first != nil && now.Sub(p.statement.clock) < freshFor {
		return p.statement, boundSets{first, []bound{first}}, nil
	}
	s := *p.statement
	s.clock = now
	sets, err := s.bindSets(ctx, r, args)
	return &s, sets, err
}

// sameColumns reports whether a run gives the columns that preparing promised. A selected parameter has no type before it has a value.
func sameColumns(promised, given *arrow.Schema) bool {
	if promised.NumFields() != given.NumFields() {
		return false
	}
	for i, f := range promised.Fields() {
		if f.Type.ID() != arrow.NULL && !sameColumn(f, given.Field(i)) {
			return false
		}
	}
	return true
}

// sameColumn compares what readers see: whose column it is may be told in one plan of a statement and not in another.
func sameColumn(a, b arrow.Field) bool {
	a.Metadata, b.Metadata = arrow.Metadata{}, arrow.Metadata{}
	return a.Equal(b)
}

// boundSets is a statement bound once for each set of parameters. Without sets none is to run, and first only tells the columns.
type boundSets struct {
	first bound
	all   []bound
}

// bindSets binds a statement once for each set of parameters; nil leaves them unbound. The tables that the first one finds are pinned for the others.
func (s *statement) bindSets(ctx context.Context, r route, args arrow.RecordBatch) (out boundSets, err error) {
	sets := []arrow.RecordBatch{nil}
	if args != nil && args.NumCols() > 0 {
		sets = nil
		for i := range args.NumRows() {
			one := args.NewSlice(i, i+1)
			defer one.Release()
			sets = append(sets, one)
		}
	}
	for _, set := range sets {
		b, err := r.bind(ctx, s, set)
		if err != nil {
			return out, err
		}
		if out.first == nil {
			out.first = b
		}
		if !slices.EqualFunc(b.columns().Fields(), out.first.columns().Fields(), sameColumn) {
			return out, fault.New(fault.Invalid, "the sets of parameters give columns of different types")
		}
		if s.pinned == nil {
			pinned := *s
			pinned.pinned = append([]PinnedTable{}, b.pins(nil)...)
			s = &pinned
		}
		out.all = append(out.all, b)
	}
	if out.first == nil {
		out.first, err = r.bind(ctx, s, nil)
	}
	return out, err
}

// replanBy binds and plans a pinned statement by a route.
func (s *statement) replanBy(ctx context.Context, r route, args arrow.RecordBatch) (*planned, error) {
	sets, err := s.bindSets(ctx, r, args)
	if err != nil {
		return nil, err
	}
	return r.plan(ctx, sets.first.columns(), sets.all)
}

func (p *preparedRows) Explain(ctx context.Context, analyze bool) (*scan.Explanation, error) {
	ctx, account := p.statement.account(ctx, newID())
	return within(ctx, account, func() (*scan.Explanation, error) {
		s, sets, err := p.bind(ctx, p.route, nil)
		if err != nil {
			return nil, err
		}
		return sets.first.explain(ctx, s, analyze)
	})
}
