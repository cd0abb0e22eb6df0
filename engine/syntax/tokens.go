package syntax

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

// Seek moves in front of the token of this number, counted from the text's first one.
func (p *Parser) Seek(token int) { p.next = max(0, min(token, len(p.tokens)-1)) }

// Place is the number of the next token, counted from the text's first one.
func (p *Parser) Place() int { return p.next }

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
