package syntax

import "strings"

// TokenKind says what a Token is by its spelling.
type TokenKind uint8

// The kinds of tokens.
const (
	EndOfText TokenKind = iota
	Word                // a bare identifier or a keyword
	Quoted              // an identifier in back quotes or double quotes
	Text                // a string literal
	Number              // digits with point, exponent and suffix as written
	Symbol              // an operator or a punctuation mark
	Bad                 // what no rule matches, such as a lone quote or a NUL
)

// Token is one lexical element. Comments and white space are not tokens.
type Token struct {
	Kind TokenKind
	Text string // as in the source; empty at the end of the text
	Pos  Pos
}

// Is reports whether the token is the symbol, or the bare word in any case. Words are given in upper case.
func (t Token) Is(text string) bool {
	switch t.Kind {
	case Word:
		return strings.EqualFold(t.Text, text)
	case Symbol:
		return t.Text == text
	default:
		return false
	}
}

// in reports whether the token is one of the bare words.
func (t Token) in(words []string) bool {
	if t.Kind != Word {
		return false
	}
	for _, w := range words {
		if strings.EqualFold(t.Text, w) {
			return true
		}
	}
	return false
}

// end is the offset after the token.
func (t Token) end() int { return t.Pos.Offset + len(t.Text) }

// clauseWords begin what may follow an expression or a table, so that they are no alias there unless AS stands in front.
var clauseWords = []string{"FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "FETCH", "UNION", "INTERSECT", "EXCEPT", "MINUS",
	"SETMINUS", "SORT", "CLUSTER", "DISTRIBUTE", "LATERAL", "WINDOW", "QUALIFY", "PIVOT", "UNPIVOT", "TABLESAMPLE"}

// joinWords are the words of joins. They are identifiers everywhere but as a bare alias of a table.
var joinWords = []string{"ANTI", "CROSS", "FULL", "INNER", "JOIN", "LEFT", "NATURAL", "ON", "RIGHT", "SEMI", "USING"}
