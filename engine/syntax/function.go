package syntax

import "strings"

func lower(s string) string { return strings.ToLower(s) }

// function reads a call of a bare name, where some names have a grammar of their own.
func (p *Parser) function(t Token) (Expr, error) {
	keep := func(feature string, read func() error) (Expr, error) {
		return p.keepText(feature, t.Pos, t.Pos, func() error {
			p.Next()
			return p.parenthesised(read)
		})
	}
	switch name := upper(t.Text); name {
	case "CAST", "TRY_CAST":
		return p.cast(t, name == "TRY_CAST")
	case "CASE":
		return p.caseOf(t)
	case "INTERVAL":
		return p.interval(t)
	case "EXISTS":
		if p.peek(2).in(queryWords) {
			return called(keep("subquery", func() error { _, err := p.query(); return err }))([]Part{{Words: "exists()"}})
		}
	case "TRIM":
		if t := p.peek(3); p.peek(2).in(trims) && !t.Is(",") && !t.Is(")") && !t.Is(".") {
			parts := p.trimParts()
			return called(keep("TRIM with FROM", p.balanced))(parts)
		}
	case "TIMESTAMPADD", "TIMESTAMPDIFF", "DATEADD", "DATE_ADD", "DATEDIFF", "DATE_DIFF":
		if p.peek(2).in(units) && p.peek(3).Is(",") {
			parts := p.unitParts()
			return called(keep(name+" with a unit", p.balanced))(parts)
		}
	}
	if t.in(clauseWords) {
		return nil, p.Unexpected()
	}
	return p.named()
}

