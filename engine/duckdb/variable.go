//go:build cgo

package duckdb

import (
	"context"
	"errors"
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
	if q.Variable == nil {
		return e.compile(ctx, q, nil)
	}
	v := &variables{query: q, values: map[int]dialect.Value{}, columns: map[string]bool{}}
	resolve := q.Resolve
	q.Resolve = func(ctx context.Context, ref syntax.TableRef) (engine.Table, error) {
		t, err := resolve(ctx, ref)
		v.note(t)
		return t, err
	}
	for range maxVariables {
		p, err := e.compile(ctx, q, v.values)
		if err == nil || !v.found(err) {
			return p, err
		}
	}
	return nil, fault.New(fault.Invalid, "a statement reads session variables in at most %d places where columns of their names may be meant", maxVariables)
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
	if !errors.As(err, &f) || !strings.HasPrefix(f.Condition, "UNRESOLVED_COLUMN") || f.Position.Line == 0 {
		return false
	}
	tokens, scanErr := syntax.Tokens(v.query.Text)
	if scanErr != nil {
		return false
	}
	at := slices.IndexFunc(tokens, func(t syntax.Token) bool { return t.Pos.Line == f.Position.Line && t.Pos.Column == f.Position.Column })
	if at < 0 {
		return false
	}
	value, known := v.valueAt(tokens, at)
	if _, tried := v.values[tokens[at].Pos.Offset]; !known || tried {
		return false
	}
	v.values[tokens[at].Pos.Offset] = value
	if value.Tokens > 1 || !v.nowhereElse(tokens, tokens[at].Name()) {
		return true
	}
	for i, t := range tokens {
		if isName(t, tokens[at].Name()) {
			if value, known := v.valueAt(tokens, i); known && value.Tokens == 1 {
				v.values[t.Pos.Offset] = value
			}
		}
	}
	return true
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

// nowhereElse reports whether a name is surely none of a column, an alias or a table anywhere in the statement.
func (v *variables) nowhereElse(tokens []syntax.Token, name string) bool {
	if v.views || v.columns[strings.ToLower(name)] {
		return false
	}
	for i, t := range tokens {
		if t.Is("LATERAL") || t.Is("UNPIVOT") || t.Is("PIVOT") || t.Is("->") || t.Is("LAMBDA") {
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
