package engine

import (
	"strings"

	"github.com/skua-data/skua/engine/sparktype"
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

// SessionValue gives the value of a session function; false: there is none of that name.
func (s *statement) SessionValue(name string) (sparktype.Value, bool) {
	f, ok := sessionFunctions[strings.ToLower(name)]
	if !ok {
		return sparktype.Value{}, false
	}
	return sparktype.TextValue(f(s)), true
}
