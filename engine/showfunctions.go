package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// kindsOfFunctions are the words that may stand before FUNCTIONS.
var kindsOfFunctions = []string{"ALL", "SYSTEM", "USER"}

// parseShowFunctions reads SHOW [ALL | SYSTEM | USER] FUNCTIONS [(FROM | IN) namespace] [[LIKE] 'pattern' | name] from behind SHOW; nil, nil is
// another SHOW.
func parseShowFunctions(p *syntax.Parser) (*command, error) {
	ahead, kind := *p, "ALL"
	for _, k := range kindsOfFunctions {
		if ahead.Keyword(k) {
			kind = k
		}
	}
	if !ahead.Keyword("FUNCTIONS") {
		return nil, nil
	}
	*p = ahead
	from, err := in(p)
	if err != nil {
		return nil, err
	}
	match, err := functionPattern(p)
	if err != nil {
		return nil, err
	}
	return &command{name: "SHOW FUNCTIONS", columns: columns(text("function")), run: func(ctx context.Context, s *statement) ([]row, error) {
		if n := len(from); n > 0 && !strings.EqualFold(from[n-1], "system") {
			if _, _, err := s.namespace(ctx, from); err != nil {
				return nil, err
			}
		}
		var rows []row
		for _, name := range functionNames() {
			if kind != "USER" && match(name) { // nobody can define one
				rows = append(rows, row{name})
			}
		}
		return rows, nil
	}}, p.End()
}

// functionPattern reads a pattern, which may be a bare name here.
func functionPattern(p *syntax.Parser) (matcher, error) {
	p.Keyword("LIKE")
	if p.Peek().Kind == syntax.EndOfText || p.Peek().Is(";") {
		return everything, nil
	}
	if p.Peek().Kind == syntax.Text {
		pattern, err := p.String()
		return showPattern(pattern), err
	}
	name, err := p.Name()
	return showPattern(strings.Join(texts(name), ".")), err
}

// functionNames are the functions that a SELECT understands, sorted.
func functionNames() []string {
	names := append([]string{"count", "decimal"}, sortedKeys(sessionFunctions)...)
	for _, f := range functions {
		names = append(names, f.name)
	}
	for name := range truthFunctions {
		names = append(names, name)
	}
	for name := range namedTypes {
		if name != "void" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
