package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

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
		return nil, fault.New(fault.Invalid, "CREATE TEMPORARY VIEW or the corresponding Dataset APIs only accept single-part view names, but got: %s.", syntax.BackQuote(syntax.Texts(name)...)).
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
	if parameterMarks(v.Text) > 0 {
		return nil, parameterMarker("CREATE VIEW body")
	}
	return effect("CREATE TEMPORARY VIEW", func(ctx context.Context, s *statement) error {
		if _, known := s.state.Objects.View(v.Name); known && !replace {
			if lenient {
				return nil
			}
			return fault.New(fault.Invalid, "Cannot create the temporary view %s because it already exists. Choose a different name, drop or replace the existing view, "+
				"or add the IF NOT EXISTS clause to tolerate pre-existing views.", syntax.BackQuote(v.Name)).With("TEMP_TABLE_OR_VIEW_ALREADY_EXISTS", "42P07")
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
			return columnExists(name.Text).At(position(name.Pos))
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
	plain := v
	plain.Columns, plain.Comments = nil, nil
	inner.state.Objects = s.state.Objects.WithView(plain)
	if _, _, err := inner.tempViewColumns(ctx, plain); err != nil {
		return err
	}
	inner.text = v.Text // as SELECT * of two columns of a name would tell them apart
	c, err := inner.compile(ctx, nil, nil)
	if err != nil {
		return err
	}
	if err := s.viewNames(v, c.program.Schema()); err != nil {
		return err
	}
	return s.keep(func(o session.Objects) session.Objects { return o.WithView(v) })
}

// viewNames tests that the columns of a view fit those of its query and that no two have one name.
func (s *statement) viewNames(v session.View, data *arrow.Schema) error {
	given := make([]string, data.NumFields())
	for i, f := range data.Fields() {
		given[i] = f.Name
	}
	if n := len(v.Columns); n > 0 {
		if n == len(given) {
			return nil
		}
		reason, condition := "not enough", "NOT_ENOUGH_DATA_COLUMNS"
		if n < len(given) {
			reason, condition = "too many", "TOO_MANY_DATA_COLUMNS"
		}
		return fault.New(fault.Invalid, "Cannot create view %s, the reason is %s data columns:\nView columns: %s.\nData columns: %s.", syntax.BackQuote(v.Name), reason,
			quotedEach(v.Columns), quotedEach(given)).With("CREATE_VIEW_COLUMN_ARITY_MISMATCH."+condition, "21S01")
	}
	for i, name := range given {
		if slices.ContainsFunc(given[:i], func(c string) bool { return c == name || !s.caseSensitive() && strings.EqualFold(c, name) }) {
			return columnExists(name)
		}
	}
	return nil
}

// quotedEach spells a list of names as Spark's errors do.
func quotedEach(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = syntax.BackQuote(n)
	}
	return strings.Join(out, ", ")
}

func columnExists(name string) *fault.Error {
	return fault.New(fault.Invalid, "The column %s already exists. Choose another name or rename the existing column.", syntax.BackQuote(name)).
		With("COLUMN_ALREADY_EXISTS", "42711")
}

// parseDropView reads DROP VIEW [IF EXISTS] name: a temporary view goes, one of a catalog stays.
func parseDropView(p *syntax.Parser) (*command, error) {
	lenient := p.Keyword("IF", "EXISTS")
	name, err := p.Name()
	if err != nil {
		return nil, err
	}
	return effect("DROP VIEW", func(ctx context.Context, s *statement) error {
		if _, ok := s.tempView(syntax.Texts(name)); ok {
			return s.keep(func(o session.Objects) session.Objects { return o.WithoutView(name[0].Text) })
		}
		_, err := s.table(ctx, syntax.Texts(name))
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
	out := &View{Name: syntax.BackQuote(v.Name), Text: tableTerms(v.Text), Dialect: "ansi"}
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
	out.Variable = inner.variables()
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

// tempViewColumns gives the columns of a temporary view and their comments, which may be fewer.
func (s *statement) tempViewColumns(ctx context.Context, v session.View) (*arrow.Schema, []string, error) {
	inner := *s
	inner.text = "SELECT * FROM " + syntax.QuoteName([]string{v.Name})
	c, err := inner.compile(ctx, nil, nil)
	if err != nil {
		return nil, nil, err
	}
	return c.program.Schema(), v.Comments, nil
}

// permanent refuses a command that Spark has for what a catalog keeps alone.
func (s *statement) permanent(command string, name []string) error {
	if _, ok := s.fresh().tempView(name); ok {
		return fault.New(fault.Invalid, "'%s' expects a permanent view but %s is a temp view.", command, syntax.BackQuote(name...)).
			With("EXPECT_PERMANENT_VIEW_NOT_TEMP", "42809").In(syntax.BackQuote(name...))
	}
	return nil
}

// shownTempViews gives the rows of SHOW TABLE EXTENDED for the temporary views, a fact a line. One that cannot be read any more says why.
func (s *statement) shownTempViews(ctx context.Context, match matcher) (rows []row) {
	s = s.fresh()
	for _, v := range s.state.Objects.Views() {
		if !match(v.Name) {
			continue
		}
		information := "Table: " + v.Name + "\nType: VIEW\nView Text: " + v.Text + "\n"
		if schema, _, err := s.tempViewColumns(ctx, v); err != nil {
			information += "Error: " + err.Error() + "\n"
		} else {
			information += "Schema: " + resultTree(schema) + "\n"
		}
		rows = append(rows, row{"", v.Name, true, information})
	}
	return rows
}

// refreshTempView refreshes the tables that a temporary view reads.
func (s *statement) refreshTempView(ctx context.Context, v session.View) error {
	inner := *s
	inner.text = "SELECT * FROM " + syntax.QuoteName([]string{v.Name})
	c, err := inner.compile(ctx, nil, nil)
	if err != nil {
		return err
	}
	for _, pin := range c.resolved.pins {
		if name, err := syntax.NewParser(pin.Name).Name(); err == nil && len(name) > 1 {
			s.engine.config.Catalogs.Refresh(name[0].Text, syntax.Texts(name[1:]))
		}
	}
	return nil
}
