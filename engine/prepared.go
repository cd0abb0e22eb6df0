package engine

import (
	"context"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan"
)

// prepare finds out what kind of statement a text is and binds it.
func (s *statement) prepare(ctx context.Context) (Prepared, error) {
	c, err := parseCommand(s.text)
	if err != nil {
		return nil, err
	}
	if c != nil {
		if dialect, _ := s.state.Get(dialectKey); c.spark != nil && strings.EqualFold(dialect, "spark") {
			c.columns = c.spark
		}
		return &preparedCommand{statement: s, command: c}, nil
	}
	tree, err := s.parse()
	if err == nil {
		var p Prepared
		if p, err = s.prepareSelect(ctx, tree); err == nil {
			return p, nil
		}
	}
	if s.engine.executes(err) {
		return s.prepareQuery(ctx, err)
	}
	if s.laterally(tree, err) {
		p, queryErr := s.prepareQuery(ctx, err)
		if queryErr == nil || !s.laterally(tree, queryErr) {
			return p, queryErr
		}
	}
	return nil, err
}

func (s *statement) parse() (*syntax.Select, error) {
	p := syntax.NewParser(s.text)
	tree, err := p.Select()
	if err == nil {
		err = p.End()
	}
	return tree, invalid(err)
}

var noParameters = arrow.NewSchema(nil, nil)

// preparedCommand is a command that has not run yet.
type preparedCommand struct {
	statement *statement
	command   *command
}

var _ Prepared = (*preparedCommand)(nil)

func (p *preparedCommand) IsUpdate() bool { return p.command.update }
func (p *preparedCommand) Close() error   { return nil }

// Parameters are of no known type: a command's are found out when it runs.
func (p *preparedCommand) Parameters() *arrow.Schema {
	if p.command.marks == 0 {
		return noParameters
	}
	in := inference{types: make([]arrow.DataType, p.command.marks)}
	return in.schema()
}

func (p *preparedCommand) Schema() *arrow.Schema {
	if p.command.columns == affectedRows {
		return nil
	}
	return p.command.columns
}

func (p *preparedCommand) Run(ctx context.Context, args arrow.RecordBatch) (Result, error) {
	if p.command.marks > 0 {
		return p.runSets(ctx, args)
	}
	if args != nil && args.NumCols() > 0 {
		return nil, fault.New(fault.Invalid, "%s has no parameters, %s bound", p.command.name, werePlural(int(args.NumCols()), "value"))
	}
	return p.statement.runCommand(ctx, p.command, newID(), false)
}

// runSets has the command's effect once for each set of parameters, in order, and gives the last result.
func (p *preparedCommand) runSets(ctx context.Context, args arrow.RecordBatch) (last Result, err error) {
	sets, err := arguments(p.command.marks, args)
	if err != nil {
		return nil, err
	}
	if len(sets) == 0 {
		return nil, fault.New(fault.Invalid, "no set of parameters is bound")
	}
	for i, set := range sets {
		one := args.NewSlice(int64(i), int64(i)+1)
		defer one.Release()
		s := *p.statement
		s.values, s.arguments = set, one
		if last != nil {
			last.Close()
		}
		if last, err = s.runCommand(ctx, p.command, newID(), false); err != nil {
			return nil, err
		}
	}
	return last, nil
}

func (p *preparedCommand) Explain(context.Context, bool) (*scan.Explanation, error) {
	return &scan.Explanation{Source: p.command.name, Kind: "command"}, nil
}

// runCommand has a command's effect, makes its rows, and decides how its ticket keeps them. Rows that are made again for a ticket are no statement
// of their own to the log.
func (s *statement) runCommand(ctx context.Context, c *command, id string, again bool) (Result, error) {
	started := s.engine.config.Clock()
	ctx, account := s.account(ctx, id)
	s = s.fresh()
	pin := s.pin(id)
	rows, err := c.run(ctx, s)
	if err == nil {
		account.Counters.Rows.Add(int64(len(rows)))
	}
	if err != nil || !again {
		s.engine.lines.write(s.engine.lines.ended(c.name, pin, account, started, err))
	}
	if err != nil {
		return nil, err
	}
	v := newValues(c.columns, rows, c.update)
	outcome, err := v.encode()
	if err != nil {
		return nil, err
	}
	if c.update || c.moment || len(outcome) <= maxOutcome {
		pin.Outcome, pin.Text = outcome, ""
	} else if c.views {
		pin.Views = s.state.Objects.Views()
	}
	v.pin = pin
	return v, nil
}

// preparedSelect is a SELECT whose names were resolved when it was prepared. Each run resolves them anew, but for the first one soon
// after: a statement that is prepared and run at once loads its table once.
type preparedSelect struct {
	statement  *statement
	tree       *syntax.Select
	parameters *arrow.Schema
	schema     *arrow.Schema

	mu    sync.Mutex
	first *query // what preparing bound; nil once used, and where parameters are to be bound
}

