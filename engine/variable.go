package engine

import (
	"context"
	"encoding/hex"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/session"
)

// maxObjects bounds the variables and temporary views of a session by their number; their size is bounded with that of its settings.
const maxObjects = 1000

// variableName reads the name of a variable, with or without where all of them are.
func variableName(p *syntax.Parser) (string, error) {
	name, err := p.Name()
	if err != nil {
		return "", err
	}
	if plain := variableOf(syntax.Texts(name)); plain != "" {
		return plain, nil
	}
	return "", unresolvedVariable(syntax.BackQuote(syntax.Texts(name)...))
}

// variableOf gives the variable that a name means: x, session.x or system.session.x; empty: none can be called so.
func variableOf(parts []string) string {
	n := len(parts)
	switch {
	case n == 1, n == 2 && strings.EqualFold(parts[0], "session"),
		n == 3 && strings.EqualFold(parts[0], "system") && strings.EqualFold(parts[1], "session"):
		return parts[n-1]
	}
	return ""
}

func unresolvedVariable(name string) error {
	return fault.New(fault.Invalid, "Cannot resolve variable %s on search path `SYSTEM`.`SESSION`.", name).With("UNRESOLVED_VARIABLE", "42883")
}

// variableNames reads names with commas between them.
func variableNames(p *syntax.Parser) (names []string, err error) {
	for len(names) == 0 || p.Symbol(",") {
		name, err := variableName(p)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// parseDeclare reads DECLARE [OR REPLACE] [VARIABLE] name [, …] [type] [(DEFAULT | =) expression].
func parseDeclare(p *syntax.Parser) (*command, error) {
	replace := p.Keyword("OR", "REPLACE")
	if !p.Keyword("VARIABLE") {
		p.Keyword("VAR")
	}
	names, err := variableNames(p)
	if err != nil {
		return nil, err
	}
	typ := ""
	if t := p.Peek(); t.Kind == syntax.Word && !t.Is("DEFAULT") {
		from := t.Pos.Offset
		n, err := p.TypeName()
		if err != nil {
			return nil, err
		}
		if _, err := sparktype.Of(n); err != nil {
			return nil, err
		}
		typ = p.Since(from)
	}
	value := ""
	if p.Keyword("DEFAULT") || p.Symbol("=") {
		if value = p.Raw(); value == "" {
			return nil, p.Unexpected()
		}
	}
	if typ == "" && value == "" {
		return nil, p.Unexpected()
	}
	if parameterMarks(value) > 0 {
		return nil, parameterMarker("DEFAULT")
	}
	return effect("DECLARE VARIABLE", func(ctx context.Context, s *statement) error {
		for _, name := range names {
			if _, known := s.state.Objects.Variable(name); known && !replace {
				return fault.New(fault.Invalid, "Cannot create the variable %s because it already exists. Choose a different name, or drop or replace the existing variable.",
					syntax.BackQuote("system", "session", name)).With("VARIABLE_ALREADY_EXISTS", "42723")
			}
		}
		text := value
		if text == "" {
			text = "NULL"
		}
		given, err := s.evaluated(ctx, "SELECT "+castTo(text, typ))
		if err != nil {
			return err
		}
		return s.keep(func(o session.Objects) session.Objects {
			for _, name := range names {
				o = o.WithVariable(session.Variable{Name: name, Type: given[0].typ, Value: given[0].text, Default: text})
			}
			return o
		})
	}), p.End()
}

// parameterMarks counts the parameters in texts.
func parameterMarks(texts ...string) (n int) {
	for _, text := range texts {
		tokens, err := syntax.Tokens(text)
		if err != nil {
			continue // whoever reads the text says so
		}
		for _, t := range tokens {
			if t.Is("?") {
				n++
			}
		}
	}
	return n
}

// parameterMarker refuses parameters in what is kept longer than their values.
func parameterMarker(where string) error {
	return unsupported("The feature is not supported: Parameter markers are not allowed in %s.", where).
		With("UNSUPPORTED_FEATURE.PARAMETER_MARKER_IN_UNEXPECTED_STATEMENT", "0A000")
}

func castTo(text, typ string) string {
	if typ == "" {
		return "(" + text + ")"
	}
	return "CAST((" + text + ") AS " + typ + ")"
}

// effect makes a command that has an effect and no rows.
func effect(name string, run func(ctx context.Context, s *statement) error) *command {
	return &command{name: name, update: true, columns: affectedRows, run: func(ctx context.Context, s *statement) ([]row, error) { return noEffect, run(ctx, s) }}
}

// keep changes the session's objects, within their bounds.
func (s *statement) keep(change func(session.Objects) session.Objects) error {
	return s.session.Update(func(st session.State) (session.State, error) {
		before := st.Objects
		st.Objects = change(before)
		if st.Objects.Len() > before.Len() && st.Objects.Len() > maxObjects {
			return st, fault.New(fault.Exhausted, "a session has at most %d variables and temporary views", maxObjects)
		}
		if limit := settingsLimit(st); st.Objects.Bytes() > before.Bytes() && st.Objects.Bytes() > limit {
			return st, fault.New(fault.Exhausted, "the variables and temporary views of a session take at most %d bytes", limit).Change(session.SettingsSize)
		}
		return st, nil
	})
}

// parseSetVariable reads SET VAR name = (expression | DEFAULT) [, …] and SET VAR (name, …) = (query).
func parseSetVariable(p *syntax.Parser) (*command, error) {
	if p.Symbol("(") {
		return parseSetVariables(p)
	}
	var names, values []string
	for len(names) == 0 || p.Symbol(",") {
		name, err := variableName(p)
		if err != nil {
			return nil, err
		}
		if !p.Symbol("=") {
			return nil, p.Unexpected()
		}
		value := p.Until(",")
		if value == "" {
			return nil, p.Unexpected()
		}
		names, values = append(names, name), append(values, value)
	}
	c := effect("SET VARIABLE", func(ctx context.Context, s *statement) error {
		known, err := s.declared(names)
		if err != nil {
			return err
		}
		list := make([]string, len(names))
		for i, v := range known {
			value := values[i]
			if strings.EqualFold(value, "DEFAULT") {
				value = v.Default
			}
			list[i] = castTo(value, v.Type)
		}
		return s.assign(ctx, known, "SELECT "+strings.Join(list, ", "))
	})
	c.marks = parameterMarks(values...)
	return c, p.End()
}

// parseSetVariables reads what follows SET VAR (.
func parseSetVariables(p *syntax.Parser) (*command, error) {
	names, err := variableNames(p)
	if err != nil {
		return nil, err
	}
	if !p.Symbol(")") || !p.Symbol("=") || !p.Peek().Is("(") {
		return nil, p.Unexpected()
	}
	query := p.Raw()
	c := effect("SET VARIABLE", func(ctx context.Context, s *statement) error {
		known, err := s.declared(names)
		if err != nil {
			return err
		}
		list, columns := make([]string, len(known)), make([]string, len(known))
		for i, v := range known {
			columns[i] = "skua_c" + itoa(i)
			list[i] = castTo(columns[i], v.Type)
		}
		return s.assign(ctx, known, "SELECT "+strings.Join(list, ", ")+" FROM "+query+" AS skua_row("+strings.Join(columns, ", ")+")")
	})
	c.marks = parameterMarks(query)
	return c, p.End()
}

// declared gives the variables of names, each of which may stand once.
func (s *statement) declared(names []string) ([]session.Variable, error) {
	seen := map[string]bool{}
	var out []session.Variable
	for _, name := range names {
		v, ok := s.state.Objects.Variable(name)
		if !ok {
			return nil, unresolvedVariable(syntax.BackQuote(name))
		}
		if seen[strings.ToLower(name)] {
			return nil, fault.New(fault.Invalid, "The variable %s appears more than once in the assignment list: each may stand there once.", syntax.BackQuote(name)).
				With("DUPLICATE_ASSIGNMENTS", "42701")
		}
		seen[strings.ToLower(name)] = true
		out = append(out, v)
	}
	return out, nil
}

// assign gives variables the values of a query's one row; of no row NULL.
func (s *statement) assign(ctx context.Context, known []session.Variable, query string) error {
	given, err := s.evaluated(ctx, query)
	if err != nil {
		return err
	}
	return s.keep(func(o session.Objects) session.Objects {
		for i, v := range known {
			v.Value = "CAST(NULL AS " + v.Type + ")"
			if given != nil {
				v.Value = given[i].text
			}
			o = o.WithVariable(v)
		}
		return o
	})
}

// parseDropVariable reads DROP TEMPORARY VARIABLE [IF EXISTS] name.
func parseDropVariable(p *syntax.Parser) (*command, error) {
	lenient := p.Keyword("IF", "EXISTS")
	name, err := variableName(p)
	if err != nil {
		return nil, err
	}
	return effect("DROP VARIABLE", func(_ context.Context, s *statement) error {
		if _, ok := s.state.Objects.Variable(name); !ok && !lenient {
			return fault.New(fault.Invalid, "The variable %s cannot be found. Verify the spelling and correctness of the schema and catalog.",
				syntax.BackQuote("system", "session", name)).With("VARIABLE_NOT_FOUND", "42883")
		}
		return s.keep(func(o session.Objects) session.Objects { return o.WithoutVariable(name) })
	}), p.End()
}

// spelled is a value as SQL spells it, with its type.
type spelled struct{ typ, text string }

// evaluated runs a query of constants or one that gives a row at most, and spells its values; nil: there was no row.
func (s *statement) evaluated(ctx context.Context, text string) ([]spelled, error) {
	inner := *s
	inner.text = text
	row, err := inner.firstRow(ctx)
	if err != nil || row == nil {
		return nil, unplaced(err)
	}
	out := make([]spelled, len(row))
	for i, c := range row {
		if out[i], err = spellConstant(c); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// unplaced takes the place off an error: the text that it is in is not the client's.
func unplaced(err error) error {
	if f, ok := err.(*fault.Error); ok && f.Position.Line > 0 {
		out := *f
		out.Position = fault.Position{}
		return &out
	}
	return err
}

// firstRow gives the one row of the statement; nil: there is none. More rows are an error.
func (s *statement) firstRow(ctx context.Context) ([]sparktype.Value, error) {
	tree, err := s.parse()
	if err == nil {
		var q *query
		if q, err = s.bind(ctx, tree, s.values); err == nil && q.source == nil {
			var out []sparktype.Value
			for _, o := range q.outputs {
				out = append(out, o.constant)
			}
			return out, nil
		}
	}
	if err != nil && !s.engine.executes(err) && !s.laterally(tree, err) {
		return nil, err
	}
	if s.engine.config.Executor == nil {
		return nil, unsupported("a variable's value that is read from tables is not supported without an SQL engine")
	}
	c, err := s.compile(ctx, s.arguments, err)
	if err != nil {
		return nil, err
	}
	reader, err := s.readQuery(ctx, c)
	if err != nil {
		return nil, err
	}
	defer reader.Release()
	var out []sparktype.Value
	for reader.Next() {
		batch := reader.RecordBatch()
		if batch.NumRows() > 1 || out != nil && batch.NumRows() > 0 {
			return nil, fault.New(fault.Invalid, "More than one row returned by a subquery used as a row.").With("ROW_SUBQUERY_TOO_MANY_ROWS", "21000")
		}
		if batch.NumRows() == 0 {
			continue
		}
		sets, err := arguments(int(batch.NumCols()), batch)
		if err != nil {
			return nil, err
		}
		out = sets[0]
	}
	return out, reader.Err()
}

// spellConstant writes a value so that every dialect reads it back the same.
func spellConstant(c sparktype.Value) (spelled, error) {
	t := sparktype.Logical(c.Type)
	if arrow.IsNested(t.ID()) || t.ID() == arrow.EXTENSION {
		return spelled{}, unsupported("a variable of type %s is not supported", sparktype.Name(t))
	}
	typ := strings.ToUpper(sparktype.Name(t))
	switch t.ID() {
	case arrow.TIME32, arrow.TIME64, arrow.DURATION, arrow.INTERVAL_MONTH_DAY_NANO:
		return spelled{}, unsupported("a variable of type %s is not supported", sparktype.Name(t))
	case arrow.TIMESTAMP:
		if typ = "TIMESTAMP_NTZ"; sparktype.Zoned(t) {
			typ = "TIMESTAMP_LTZ"
		}
	}
	if c.Null() {
		if t.ID() == arrow.NULL {
			return spelled{"STRING", "CAST(NULL AS STRING)"}, nil
		}
		return spelled{typ, "CAST(NULL AS " + typ + ")"}, nil
	}
	switch v := c.Value.(type) {
	case []byte:
		return spelled{typ, "X'" + hex.EncodeToString(v) + "'"}, nil
	case string:
		return spelled{typ, textLiteral(v)}, nil
	}
	text := c.Plain()
	if sparktype.Zoned(t) {
		text += "+00:00"
	}
	return spelled{typ, "CAST(" + textLiteral(text) + " AS " + typ + ")"}, nil
}

// textLiteral spells a text for a statement.
func textLiteral(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}

// keywords are the functions without parentheses that come before a variable of their name, which session.x reads.
var keywords = map[string]bool{"current_catalog": true, "current_date": true, "current_schema": true, "current_time": true, "current_timestamp": true, "current_user": true,
	"localtimestamp": true, "session_user": true, "user": true}

// readVariable gives the session variable that a name means where it is read.
func readVariable(o session.Objects, parts []string) (session.Variable, bool) {
	if len(parts) == 1 && keywords[strings.ToLower(parts[0])] {
		return session.Variable{}, false
	}
	return o.Variable(variableOf(parts))
}

// variables gives the session's variables to an Executor; nil: there are none.
func (s *statement) variables() func(parts []string) (string, bool) {
	o := s.state.Objects
	if o.Len() == 0 {
		return nil
	}
	return func(parts []string) (string, bool) {
		v, ok := readVariable(o, parts)
		return v.Value, ok
	}
}

// Variable gives the value of a session variable; false: there is none of that name.
func (s *statement) Variable(parts []string) (sparktype.Value, bool) {
	v, ok := readVariable(s.state.Objects, parts)
	if !ok {
		return sparktype.Value{}, false
	}
	e, err := syntax.NewParser(v.Value).Expression()
	if err != nil {
		return sparktype.Value{}, false
	}
	c, err := s.binder(nil, nil, nil).Evaluate(e)
	return c, err == nil
}

// mentions are the objects of a session that a statement's text may read.
type mentions struct {
	variables map[string]string
	views     []session.View
}

// mentioned finds the objects that the statement names, and those that views name which it names.
func (s *statement) mentioned() (out mentions) {
	objects := s.state.Objects
	if objects.Len() == 0 {
		return out
	}
	seen := map[string]bool{}
	for texts := []string{s.text}; len(texts) > 0; texts = texts[1:] {
		tokens, err := syntax.Tokens(texts[0])
		if err != nil {
			continue
		}
		for _, t := range tokens {
			name := t.Text
			if t.Kind == syntax.Quoted {
				name = t.Name()
			}
			if t.Kind != syntax.Word && t.Kind != syntax.Quoted || seen[strings.ToLower(name)] {
				continue
			}
			if v, ok := objects.Variable(name); ok {
				if out.variables == nil {
					out.variables = map[string]string{}
				}
				out.variables[v.Name] = v.Value
				seen[strings.ToLower(name)] = true
			}
			if v, ok := objects.View(name); ok {
				out.views, texts = append(out.views, v), append(texts, v.Text)
				seen[strings.ToLower(name)] = true
			}
		}
	}
	return out
}
