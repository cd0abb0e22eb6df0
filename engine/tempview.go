package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/session"
)

// parseTempView reads what follows CREATE [OR REPLACE] TEMPORARY VIEW: [IF NOT EXISTS] name [(column [COMMENT 'text'], …)] [COMMENT 'text'] AS query.
func parseTempView(p *syntax.Parser, replace bool) (*command, error) {
	lenient := p.Keyword("IF", "NOT", "EXISTS")
	name, err := p.Name()
	if err != nil {
		return nil, err
	}
	if len(name) > 1 {
		return nil, fault.New(fault.Invalid, "CREATE TEMPORARY VIEW or the corresponding Dataset APIs only accept single-part view names, but got: %s.", quoted(texts(name))).
			With("TEMP_VIEW_NAME_TOO_MANY_NAME_PARTS", "428EK").At(position(name[0].Pos))
	}
	v := session.View{Name: name[0].Text}
	if p.Peek().Is("(") {
		if err := viewColumnNames(p, &v); err != nil {
			return nil, err
		}
	}
	if p.Keyword("COMMENT") {
		if _, err := p.String(); err != nil {
			return nil, err
		}
	}
	if p.Peek().Is("USING") {
		return nil, fault.New(fault.Denied, "Skua reads the tables of its catalogs only: CREATE TEMPORARY VIEW … USING is not supported")
	}
	if !p.Keyword("AS") {
		return nil, p.Unexpected()
	}
	if v.Text = p.Raw(); v.Text == "" {
		return nil, p.Unexpected()
	}
	return effect("CREATE TEMPORARY VIEW", func(ctx context.Context, s *statement) error {
		if _, known := s.state.Objects.View(v.Name); known && !replace {
			if lenient {
				return nil
			}
			return fault.New(fault.Invalid, "Cannot create the temporary view %s because it already exists. Choose a different name, drop or replace the existing view, "+
				"or add the IF NOT EXISTS clause to tolerate pre-existing views.", quoted([]string{v.Name})).With("TEMP_TABLE_OR_VIEW_ALREADY_EXISTS", "42P07")
		}
		return s.makeView(ctx, v)
	}), p.End()
}

// viewColumnNames reads a view's columns.
func viewColumnNames(p *syntax.Parser, v *session.View) error {
	p.Symbol("(")
	for len(v.Columns) == 0 || p.Symbol(",") {
		name, err := p.Ident()
		if err != nil {
			return err
		}
		comment := ""
		if p.Keyword("COMMENT") {
			if comment, err = p.String(); err != nil {
				return err
			}
		}
		if slices.ContainsFunc(v.Columns, func(c string) bool { return strings.EqualFold(c, name.Text) }) {
			return fault.New(fault.Invalid, "The column %s already exists. Choose another name or rename the existing column.", quoted([]string{name.Text})).
				With("COLUMN_ALREADY_EXISTS", "42711").At(position(name.Pos))
		}
		v.Columns, v.Comments = append(v.Columns, name.Text), append(v.Comments, comment)
	}
	if !p.Symbol(")") {
		return p.Unexpected()
	}
	return nil
}

// makeView keeps a temporary view once it is known that it can be read.
func (s *statement) makeView(ctx context.Context, v session.View) error {
	if s.engine.config.Executor == nil {
		return unsupported("CREATE TEMPORARY VIEW is not supported without an SQL engine")
	}
	v.Dialect, _ = s.state.Get(dialectKey)
	v.Catalog, v.Namespace = s.state.Catalog, slices.Clone(s.state.Namespace)
	inner := *s
	inner.state.Objects = s.state.Objects.WithView(v)
	inner.text = "SELECT * FROM " + syntax.QuoteName([]string{v.Name})
	c, err := inner.compile(ctx, nil, nil)
	if err != nil {
		return err
	}
	if n := c.program.Schema().NumFields(); len(v.Columns) > 0 && n != len(v.Columns) {
		return fault.New(fault.Invalid, "Cannot create view %s, the reason is that the query has %d columns and the view names %d.", quoted([]string{v.Name}), n, len(v.Columns)).
			With("CREATE_VIEW_COLUMN_ARITY_MISMATCH", "21S01")
	}
	return s.keep(func(o session.Objects) session.Objects { return o.WithView(v) })
}

