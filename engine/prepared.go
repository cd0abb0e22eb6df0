package engine

import (
	"context"
	"strings"

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
	if err := s.substitution(); err != nil {
		return nil, err
	}
	tree, err := s.parse()
	if err == nil {
		var p Prepared
		if p, err = s.prepareRows(ctx, scanRoute{tree}); err == nil {
			return p, nil
		}
	}
	if s.engine.executes(err) {
		return s.prepareRows(ctx, queryRoute{err})
	}
	if s.laterally(tree, err) {
		p, queryErr := s.prepareRows(ctx, queryRoute{err})
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
