package engine

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/syntax"
)

// sessionFunctions are the functions whose value is the session's or the server's, not of their arguments: they have none.
var sessionFunctions = map[string]func(s *statement) string{
	"current_catalog":  func(s *statement) string { return s.state.Catalog },
	"current_database": func(s *statement) string { return syntax.QuoteName(s.state.Namespace) },
	"current_schema":   func(s *statement) string { return syntax.QuoteName(s.state.Namespace) },
	"current_user":     func(s *statement) string { return s.principal },
	"session_user":     func(s *statement) string { return s.principal },
	"user":             func(s *statement) string { return s.principal },
	"version":          func(s *statement) string { return s.engine.config.Version },
	"current_timezone": func(s *statement) string { return s.zone.String() },
}

// constant evaluates a constant expression, session functions included.
func (s *statement) constant(b *binder, e syntax.Expr) (constant, error) {
	name := ""
	switch e := e.(type) {
	case *syntax.Call:
		if len(e.Name) == 1 && len(e.Args) == 0 && !e.Star {
			name = e.Name[0].Text
		}
	case *syntax.Column:
		if len(e.Parts) == 1 && !e.Parts[0].Quoted {
			name = e.Parts[0].Text
		}
	}
	if f, ok := sessionFunctions[strings.ToLower(name)]; ok {
		return constant{typ: arrow.BinaryTypes.String, value: f(s)}, nil
	}
	return b.constant(e)
}