var units = []string{"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DAYOFYEAR", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND"}

// trims are the sides of TRIM; inners are the words that may follow the first argument of some functions in place of a comma.
var (
	trims  = []string{"BOTH", "LEADING", "TRAILING"}
	inners = []string{"FROM", "IN", "PLACING"}
)

// cast reads CAST or TRY_CAST.
func (p *Parser) cast(t Token, try bool) (Expr, error) {
	p.Next()
	c := &Cast{node: node{t.Pos}, Try: try}
	return c, p.parenthesised(func() (err error) {
		if c.Expr, err = p.Expression(); err != nil {
			return err
		}
		if err = p.expect("AS"); err != nil {
			return err
		}
		c.Type, err = p.TypeName()
		return err
	})
}

// call reads the arguments of a function and what may follow them.
func (p *Parser) call(at node, name []Ident) (Expr, error) {
	c := &Call{node: at, Name: name}
	p.Next()
	if err := p.arguments(c); err != nil {
		return nil, err
	}
	if t := p.Peek(); len(c.Args) == 1 && t.in(inners) {
		parts := p.innerParts(c)
		return called(p.keepText(upper(name[len(name)-1].Text)+" with "+upper(t.Text), at.pos, t.Pos, func() error {
			if err := p.balanced(); err != nil {
				return err
			}
			return p.expect(")")
		}))(parts)
	}
	if t := p.Peek(); (t.Is("IGNORE") || t.Is("RESPECT")) && p.peek(1).Is("NULLS") && p.peek(2).Is(")") {
		return called(p.keepText("nulls of an aggregate", at.pos, t.Pos, func() error {
			p.Next()
			p.Next()
			return p.expect(")")
		}))([]Part{{Expr: c}})
	}
	if err := p.expect(")"); err != nil {
		return nil, err
	}
	t := p.Peek()
	parts := p.tailParts(c)
	switch {
	case t.Is("FILTER") && p.peek(1).Is("("), t.Is("WITHIN") && p.peek(1).Is("GROUP"):
		return called(p.keepText(upper(t.Text), at.pos, t.Pos, func() error { return p.callTail() }))(parts)
	case t.Is("OVER") && (p.peek(1).Is("(") || p.peek(1).Kind == Word && !p.peek(1).in(clauseWords)),
		(t.Is("IGNORE") || t.Is("RESPECT")) && p.peek(1).Is("NULLS"):
		return called(p.keepText("window function", at.pos, t.Pos, func() error { return p.callTail() }))(parts)
	}
	return c, nil
}

// callTail reads the clauses after the arguments of an aggregate or a window function.
func (p *Parser) callTail() error {
	for {
		switch {
		case p.Keyword("IGNORE", "NULLS"), p.Keyword("RESPECT", "NULLS"), p.Keyword("WITHIN", "GROUP"), p.Keyword("FILTER"):
		case p.Keyword("OVER"):
			if p.Peek().Kind == Word {
				p.Next()
				continue
			}
		default:
			return nil
		}
		if p.Peek().Is("(") {
			if err := p.parenthesised(p.balanced); err != nil {
				return err
			}
		}
	}
}

// arguments reads what stands between the parentheses of a call.
func (p *Parser) arguments(c *Call) error {
	if p.Peek().Is(")") {
		return nil
	}
	if p.Symbol("*") {
		c.Star = true
		return nil
	}
	if p.Keyword("DISTINCT") {
		c.Distinct = true
	} else if t := p.peek(1); p.ahead("ALL") && !t.Is(",") && !t.Is(")") && !t.Is(".") {
		p.Next()
	}
	for {
		e, err := p.argument()
		if err != nil {
			return err
		}
		c.Args = append(c.Args, e)
		if !p.Symbol(",") {
			return nil
		}
	}
}

// argument reads one argument: an expression, a named one, all columns of a table, or a lambda of several variables.
func (p *Parser) argument() (Expr, error) {
	from := p.Peek().Pos
	switch {
	case p.peek(1).Is("=>"):
		return p.keepText("named argument", from, from, func() error {
			if _, err := p.Ident(); err != nil {
				return err
			}
			p.Next()
			_, err := p.Expression()
			return err
		})
	case p.qualifiedStar() > 0:
		return p.keepText("* of a table as argument", from, from, func() error { p.next += p.qualifiedStar(); return nil })
	}
	e, err := p.Expression()
	if err == nil && p.Peek().Is("AS") {
		var name Ident
		out, err := p.keepText("named argument", from, p.Next().Pos, func() (err error) { name, err = p.Ident(); return err })
		return called(out, err)([]Part{{Expr: e}, {Words: " AS " + name.Text}})
	}
	if err != nil || !p.Peek().Is("->") {
		return e, err
	}
	return p.lambda(e, from)
}

// qualifiedStar gives the number of tokens of q.* if it comes next, or 0.
func (p *Parser) qualifiedStar() int {
	for n := 0; p.peek(n).Kind == Word || p.peek(n).Kind == Quoted; n += 2 {
		if !p.peek(n + 1).Is(".") {
			return 0
		}
		if p.peek(n + 2).Is("*") {
			return n + 3
		}
	}
	return 0
}

// caseOf reads CASE up to END.
func (p *Parser) caseOf(t Token) (Expr, error) {
	var parts []Part
	e, err := p.keepText("CASE", t.Pos, t.Pos, func() (err error) {
		parts, err = p.caseBody()
		return err
	})
	return called(e, err)(parts)
}

func (p *Parser) caseBody() (parts []Part, err error) {
	p.Next()
	var of Expr
	if !p.ahead("WHEN") {
		if of, err = p.Expression(); err != nil {
			return nil, err
		}
	}
	if !p.ahead("WHEN") {
		return nil, p.Unexpected()
	}
	read := func(words string) (e Expr, err error) {
		if e, err = p.Expression(); err == nil {
			parts = append(parts, Part{words, e})
		}
		return e, err
	}
	for words := "CASE WHEN "; p.Keyword("WHEN"); words = " WHEN " {
		when, err := read(words)
		if err != nil {
			return nil, err
		}
		if of != nil {
			parts[len(parts)-1].Expr = &Binary{node{when.Pos()}, "=", of, when}
		}
		if err := p.expect("THEN"); err != nil {
			return nil, err
		}
		if _, err := read(" THEN "); err != nil {
			return nil, err
		}
	}
	if p.Keyword("ELSE") {
		if _, err := read(" ELSE "); err != nil {
			return nil, err
		}
	}
	return append(parts, Part{Words: " END"}), p.expect("END")
}

// interval reads an interval; a literal is called after its value.
func (p *Parser) interval(t Token) (Expr, error) {
	literal, n, err := ReadInterval(p.tokens[p.next:])
	if n == 0 || err != nil {
		return p.keepText("INTERVAL", t.Pos, t.Pos, p.intervalBody)
	}
	return called(p.keepText("INTERVAL", t.Pos, t.Pos, func() error { p.next += n; return nil }))([]Part{{Words: literal.String()}})
}

// intervalBody reads INTERVAL with its amounts and units.
func (p *Parser) intervalBody() error {
	p.Next()
	for n := 0; ; n++ {
		t := p.Peek()
		if n > 0 && (t.Kind == Word || t.Kind != Number && t.Kind != Text && !t.Is("-") && !t.Is("+")) {
			return nil
		}
		if n > 0 && (t.Is("-") || t.Is("+")) && (p.peek(1).Kind != Number || !p.unit(2)) {
			return nil
		}
		if _, err := p.unary(); err != nil {
			return err
		}
		if p.unit(0) {
			p.Next()
		}
		if p.Keyword("TO") {
			p.Next()
		}
	}
}

// unit reports whether the token n ahead is a unit of time.
func (p *Parser) unit(n int) bool {
	t := p.peek(n)
	return t.in(units) || strings.HasSuffix(upper(t.Text), "S") && Token{Kind: t.Kind, Text: t.Text[:len(t.Text)-1]}.in(units)
}
