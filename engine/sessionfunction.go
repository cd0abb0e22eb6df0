package engine

import (
	"strings"

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

// sessionValue gives a session function's value.
func (b *binder) sessionValue(name string) (constant, bool) {
	f, ok := sessionFunctions[strings.ToLower(name)]
	if !ok || b.session == nil {
		return constant{}, false
	}
	return textConstant(f(b.session)), true
}
