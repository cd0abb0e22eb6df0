package engine

import (
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// beforeTerm are the words behind which an operand of a set operation begins.
var beforeTerm = map[string]bool{"UNION": true, "EXCEPT": true, "INTERSECT": true, "MINUS": true, "ALL": true, "DISTINCT": true}

// tableTerms spells the operand TABLE t as SELECT * FROM t, so that its name is looked up as any other that is read. A text that is no SQL stays.
func tableTerms(text string) string {
	tokens, err := syntax.Tokens(text)
	if err != nil {
		return text
	}
	var b strings.Builder
	from := 0
	for i, t := range tokens {
		if !t.Is("TABLE") || i+1 == len(tokens) || tokens[i+1].Kind != syntax.Word && tokens[i+1].Kind != syntax.Quoted || !beginsTerm(tokens[:i]) {
			continue
		}
		b.WriteString(text[from:t.Pos.Offset] + "SELECT * FROM")
		from = t.Pos.Offset + len(t.Text)
	}
	return b.String() + text[from:]
}

// beginsTerm reports whether an operand of a query begins behind tokens. TABLE in the parentheses of a call is an argument.
func beginsTerm(before []syntax.Token) bool {
	n := len(before)
	if n == 0 {
		return true
	}
	last := before[n-1]
	if !last.Is("(") {
		return last.Kind == syntax.Word && beforeTerm[strings.ToUpper(last.Text)]
	}
	if n == 1 {
		return true
	}
	callee := before[n-2]
	return callee.Kind != syntax.Quoted && (callee.Kind != syntax.Word || beforeTerm[strings.ToUpper(callee.Text)] || callee.Is("IN") || callee.Is("EXISTS") ||
		callee.Is("AS") || callee.Is("FROM") || callee.Is("JOIN") || callee.Is("WHERE") || callee.Is("SELECT") || callee.Is("LATERAL"))
}
