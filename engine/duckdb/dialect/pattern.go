package dialect

import (
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// The bounds of a text in a statement that matches regular expressions: one is made ready in a single call, which nothing interrupts.
const (
	maxPattern = 20_000 // bytes
	maxGroups  = 250
)

// patterns refuses texts that take long to be made a regular expression, where some text is one.
func patterns(tokens []syntax.Token) error {
	matches := false
	for _, t := range tokens {
		word := strings.ToLower(t.Text)
		matches = matches || t.Is("RLIKE") || t.Is("REGEXP") || t.Is("SIMILAR") || t.Is("~") || t.Is("!~") || t.Kind == syntax.Word && (strings.HasPrefix(word, "regexp") ||
			strings.Contains(word, "split"))
	}
	if !matches {
		return nil
	}
	for _, t := range tokens {
		if t.Kind != syntax.Text {
			continue
		}
		if text := syntax.TextOf(t); len(text) > maxPattern || strings.Count(text, "(") > maxGroups {
			return &syntax.Error{Message: "The statement was too complex to parse: it matches regular expressions, and has a text of more than 20000 bytes or 250 opening parentheses.",
				Condition: "FAILED_TO_PARSE_TOO_COMPLEX", SQLState: "54001", Line: t.Pos.Line, Column: t.Pos.Column}
		}
	}
	return nil
}
