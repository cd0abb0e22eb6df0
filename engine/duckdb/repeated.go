//go:build cgo

package duckdb

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/duckdb/dialect"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// ambiguous refuses a statement that means one of several columns of one name. The engine would take the first: only where the statement no longer
// compiles once none of them has the name, the name was theirs.
func (p *program) ambiguous(ctx context.Context, values map[int]dialect.Value) error {
	if len(p.statement.Repeated) == 0 {
		return nil
	}
	_, err := p.executor.compile(ctx, p.query, values, true)
	var f *fault.Error
	if !errors.As(err, &f) || !unresolved(f) || f.Position.Line == 0 {
		return nil
	}
	tokens, scanErr := syntax.Tokens(p.query.Text)
	if scanErr != nil {
		return nil
	}
	at := tokenAt(tokens, f.Position)
	if at < 0 {
		return nil
	}
	names := []string{tokens[at].Name()}
	for i := at; i+2 < len(tokens) && tokens[i+1].Is("."); i += 2 {
		names = append(names, tokens[i+2].Name())
	}
	offset := tokens[at].Pos.Offset
	for _, r := range p.statement.Repeated {
		for _, name := range names {
			if strings.EqualFold(name, r.Name) && (offset < r.From || offset > r.To) {
				return dialect.Ambiguous(name).At(f.Position)
			}
		}
	}
	return nil
}

// keysApart refuses a name in ORDER BY or HAVING that an element of the select list has, and a column of the tables whose columns stand beside it, too.
func (p *program) keysApart() error {
	for _, k := range p.statement.Keyed {
		for _, i := range k.Tables() {
			in := p.tables[i]
			if in != nil && slices.ContainsFunc(in.table.Source.Schema().Fields(), func(f arrow.Field) bool { return strings.EqualFold(f.Name, k.Name) }) {
				return dialect.Ambiguous(k.Name).At(fault.Position{Line: k.Pos.Line, Column: k.Pos.Column})
			}
		}
	}
	return nil
}

// numbersApart refuses a name that may be one to which the engine puts a number where a star gives columns of one name.
func (p *program) numbersApart() error {
	if len(p.statement.Starred) == 0 {
		return nil
	}
	tokens, err := syntax.Tokens(p.query.Text)
	if err != nil {
		return err
	}
	for _, t := range tokens {
		if t.Kind != syntax.Word && t.Kind != syntax.Quoted {
			continue
		}
		parts := numbered.FindStringSubmatch(t.Name())
		if parts == nil {
			continue
		}
		for _, s := range p.statement.Starred {
			if p.repeats(s, parts[1], tokens) {
				return fault.New(fault.Unsupported, "the name %s together with a star that gives several columns named %s is not supported: name the columns instead of the star",
					quote(t.Name()), quote(parts[1])).With("AMBIGUOUS_REFERENCE", "42704").At(fault.Position{Line: t.Pos.Line, Column: t.Pos.Column})
			}
		}
	}
	return nil
}

// repeats reports whether a query may give a name to several of its columns.
func (p *program) repeats(s dialect.Starred, name string, tokens []syntax.Token) bool {
	named := func(other string) bool { return strings.EqualFold(other, name) }
	of, unknown, derived := s.Tables, s.Unknown, 0
	for _, i := range of {
		unknown = unknown || p.tables[i] == nil
	}
	n := 0
	if unknown {
		of = nil
		for i := range p.statement.Tables {
			of = append(of, i)
		}
		n = len(slices.DeleteFunc(slices.Clone(tokens), func(t syntax.Token) bool { return !isName(t, name) }))
	} else {
		n = len(slices.DeleteFunc(slices.Clone(s.Items), func(item string) bool { return !named(item) }))
	}
	for _, i := range of {
		switch in := p.tables[i]; {
		case in == nil:
			derived++
		case slices.ContainsFunc(sourceFields(in), func(f arrow.Field) bool { return named(f.Name) }):
			n++
		}
	}
	return n > 1 || n == 1 && derived > 1
}