// parseDropView reads DROP VIEW [IF EXISTS] name: a temporary view goes, one of a catalog stays.
func parseDropView(p *syntax.Parser) (*command, error) {
	lenient := p.Keyword("IF", "EXISTS")
	name, err := p.Name()
	if err != nil {
		return nil, err
	}
	return effect("DROP VIEW", func(ctx context.Context, s *statement) error {
		if _, ok := s.tempView(texts(name)); ok {
			return s.keep(func(o session.Objects) session.Objects { return o.WithoutView(name[0].Text) })
		}
		_, err := s.table(ctx, texts(name))
		switch {
		case err == nil || viewOf(err) != nil:
			return fault.New(fault.Denied, "Skua reads only: DROP VIEW is not supported")
		case fault.Is(err, fault.NotFound) && lenient:
			return nil
		}
		return err
	}), p.End()
}

// tempView gives the temporary view that a name means, which is one of a single part.
func (s *statement) tempView(name []string) (session.View, bool) {
	if len(name) != 1 {
		return session.View{}, false
	}
	return s.state.Objects.View(name[0])
}

// temporary gives a temporary view for the Executor.
func (s *statement) temporary(r *resolution, ref *syntax.TableRef, v session.View) (Table, error) {
	inner := *s
	out := &View{Name: quoted([]string{v.Name}), Text: v.Text, Dialect: "ansi"}
	if err := s.within(&inner, out.Name, ref); err != nil {
		return Table{}, err
	}
	if strings.EqualFold(v.Dialect, "spark") {
		out.Dialect = "spark"
	}
	inner.state.Catalog, inner.state.Namespace = v.Catalog, v.Namespace
	for i, c := range v.Columns {
		out.Columns = append(out.Columns, ViewColumn{Name: c, Doc: v.Comments[i]})
	}
	out.Resolve = func(ctx context.Context, ref syntax.TableRef) (Table, error) { return inner.resolve(ctx, r, &ref) }
	return Table{Name: v.Name, Parts: []string{v.Name}, View: out}, nil
}

// within makes a statement one in the text of a view: views are no deeper than they may be, and none is in itself.
func (s *statement) within(inner *statement, name string, ref *syntax.TableRef) error {
	if ref.At != nil || len(ref.Options) > 0 {
		return unsupported("%s is a view: time travel and options are for tables", name).In(name)
	}
	if slices.Contains(s.views, name) {
		return fault.New(fault.Invalid, "Recursive view %s detected (cycle: %s).", name, strings.Join(append(s.views, name), " -> ")).With("RECURSIVE_VIEW", "42K0H").In(name)
	}
	if len(s.views) >= maxViews {
		return fault.New(fault.Invalid, "The depth of view %s exceeds the maximum view resolution depth (%d).", name, maxViews).With("VIEW_EXCEED_MAX_NESTED_DEPTH", "54K00").In(name)
	}
	inner.views = append(slices.Clone(s.views), name)
	return nil
}

// describedTempView gives the rows of DESCRIBE for a temporary view.
func (s *statement) describedTempView(ctx context.Context, v session.View) ([]row, error) {
	inner := *s.fresh()
	inner.text = "SELECT * FROM " + syntax.QuoteName([]string{v.Name})
	c, err := inner.compile(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	var rows []row
	for i, f := range c.program.Schema().Fields() {
		comment := ""
		if i < len(v.Comments) {
			comment = v.Comments[i]
		}
		rows = append(rows, row{f.Name, sparkType(f.Type), orNull(comment)})
	}
	return rows, nil
}