var _ Prepared = (*preparedSelect)(nil)

func (s *statement) prepareSelect(ctx context.Context, tree *syntax.Select) (Prepared, error) {
	q, err := s.bind(ctx, tree, nil)
	if err != nil {
		return nil, err
	}
	p := &preparedSelect{statement: s, tree: tree, parameters: q.parameters, schema: q.schema}
	if q.parameters.NumFields() == 0 {
		p.first = q
	}
	return p, nil
}

func (p *preparedSelect) IsUpdate() bool            { return false }
func (p *preparedSelect) Parameters() *arrow.Schema { return p.parameters }
func (p *preparedSelect) Schema() *arrow.Schema     { return p.schema }
func (p *preparedSelect) Close() error              { return nil }

func (p *preparedSelect) Run(ctx context.Context, args arrow.RecordBatch) (Result, error) {
	s := p.statement
	id := newID()
	ctx, account := s.account(ctx, id)
	started := s.engine.config.Clock()
	result, err := within(ctx, account, func() (Result, error) { return p.run(ctx, args, id) })
	line := s.engine.lines.ended(scanKind, s.pin(id), account, started, err)
	if err != nil {
		s.engine.lines.write(line)
		return nil, err
	}
	s.engine.lines.plan(line)
	return result, nil
}

// run scans, unless the bound values make more of the statement than a scan: a pattern, a value that casts the column, a list.
func (p *preparedSelect) run(ctx context.Context, args arrow.RecordBatch, id string) (Result, error) {
	result, err := p.scan(ctx, args, id)
	if p.parameters.NumFields() > 0 && p.statement.engine.executes(err) {
		q := &preparedQuery{statement: p.statement, cause: err, parameters: p.parameters}
		return q.run(ctx, args, id)
	}
	return result, err
}

func (p *preparedSelect) scan(ctx context.Context, args arrow.RecordBatch, id string) (Result, error) {
	sets, err := arguments(p.parameters.NumFields(), args)
	if err != nil {
		return nil, err
	}
	queries, s, err := p.bound(ctx, sets)
	if err != nil {
		return nil, err
	}
	pin := s.pin(id)
	if pin.Arguments, err = encodeArguments(args); err != nil {
		return nil, err
	}
	schema := p.schema
	if len(queries) > 0 {
		schema = queries[0].schema
	}
	return s.run(ctx, schema, queries, pin)
}

// bound gives the query for each set of parameters and the statement they belong to, whose clock is the run's. All of them read one state
// of the table.
func (p *preparedSelect) bound(ctx context.Context, sets [][]constant) ([]*query, *statement, error) {
	now := p.statement.engine.config.Clock()
	p.mu.Lock()
	first := p.first
	p.first = nil
	p.mu.Unlock()
	if first != nil && now.Sub(p.statement.clock) < freshFor {
		return []*query{first}, p.statement, nil
	}
	s := *p.statement
	s.clock = now
	queries, err := s.bindSets(ctx, p.tree, sets)
	if err != nil {
		return nil, nil, err
	}
	if len(queries) > 0 && !sameColumns(p.schema, queries[0].schema) {
		return nil, nil, fault.New(fault.Invalid, "the columns of the statement changed since it was prepared: prepare it again")
	}
	return queries, &s, nil
}

// sameColumns reports whether a run gives the columns that preparing promised. A selected parameter has no type before it has a value.
func sameColumns(promised, given *arrow.Schema) bool {
	if promised.NumFields() != given.NumFields() {
		return false
	}
	for i, f := range promised.Fields() {
		if f.Type.ID() != arrow.NULL && !f.Equal(given.Field(i)) {
			return false
		}
	}
	return true
}

// bindSets binds a SELECT once for each set of parameters. The table that the first one finds is pinned for the others.
func (s *statement) bindSets(ctx context.Context, tree *syntax.Select, sets [][]constant) ([]*query, error) {
	var out []*query
	for _, params := range sets {
		q, err := s.bind(ctx, tree, params)
		if err != nil {
			return nil, err
		}
		if len(out) > 0 && !q.schema.Equal(out[0].schema) {
			return nil, fault.New(fault.Invalid, "the sets of parameters give columns of different types")
		}
		if s.pinned == nil && q.found != nil {
			pinned := *s
			pinned.pinned = []PinnedTable{q.found.pin()}
			s = &pinned
		}
		out = append(out, q)
	}
	return out, nil
}

func (p *preparedSelect) Explain(ctx context.Context, analyze bool) (*scan.Explanation, error) {
	s := p.statement
	ctx, account := s.account(ctx, newID())
	return within(ctx, account, func() (*scan.Explanation, error) {
		queries, s, err := p.bound(ctx, [][]constant{unbound(p.parameters)})
		if err != nil {
			return nil, err
		}
		return s.explain(ctx, queries[0], analyze)
	})
}
