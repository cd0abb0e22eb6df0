package syntax

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	maxText  = 4 << 20 // bytes of a statement: its tree takes up to some eighty times as much
	maxDepth = 500     // levels of nesting
	maxChain = 50_000  // operators that nest the one on their left, all together: deep recursion for whoever walks the tree
)

// Parser is a cursor over one statement's text. It is for one goroutine. A method that returns an error leaves the cursor somewhere in front
// of the cause; there is no way to go on from there.
type Parser struct {
	text           string
	tokens         []Token
	next           int
	lost           *Pos // an unclosed comment
	depth          int
	unsupported    string // the first construct that the tree of the current Select cannot hold
	unsupportedPos Pos
	chained        int      // operators that nest another one of their chain, so far
	parameters     int      // question marks so far
	lambdas        []string // variables of the functions around: what a name of theirs is called
	angles         int      // closing angles of the next token that types have taken
}

// NewParser begins at the start of text. A text that is no SQL at all gives no error here but from the first method that meets the cause.
func NewParser(text string) *Parser {
	if len(text) > maxText {
		return &Parser{tokens: []Token{{Kind: Bad, Pos: Pos{Line: 1}}}}
	}
	p := &Parser{text: text}
	p.tokens, p.lost = scan(text)
	return p
}

// Peek gives the next token and stays in front of it.
func (p *Parser) Peek() Token { return p.tokens[p.next] }

// peek gives the token n after the next one.
func (p *Parser) peek(n int) Token { return p.tokens[min(p.next+n, len(p.tokens)-1)] }

// Next gives the next token and moves behind it, but never behind the end.
func (p *Parser) Next() Token {
	t := p.tokens[p.next]
	if t.Kind != EndOfText {
		p.next = min(p.next+1, len(p.tokens)-1)
	}
	return t
}

// Keyword consumes the sequence of bare words if it comes next, in any case. Words are given in upper case.
func (p *Parser) Keyword(words ...string) bool {
	if !p.ahead(words...) {
		return false
	}
	p.next += len(words)
	return true
}

// ahead reports whether the sequence of bare words comes next.
func (p *Parser) ahead(words ...string) bool {
	for i, w := range words {
		if t := p.peek(i); t.Kind != Word || !t.Is(w) {
			return false
		}
	}
	return true
}

// Symbol consumes the mark, such as "(" or "=", if it comes next.
func (p *Parser) Symbol(mark string) bool {
	if t := p.Peek(); t.Kind != Symbol || t.Text != mark {
		return false
	}
	p.next++
	return true
}

// expect consumes the word or mark or fails at what is there.
func (p *Parser) expect(text string) error {
	if !p.Peek().Is(text) {
		return p.Unexpected()
	}
	p.next++
	return nil
}

// Unexpected is the syntax error at the next token.
func (p *Parser) Unexpected() error { return p.unexpected("") }

func (p *Parser) unexpected(hint string) error {
	t := p.Peek()
	switch {
	case len(p.tokens) == 1 && t.Kind == Bad:
		return errorAt(t.Pos, "FAILED_TO_PARSE_TOO_COMPLEX", "54001", "The statement is longer than %d bytes.", maxText)
	case p.lost != nil:
		return errorAt(*p.lost, "UNCLOSED_BRACKETED_COMMENT", "42601",
			"Found an unclosed bracketed comment. Please, append */ at the end of the comment.")
	case len(p.tokens) == 1:
		return errorAt(t.Pos, "PARSE_EMPTY_STATEMENT", "42617", "Syntax error, unexpected empty statement.")
	case hint == "":
		hint = p.unterminated()
	}
	return errorAt(t.Pos, "PARSE_SYNTAX_ERROR", "42601", "Syntax error at or near %s%s.", near(t), hint)
}

// unterminated tells of a quote at the next token or later that nothing closes: often one inside a text ended that too early.
func (p *Parser) unterminated() string {
	for i, t := range p.tokens[p.next:] {
		if t.Kind != Bad || !strings.Contains("'\"`", t.Text) {
			continue
		}
		what := ": unterminated string"
		if t.Text != "'" {
			what += " or name"
		}
		if i > 0 {
			what += fmt.Sprintf(" at line %d, pos %d", t.Pos.Line, t.Pos.Column)
		}
		return what
	}
	return ""
}

// near spells a token as error texts do. A long one is cut.
func near(t Token) string {
	if t.Kind == EndOfText {
		return "end of input"
	}
	text := shorten(strings.ToValidUTF8(t.Text, "\uFFFD"))
	return "'" + strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`, "\x00", `\0`).Replace(text) + "'"
}

// shorten cuts a text that an error repeats.
func shorten(text string) string {
	if utf8.RuneCountInString(text) <= 120 {
		return text
	}
	return string([]rune(text)[:120]) + "…"
}

// End accepts semicolons and the end of the text, and fails at anything else.
func (p *Parser) End() error {
	several := false
	for p.Symbol(";") {
		several = true
	}
	t := p.Peek()
	if t.Kind == EndOfText {
		if p.lost != nil {
			return p.Unexpected()
		}
		return nil
	}
	// A single token too many is named as such, as Spark's parser does, which then tries to go on without it.
	if after := p.peek(1); several || after.Kind == EndOfText || after.Is(";") {
		return p.unexpected(": extra input " + near(t))
	}
	return p.Unexpected()
}

// Raw gives the rest of the statement as it is written, up to the end or a semicolon that is not in quotes or a comment, without the white
// space around it.
func (p *Parser) Raw() string {
	from := p.Peek().Pos.Offset
	for p.Peek().Kind != EndOfText && !p.Peek().Is(";") {
		p.Next()
	}
	to := len(p.text)
	if t := p.Peek(); t.Kind != EndOfText {
		to = t.Pos.Offset
	}
	if from > to {
		return ""
	}
	return strings.TrimSpace(p.text[from:to])
}

// source gives the text from an offset to the end of the last consumed token.
func (p *Parser) source(from int) string {
	if p.next == 0 {
		return ""
	}
	return p.text[from:max(from, p.tokens[p.next-1].end())]
}

// enter counts a level of nesting; leave ends it.
func (p *Parser) enter() error {
	p.depth++
	if p.depth > maxDepth {
		return p.tooComplex()
	}
	return nil
}

func (p *Parser) leave() { p.depth-- }

// link counts operator n of a chain that associates to the left.
func (p *Parser) link(n int) error {
	if n > 0 {
		p.chained++
	}
	if p.chained > maxChain {
		return p.tooComplex()
	}
	return nil
}

func (p *Parser) tooComplex() error {
	return errorAt(p.Peek().Pos, "FAILED_TO_PARSE_TOO_COMPLEX", "54001", "The statement was too complex to parse: more than %d levels of "+
		"nesting or %d operators in a row. To mitigate this error divide the statement into multiple, less complex chunks.", maxDepth, maxChain)
}
