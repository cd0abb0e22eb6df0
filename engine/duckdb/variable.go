//go:build cgo

package duckdb

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/engine/duckdb/dialect"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// maxVariables bounds how often a statement is compiled to find out where it reads session variables.
const maxVariables = 50

// Compile translates a statement, judges it, finds its tables, and plans. A name that is no column where it stands may be a session variable's: what
// names mean is for the engine to say, so the statement is compiled anew once it has said so.
func (e *executor) Compile(ctx context.Context, q engine.Query) (engine.Program, error) {
	p, _, err := e.compiled(ctx, q)
	return p, err
}

// compiled compiles a statement and gives the variables that it reads, by the offsets of their names.
func (e *executor) compiled(ctx context.Context, q engine.Query) (engine.Program, map[int]dialect.Value, error) {
	if q.Variable == nil {
		p, err := e.decided(ctx, q, nil)
		return p, nil, err
	}
	v := &variables{query: q, values: map[int]dialect.Value{}, columns: map[string]bool{}}
	resolve := q.Resolve
	q.Resolve = func(ctx context.Context, ref syntax.TableRef) (engine.Table, error) {
		t, err := resolve(ctx, ref)
		v.note(t)
		return t, err
	}
	for range maxVariables {
		p, err := e.decided(ctx, q, v.values)
		if err == nil {
			return p, v.values, nil
		}
		if !v.found(err) {
			return nil, nil, v.advised(err)
		}
	}
	return nil, nil, fault.New(fault.Invalid, "a statement reads session variables in at most %d places where columns of their names may be meant", maxVariables)
}

// viewsKey is the key in a context of the variables of views by their texts: a view of views asks for the same ones.
type viewsKey struct{}

// viewVariables finds the variables that the text of a temporary view reads, which is a statement of its own.
func (e *executor) viewVariables(ctx context.Context, q engine.Query) (map[int]dialect.Value, error) {
	tokens, err := syntax.Tokens(q.Text)
	if err != nil || q.Variable == nil || !slices.ContainsFunc(tokens, func(t syntax.Token) bool {
		_, known := q.Variable([]string{"session", t.Name()})
		return known && (t.Kind == syntax.Word || t.Kind == syntax.Quoted)
	}) {
		return nil, nil // what is no SQL is told of later
	}
	known := ctx.Value(viewsKey{}).(map[string]map[int]dialect.Value)
	if values, ok := known[q.Text]; ok {
		return values, nil
	}
	p, values, err := e.compiled(ctx, q)
	if err != nil {
		return nil, err
	}
	known[q.Text] = values
	return values, p.Close()
}

// decided compiles a statement that means no column of several.
func (e *executor) decided(ctx context.Context, q engine.Query, values map[int]dialect.Value) (engine.Program, error) {
	p, err := e.compile(ctx, q, values, false)
	if err != nil {
		return nil, err
	}
	if err := p.(*program).ambiguous(ctx, values); err != nil {
		return nil, err
	}
	return p, nil
}

// unresolved reports whether an error says that a name is no column.
func unresolved(f *fault.Error) bool { return strings.HasPrefix(f.Condition, "UNRESOLVED_COLUMN") }

// tokenAt gives the token at a place, -1: there is none.
func tokenAt(tokens []syntax.Token, at fault.Position) int {
	return slices.IndexFunc(tokens, func(t syntax.Token) bool { return t.Pos.Line == at.Line && t.Pos.Column == at.Column })
}

// variables are those that a statement reads, as far as they are known.
type variables struct {
	query   engine.Query
	values  map[int]dialect.Value // by the offset of the name
	columns map[string]bool       // of the tables, in lower case
	views   bool                  // some tables are views, whose columns are not among columns
}

// note keeps what a table's columns are called.
func (v *variables) note(t engine.Table) {
	if t.Source == nil {
		v.views = true
		return
	}
	for _, f := range append(t.Source.Schema().Fields(), t.Source.MetadataColumns().Fields()...) {
		v.columns[strings.ToLower(f.Name)] = true
	}
}

// found takes in that a name is no column where an error says so, and a variable's. Where no column can have the name, it is one in all places.
func (v *variables) found(err error) bool {
	var f *fault.Error
	if errors.As(err, &f) && missesGroups(f) {
		return v.foundUngrouped(f)
	}
	if !errors.As(err, &f) || !unresolved(f) || f.Position.Line == 0 {
		return false
	}
	tokens, scanErr := syntax.Tokens(v.query.Text)
	if scanErr != nil {
		return false
	}
	at := tokenAt(tokens, f.Position)
	if at < 0 {
		return false
	}
	value, known := v.valueAt(tokens, at)
	if _, tried := v.values[tokens[at].Pos.Offset]; !known || tried {
		return false
	}
	if value.Tokens > 1 || !v.nowhereElse(tokens, tokens[at].Name()) {
		v.values[tokens[at].Pos.Offset] = value
		return true
	}
	return v.everywhere(tokens, tokens[at].Name())
}

