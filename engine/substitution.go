package engine

import (
	"regexp"
	"strings"

	"github.com/skua-data/skua/fault"
)

// substituteKey says whether Spark puts the values of settings into the text of statements.
const substituteKey = "spark.sql.variable.substitute"

// placeholder is what stands for a setting in a text: ${name}, ${env:name}.
var placeholder = regexp.MustCompile(`\$\{[^}$ ]+\}`)

// substitution refuses a text that Spark would put settings into before it reads it, strings and comments included: what it would be is not known.
func (s *statement) substitution() error {
	if !strings.Contains(s.text, "${") {
		return nil
	}
	if dialect, _ := s.state.Get(dialectKey); !strings.EqualFold(dialect, "spark") {
		return nil
	}
	if on, ok := s.state.Get(substituteKey); ok && strings.EqualFold(on, "false") {
		return nil
	}
	at := placeholder.FindStringIndex(s.text)
	if at == nil {
		return nil
	}
	before := s.text[:at[0]]
	line := strings.Count(before, "\n")
	column := len([]rune(before[strings.LastIndexByte(before, '\n')+1:]))
	return fault.New(fault.Unsupported, "the variable %s would be replaced by a setting in Spark, which is not supported; write '$' '{…}' for the text itself", s.text[at[0]:at[1]]).
		At(fault.Position{Line: line + 1, Column: column}).Change(substituteKey)
}
