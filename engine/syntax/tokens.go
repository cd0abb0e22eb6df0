package syntax

import "strings"

// Tokens cuts a whole statement into its tokens, the last one EndOfText. A text that no statement can have gives an error at its place.
func Tokens(text string) ([]Token, error) {
	p := NewParser(text)
	if len(p.tokens) == 1 || p.lost != nil {
		return nil, p.Unexpected()
	}
	for i, t := range p.tokens {
		if t.Kind == Bad {
			p.next = i
			return nil, p.Unexpected()
		}
	}
	return p.tokens, nil
}

// NewParserOf gives a cursor over tokens of a text, to which others were added with places in it.
func NewParserOf(text string, tokens []Token) *Parser { return &Parser{text: text, tokens: tokens} }

// Seek moves in front of the token of this number, counted from the text's first one.
func (p *Parser) Seek(token int) { p.next = max(0, min(token, len(p.tokens)-1)) }

// Place is the number of the next token, counted from the text's first one.
func (p *Parser) Place() int { return p.next }

// Name gives the identifier that a word or a quoted token spells.
func (t Token) Name() string {
	if t.Kind != Quoted || len(t.Text) < 2 {
		return t.Text
	}
	q := t.Text[:1]
	return strings.ReplaceAll(t.Text[1:len(t.Text)-1], q+q, q)
}

// Since gives the text from an offset to the end of the last token that was read.
func (p *Parser) Since(offset int) string { return p.source(offset) }

// Until gives the text up to a mark outside of all brackets, or to the end of the statement, and stays in front of it.
func (p *Parser) Until(mark string) string {
	from, depth := p.Peek().Pos.Offset, 0
	for t := p.Peek(); t.Kind != EndOfText && !t.Is(";"); t = p.Peek() {
		switch {
		case t.Is("(") || t.Is("[") || t.Is("{"):
			depth++
		case t.Is(")") || t.Is("]") || t.Is("}"):
			depth--
		case depth <= 0 && t.Is(mark):
			return strings.TrimSpace(p.source(from))
		}
		p.Next()
	}
	return strings.TrimSpace(p.source(from))
}

// Value reads what stands on one side of a comparison.
func (p *Parser) Value() (Expr, error) { return p.value(0) }

// TextOf gives the value of a string token.
func TextOf(t Token) string {
	if t.Kind == Quoted {
		return unescape(t.Text[1 : len(t.Text)-1])
	}
	return decode(t.Text)
}

// EndsRelation reports whether the word begins what may follow a table, so that it is no alias there unless AS stands in front.
func (t Token) EndsRelation() bool { return t.in(clauseWords) || t.in(joinWords) }
