package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/skua-data/skua/engine/constant"
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
		for _, name := range knownFunctions() {
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
	return showPattern(strings.Join(syntax.Texts(name), ".")), err
}

// knownFunctions are the functions that a SELECT understands, sorted.
func knownFunctions() []string {
	names := append(sortedKeys(sessionFunctions), "count")
	for _, name := range constant.FunctionNames() {
		if name != "void" { // the type of NULL, which nothing is cast to
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
