//go:build cgo

package duckdb

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/engine/duckdb/dialect"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// origins is the text that a table's name stands in: the statement's, or a view's.
type origins struct {
	view    string // empty: the statement
	of      int    // the number of the table that is the view
	resolve func(ctx context.Context, name syntax.TableRef) (engine.Table, error)
	words   map[string]bool
	star    bool
}

// about says which view an error comes from. Its place in the view's text is none in the statement's.
func (o *origins) about(err error) error {
	if o.view == "" {
		return err
	}
	return inView(o.view, err)
}

func inView(name string, err error) error {
	prefix := "in the text of view " + name + ": "
	var plain *fault.Error
	var parse *syntax.Error
	switch {
	case errors.As(err, &parse):
		return fault.New(fault.Invalid, "%s%s", prefix, parse.Message)
	case errors.As(err, &plain):
		out := *plain
		out.Message, out.Position = prefix+out.Message, fault.Position{}
		if out.Condition == "PARSE_SYNTAX_ERROR" {
			out.Condition = "" // it is not the statement's
		}
		return &out
	}
	return fault.Wrap(err, "in the text of view %s", name)
}

// inline puts a view's text into the place of a table. Its own tables are found later, as the view sees them.
func (p *program) inline(ctx context.Context, planning *connection, i int, v *engine.View) error {
	spark := v.Dialect == "spark"
	options := dialect.Options{Spark: spark, Name: p.query.Name, Rows: p.query.Rows, Constants: p.query.Constants, Clock: p.query.Clock, Zone: p.query.Zone,
		Nulls: spark != (p.query.Dialect == "spark")}
	q := p.query
	q.Text, q.Dialect, q.Resolve, q.Variable, q.Arguments = v.Text, v.Dialect, v.Resolve, v.Variable, nil
	var err error
	if options.Values, err = p.executor.viewVariables(ctx, q); err != nil {
		return inView(v.Name, err)
	}
	statement, err := p.executor.translate(ctx, q, options)
	if err != nil {
		return inView(v.Name, err)
	}
	if statement.Parameters > 0 {
		return fault.New(fault.Invalid, "the text of view %s has parameters", v.Name)
	}
	g, err := p.judge(planning, statement)
	if err != nil {
		return inView(v.Name, err)
	}
	var columns []dialect.Column
	for _, c := range v.Columns {
		columns = append(columns, dialect.Column{Name: c.Name, From: c.From, Type: c.Type})
	}
	first, err := p.statement.Inline(i, statement, columns)
	if err != nil {
		return inView(v.Name, err)
	}
	if len(p.statement.Tables) > maxExpanded {
		return fault.New(fault.Invalid, "with the texts of its views the statement reads more than %d tables", maxExpanded).With("FAILED_TO_PARSE_TOO_COMPLEX", "54001")
	}
	p.viewColumns[i] = v.Columns
	from := &origins{view: v.Name, of: i, resolve: v.Resolve, words: statement.Words, star: g.star || statement.Bare}
	for j := range statement.Tables {
		p.ctes[first+j] = g.ctes[j]
		p.origins[first+j] = from
	}
	return nil
}

// closed binds each view by itself, those in others first: a name that its text does not have is not looked for in the statement around it.
func (p *program) closed(ctx context.Context, c *connection) error {
	if len(p.views) == 0 {
		return nil
	}
	s := p.start(ctx)
	defer s.end()
	for i := len(p.statement.Tables) - 1; i >= 0; i-- {
		if p.views[i] == nil {
			continue
		}
		err := s.binds(c, "SELECT * FROM ", p.statement.RenderTable(i, p.spelling(s.id, dialect.Plain)))
		if err == nil {
			continue
		}
		if own := s.binds(c, "", p.statement.RenderInlined(i, p.spelling(s.id, dialect.Plain))); own != nil {
			return p.inTable(i, inView(syntax.QuoteName(p.views[i]), own))
		}
		return p.changed(i, inView(syntax.QuoteName(p.views[i]), err))
	}
	return nil
}

// binds says why a text cannot be bound.
func (s *started) binds(c *connection, before string, rendered *dialect.Rendered) error {
	statement, err := c.prepare(before + rendered.Text)
	if err != nil {
		return s.run.cause(translated(err, rendered))
	}
	statement.close()
	return nil
}

// inTable says which view an error is about, and where the statement names it.
func (p *program) inTable(view int, err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	out := f.In(syntax.QuoteName(p.views[view]))
	if p.origins[view] != nil {
		return out
	}
	ref := p.statement.Tables[view]
	return out.At(fault.Position{Line: ref.Pos().Line, Column: ref.Pos().Column})
}

// missing is the name in an error about a column.
var missing = regexp.MustCompile("^in the text of view .*?: (?:A column, variable, or function parameter with name `(.+?)` cannot be resolved|Table \"(skua_view)\" has [0-9]+ columns available)")

// changed says of a view whose text gives other columns than when the view was made which one it lacks, and what the view reads.
func (p *program) changed(view int, err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	parts := missing.FindStringSubmatch(f.Message)
	if parts == nil {
		return err
	}
	column, name := parts[1], syntax.QuoteName(p.views[view])
	if parts[2] != "" {
		column = p.viewColumns[view][len(p.viewColumns[view])-1].Name
	}
	var tables []string
	for i := range p.statement.Tables {
		if from, in := p.origins[i], p.tables[i]; from != nil && in != nil && from.of == view {
			tables = append(tables, in.table.Name)
		}
	}
	out := fault.New(fault.Invalid, "The SQL query of view %s has an incompatible schema change and column %s cannot be resolved: what it reads (%s) has no such column now. "+
		"Please try to re-create the view.", name, quote(column), strings.Join(tables, ", ")).With("INCOMPATIBLE_VIEW_SCHEMA_CHANGE", "51024")
	return p.inTable(view, out)
}