// everywhere takes a name as the variable's in all places; false: there is no such variable, or it was so before.
func (v *variables) everywhere(tokens []syntax.Token, name string) (more bool) {
	for i, t := range tokens {
		if isName(t, name) {
			if value, known := v.valueAt(tokens, i); known && value.Tokens == 1 {
				_, before := v.values[t.Pos.Offset]
				more = more || !before
				v.values[t.Pos.Offset] = value
			}
		}
	}
	return more
}

// ungrouped is what the engine says, without a place, to a name in HAVING of a query without GROUP BY, whether it is a column or none.
var ungrouped = regexp.MustCompile(`^Column "?([^"]+?)"? must appear in the GROUP BY`)

// advised says how a variable is meant where its name may be a column's.
func (v *variables) advised(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || !missesGroups(f) {
		return err
	}
	parts := ungrouped.FindStringSubmatch(f.Message)
	if parts == nil {
		return err
	}
	if _, known := v.query.Variable([]string{parts[1]}); !known {
		return err
	}
	out := *f
	out.Message += ". If the session's variable is meant, write session." + parts[1]
	return &out
}

// foundUngrouped is found for such a name.
func (v *variables) foundUngrouped(f *fault.Error) bool {
	parts := ungrouped.FindStringSubmatch(f.Message)
	tokens, err := syntax.Tokens(v.query.Text)
	if parts == nil || err != nil {
		return false
	}
	return v.nowhereElse(tokens, parts[1]) && v.everywhere(tokens, parts[1]) || v.qualified(tokens, "session")
}

// qualified takes names that begin so as variables' where no table and no column is called like that.
func (v *variables) qualified(tokens []syntax.Token, first string) (more bool) {
	if v.views || v.columns[strings.ToLower(first)] {
		return false
	}
	found := map[int]dialect.Value{}
	for i, t := range tokens {
		if !isName(t, first) {
			continue
		}
		value, known := v.valueAt(tokens, i)
		if !known || value.Tokens < 3 || i > 0 && tokens[i-1].Is(".") {
			return false
		}
		found[t.Pos.Offset] = value
	}
	for offset, value := range found {
		_, before := v.values[offset]
		more = more || !before
		v.values[offset] = value
	}
	return more
}

func isName(t syntax.Token, name string) bool {
	return (t.Kind == syntax.Word || t.Kind == syntax.Quoted) && strings.EqualFold(t.Name(), name)
}

// valueAt gives the variable that the name at a token means, if it is no column.
func (v *variables) valueAt(tokens []syntax.Token, at int) (dialect.Value, bool) {
	parts := []string{tokens[at].Name()}
	n := 1
	for ; at+n+1 < len(tokens) && tokens[at+n].Is(".") && len(parts) < 4; n += 2 {
		parts = append(parts, tokens[at+n+1].Name())
	}
	text, known := v.query.Variable(parts)
	return dialect.Value{Tokens: n, Text: text}, known
}

// valueFollows are the words and marks behind which a name is that of a value, not one that is given to something.
var valueFollows = words("SELECT DISTINCT WHERE AND OR NOT ON BY THEN ELSE WHEN CASE IN LIKE BETWEEN LIMIT OFFSET HAVING = <> != < > <= >= + - * / % || <=> ==")

// unnamed are the words of what makes columns whose names stand neither in the text nor in a table.
var unnamed = words("LATERAL UNPIVOT PIVOT -> LAMBDA VALUES UNNEST EXPLODE EXPLODE_OUTER POSEXPLODE POSEXPLODE_OUTER INLINE INLINE_OUTER STACK JSON_EACH JSON_TREE JSON_TUPLE " +
	"GENERATE_SERIES SEQUENCE COLUMNS")

// nowhereElse reports whether a name is surely none of a column, an alias or a table anywhere in the statement.
func (v *variables) nowhereElse(tokens []syntax.Token, name string) bool {
	if v.views || v.columns[strings.ToLower(name)] {
		return false
	}
	for i, t := range tokens {
		if t.Is("RANGE") && (strings.EqualFold(name, "id") || strings.EqualFold(name, "range")) || unnamed[strings.ToUpper(t.Text)] || t.Is("*") && tokens[max(0, i-1)].Is(".") {
			return false
		}
		if !isName(t, name) {
			continue
		}
		after := tokens[i+1]
		if i == 0 || after.Is(".") || after.Is("(") || !valueFollows[strings.ToUpper(tokens[i-1].Text)] {
			return false
		}
	}
	return true
}
