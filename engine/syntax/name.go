package syntax

import "strings"

// Ident reads one identifier: a bare word, keywords among them, or a quoted one.
func (p *Parser) Ident() (Ident, error) {
	t := p.Peek()
	switch {
	case t.Kind == Word:
		p.Next()
		return Ident{Text: t.Text, Pos: t.Pos}, nil
	case t.Kind == Quoted && len(t.Text) > 2:
		p.Next()
		q := t.Text[:1]
		return Ident{Text: strings.ReplaceAll(t.Text[1:len(t.Text)-1], q+q, q), Quoted: true, Pos: t.Pos}, nil
	default:
		return Ident{}, p.Unexpected()
	}
}

// Name reads a dotted name. A bare part with a hyphen is refused with the spelling that works, as Spark does.
func (p *Parser) Name() ([]Ident, error) {
	var parts []Ident
	for {
		part, err := p.Ident()
		if err != nil {
			return nil, err
		}
		if err := p.hyphens(part); err != nil {
			return nil, err
		}
		parts = append(parts, part)
		if !p.Symbol(".") {
			return parts, nil
		}
	}
}

// hyphens fails where a bare part goes on after a hyphen: a name has no minus.
func (p *Parser) hyphens(part Ident) error {
	if part.Quoted || !p.Peek().Is("-") {
		return nil
	}
	from, end := part.Pos.Offset, part.Pos.Offset+len(part.Text)
	for n := 0; p.peek(n).Is("-") && p.peek(n).Pos.Offset == end; n += 2 {
		after := p.peek(n + 1)
		if after.Pos.Offset != end+1 || after.Kind != Word && after.Kind != Number {
			break
		}
		end = after.end()
	}
	if end == from+len(part.Text) {
		return nil
	}
	name := shorten(p.text[from:end])
	return errorAt(part.Pos, "INVALID_IDENTIFIER", "42602", "The unquoted identifier %s is invalid and must be back quoted as: %s. Unquoted "+
		"identifiers can only contain ASCII letters ('a' - 'z', 'A' - 'Z'), digits ('0' - '9'), and underbar ('_'). Unquoted identifiers must "+
		"also not start with a digit. Different data sources and meta stores may impose additional restrictions on valid identifiers.",
		name, Quote(name))
}

// Quote spells one part of a name, back-quoted where Spark's own listings quote it: unless it is made of ASCII letters, digits and
// underscores and is no number.
func Quote(name string) string {
	plain, number := name != "", true
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
		plain = plain && (letter || isDigit(c))
		number = number && isDigit(c)
	}
	if plain && !number {
		return name
	}
	return BackQuote(name)
}

// BackQuote spells a name as Spark's errors do: every part in back quotes.
func BackQuote(parts ...string) string {
	quoted := make([]string, len(parts))
	for i, p := range parts {
		quoted[i] = "`" + strings.ReplaceAll(p, "`", "``") + "`"
	}
	return strings.Join(quoted, ".")
}

// Texts gives the parts of a name without their quotes.
func Texts(name []Ident) []string {
	out := make([]string, len(name))
	for i, n := range name {
		out[i] = n.Text
	}
	return out
}

// QuoteName spells a name of several parts with dots, each part as Quote does.
func QuoteName(parts []string) string {
	quoted := make([]string, len(parts))
	for i, part := range parts {
		quoted[i] = Quote(part)
	}
	return strings.Join(quoted, ".")
}
