package syntax

import (
	"strconv"
	"strings"
	"unicode/utf16"
)

// String reads a string literal, or several side by side, which are one. Where only a string can stand, double quotes hold one too.
func (p *Parser) String() (string, error) {
	if t := p.Peek(); t.Kind == Quoted && t.Text[0] == '"' {
		p.Next()
		return unescape(strings.ReplaceAll(t.Text[1:len(t.Text)-1], `""`, `"`)), nil
	}
	if p.Peek().Kind != Text {
		return "", p.Unexpected()
	}
	var b strings.Builder
	for p.Peek().Kind == Text {
		b.WriteString(decode(p.Next().Text))
	}
	return b.String(), nil
}

// decode gives the value of a string token.
func decode(text string) string {
	if text[0] != '\'' {
		return text[2 : len(text)-1] // raw
	}
	inner := text[1 : len(text)-1]
	if inner == `\` {
		return inner
	}
	if !strings.ContainsAny(inner, `'\`) {
		return inner
	}
	return unescape(inner)
}

// escapes are the letters after a backslash that stand for something else. Before % and _ the backslash stays, since LIKE needs it.
var escapes = map[byte]string{'0': "\x00", 'b': "\b", 'n': "\n", 'r': "\r", 't': "\t", 'Z': "\x1a", '%': `\%`, '_': `\_`}

// unescape resolves a backslash and a doubled quote.
func unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\'' && i+1 < len(text) && text[i+1] == '\'':
			b.WriteByte('\'')
			i++
		case text[i] == '\\' && i+1 < len(text):
			value, n := escape(text[i+1:])
			b.WriteString(value)
			i += n
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// escape gives what the text after a backslash stands for and how many bytes of it were used.
func escape(text string) (string, int) {
	for _, code := range []struct {
		letter byte
		digits int
	}{{'u', 4}, {'U', 8}} {
		if text[0] == code.letter && len(text) > code.digits {
			if r, err := strconv.ParseUint(text[1:1+code.digits], 16, 31); err == nil {
				return unicodeEscape(rune(r), text, 1+code.digits)
			}
		}
	}
	if len(text) > 2 && (text[0] == '0' || text[0] == '1') {
		if r, err := strconv.ParseUint(text[:3], 8, 8); err == nil {
			return string(rune(r)), 3
		}
	}
	if value, known := escapes[text[0]]; known {
		return value, 1
	}
	return text[:1], 1 // of a longer character the rest follows as it is
}

// unicodeEscape gives the character r, joined with the second half of a surrogate pair that follows n bytes into text.
func unicodeEscape(r rune, text string, n int) (string, int) {
	if utf16.IsSurrogate(r) && strings.HasPrefix(text[n:], `\u`) && len(text) >= n+6 {
		if low, err := strconv.ParseUint(text[n+2:n+6], 16, 16); err == nil {
			return string(utf16.DecodeRune(r, rune(low))), n + 6
		}
	}
	return string(r), n
}

// quoteText spells a string literal that reads back as value.
func quoteText(value string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\r", `\r`, "\x00", `\u0000`).Replace(value) + "'"
}
