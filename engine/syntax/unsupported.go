package syntax

import (
	"sort"
	"strings"
)

// refuse notes a construct that the tree of the current Select cannot hold. The first one stays.
func (p *Parser) refuse(feature string, at Pos) {
	if p.unsupported == "" {
		p.unsupported, p.unsupportedPos = feature, at
	}
}

// keepText reads a construct that is kept as text, from where it or its first operand begins, and notes it at its own place.
func (p *Parser) keepText(feature string, from, at Pos, read func() error) (Expr, error) {
	p.refuse(feature, at)
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	if err := read(); err != nil {
		return nil, err
	}
	first := sort.Search(p.next, func(i int) bool { return p.tokens[i].Pos.Offset >= from.Offset })
	return &Unsupported{node: node{from}, Feature: feature, source: p.tokens[first:p.next]}, nil
}

// spell writes tokens with canonical white space.
func spell(tokens []Token) string {
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 && !t.Is(",") && !t.Is(")") && !tokens[i-1].Is("(") {
			b.WriteByte(' ')
		}
		b.WriteString(t.Text)
	}
	return b.String()
}

// parenthesised reads a pair of parentheses with what read takes between them.
func (p *Parser) parenthesised(read func() error) error {
	if err := p.expect("("); err != nil {
		return err
	}
	if err := read(); err != nil {
		return err
	}
	return p.expect(")")
}

// balanced reads anything up to the parenthesis that closes the current level, a semicolon or the end.
func (p *Parser) balanced() error {
	for depth := 0; ; p.Next() {
		t := p.Peek()
		switch {
		case t.Kind == Bad:
			return p.Unexpected()
		case t.Kind == EndOfText, t.Is(";"):
			if depth > 0 {
				return p.Unexpected()
			}
			return nil
		case t.Is("("):
			depth++
		case t.Is(")"):
			if depth == 0 {
				return nil
			}
			depth--
		}
	}
}

func upper(s string) string { return strings.ToUpper(s) }
