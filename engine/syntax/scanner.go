package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// scanner cuts a text into tokens in one pass. Text that no rule matches becomes Bad tokens of one character, so that a command that takes
// the rest of the line verbatim can still hold it.
type scanner struct {
	text   string
	pos    Pos
	tokens []Token
	open   [128]bool // by quote character: no closing one was found, so none is looked for again
	lost   *Pos      // where a comment begins that never ends
}

// scan gives the tokens of text, the last one EndOfText, and the start of a comment that never ends.
func scan(text string) ([]Token, *Pos) {
	s := &scanner{text: text, pos: Pos{Line: 1}}
	if strings.HasPrefix(text, "\uFEFF") {
		s.advance(len("\uFEFF"))
	}
	for s.skip(); s.pos.Offset < len(s.text); s.skip() {
		kind, n := s.token(s.text[s.pos.Offset:])
		s.tokens = append(s.tokens, Token{Kind: kind, Text: s.text[s.pos.Offset : s.pos.Offset+n], Pos: s.pos})
		s.advance(n)
	}
	return append(s.tokens, Token{Kind: EndOfText, Pos: s.pos}), s.lost
}

// advance moves over n bytes and keeps line and column.
func (s *scanner) advance(n int) {
	for _, r := range s.text[s.pos.Offset : s.pos.Offset+n] {
		s.pos.Column++
		if r == '\n' {
			s.pos.Line, s.pos.Column = s.pos.Line+1, 0
		}
	}
	s.pos.Offset += n
}

// skip moves over white space and comments, hints among them.
func (s *scanner) skip() {
	for {
		rest := s.text[s.pos.Offset:]
		r, n := utf8.DecodeRuneInString(rest)
		switch {
		case unicode.IsSpace(r):
			s.advance(n)
		case strings.HasPrefix(rest, "--"):
			s.advance(lineComment(rest))
		case strings.HasPrefix(rest, "/*"):
			n, closed := bracketedComment(rest)
			if !closed && s.lost == nil {
				at := s.pos
				s.lost = &at
			}
			s.advance(n)
		default:
			return
		}
	}
}

// lineComment gives the length of a comment up to the end of its line; a backslash before the line feed continues it.
func lineComment(text string) int {
	for i := range len(text) {
		if text[i] == '\n' && text[i-1] != '\\' {
			return i
		}
	}
	return len(text)
}

// bracketedComment gives the length of a comment that may hold others.
func bracketedComment(text string) (int, bool) {
	depth := 0
	for i := 0; i+1 < len(text); i++ {
		switch text[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
		}
		if depth == 0 {
			return i + 1, true
		}
	}
	return len(text), false
}

// symbols are the marks of more than one character, longer ones first.
var symbols = []string{"<=>", ">>>", "==", "<>", "!=", "<=", ">=", "!<", "!>", "||", "|>", "<<", ">>", "->", "=>", "::"}

// token gives the kind and the length of the token that text begins with.
func (s *scanner) token(text string) (TokenKind, int) {
	r, size := utf8.DecodeRuneInString(text)
	switch {
	case r == '\'' || r == '`' || r == '"':
		return s.quoted(text, 0)
	case (r == 'r' || r == 'R') && strings.HasPrefix(text[1:], "'"):
		return s.quoted(text, 1)
	case isDigit(text[0]), r == '.' && len(text) > 1 && isDigit(text[1]):
		return number(text)
	case isWordRune(r):
		return Word, wordLength(text)
	case r == utf8.RuneError && size <= 1:
		return Bad, 1
	}
	for _, symbol := range symbols {
		if strings.HasPrefix(text, symbol) {
			return Symbol, len(symbol)
		}
	}
	if strings.ContainsRune("()[]{},.;:?+-*/%<>=!&|^~", r) {
		return Symbol, size
	}
	return Bad, size
}

// quoted gives the token that begins with a quote after a prefix of prefix bytes. Only plain single quotes know the backslash.
func (s *scanner) quoted(text string, prefix int) (TokenKind, int) {
	quote := text[prefix]
	kind := Quoted
	if quote == '\'' {
		kind = Text
	}
	if kind == Text && prefix == 0 && s.loneBackslash(text) {
		return Text, len(`'\'`)
	}
	if !s.open[quote] {
		if n := quotedLength(text, prefix, kind == Text && prefix == 0); n > 0 {
			return kind, n
		}
	}
	if prefix > 0 {
		return Word, wordLength(text)
	}
	s.open[quote] = true
	return Bad, 1
}

// loneBackslash reports whether text begins with '\' that is whole: standard SQL's ESCAPE '\', which tools send.
func (s *scanner) loneBackslash(text string) bool {
	return strings.HasPrefix(text, `'\'`) && !strings.HasPrefix(text, `'\''`) && len(s.tokens) > 0 && s.tokens[len(s.tokens)-1].Is("ESCAPE")
}

// quotedLength gives the length up to the closing quote, or 0 where there is none. A doubled quote stands for itself, but not after a prefix.
func quotedLength(text string, prefix int, escapes bool) int {
	quote := text[prefix]
	for i := prefix + 1; i < len(text); i++ {
		switch {
		case escapes && text[i] == '\\':
			i++
		case text[i] != quote:
		case prefix == 0 && i+1 < len(text) && text[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return 0
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWordRune(r rune) bool {
	return r == '_' || '0' <= r && r <= '9' || unicode.IsLetter(r) && r != utf8.RuneError
}

// wordLength gives the length of the letters, digits and underscores that text begins with.
func wordLength(text string) int {
	for i, r := range text {
		if !isWordRune(r) {
			return i
		}
	}
	return len(text)
}
