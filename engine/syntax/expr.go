package syntax

import "unicode/utf8"

// Expression reads one expression, boolean or not.
func (p *Parser) Expression() (Expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	return p.chain("OR", func() (Expr, error) { return p.chain("AND", p.negation) })
}

// chain reads operands joined by AND or OR. Both are associative, so the tree is balanced: long lists stay shallow.
func (p *Parser) chain(op string, operand func() (Expr, error)) (Expr, error) {
	var operands []Expr
	for {
		e, err := operand()
		if err != nil {
			return nil, err
		}
		operands = append(operands, e)
		if !p.Keyword(op) {
			return balance(op, operands), nil
		}
	}
}

func balance(op string, operands []Expr) Expr {
	if len(operands) == 1 {
		return operands[0]
	}
	half := (len(operands) + 1) / 2
	left, right := balance(op, operands[:half]), balance(op, operands[half:])
	return &Binary{node{left.Pos()}, op, left, right}
}

// negation reads NOT and what binds tighter: predicates.
func (p *Parser) negation() (Expr, error) {
	t := p.Peek()
	if !t.Is("NOT") && !t.Is("!") {
		return p.predicate()
	}
	p.Next()
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	e, err := p.negation()
	if err != nil {
		return nil, err
	}
	return &Unary{node{t.Pos}, "NOT", e}, nil
}

// predicate reads a value and at most one test of it.
func (p *Parser) predicate() (Expr, error) {
	e, err := p.value(0)
	if err != nil {
		return nil, err
	}
	at := node{e.Pos()}
	if p.Keyword("IS") {
		return p.is(at, e)
	}
	not := false
	if t := p.peek(1); p.ahead("NOT") && t.in(tests) {
		p.Next()
		not = true
	}
	switch {
	case p.ahead("IN") && p.peek(1).Is("("):
		return p.in(at, e, not)
	case p.Keyword("BETWEEN"):
		return p.between(at, e, not)
	case p.Keyword("LIKE"):
		return p.like(&Like{node: at, Expr: e, Not: not})
	case p.Keyword("ILIKE"):
		return p.like(&Like{node: at, Expr: e, Not: not, CaseInsensitive: true})
	case p.Keyword("RLIKE"), p.Keyword("REGEXP"):
		return p.like(&Like{node: at, Expr: e, Not: not, Regex: true})
	case not:
		return nil, p.Unexpected()
	}
	return e, nil
}

// tests are the words that may follow NOT after a value.
var tests = []string{"IN", "BETWEEN", "LIKE", "ILIKE", "RLIKE", "REGEXP"}

// quantifiers stand in front of a list of patterns.
var quantifiers = []string{"ANY", "SOME", "ALL"}

// is reads what follows IS.
func (p *Parser) is(at node, e Expr) (Expr, error) {
	not := p.Keyword("NOT")
	switch {
	case p.Keyword("NULL"):
		return &IsNull{at, e, not, false}, nil
	case p.Keyword("UNKNOWN"):
		return &IsNull{at, e, not, true}, nil
	case p.Keyword("TRUE"):
		return &IsBool{at, e, true, not}, nil
	case p.Keyword("FALSE"):
		return &IsBool{at, e, false, not}, nil
	case p.Keyword("DISTINCT", "FROM"):
		right, err := p.value(0)
		if err != nil {
			return nil, err
		}
		var same Expr = &Binary{at, "<=>", e, right}
		if !not {
			same = &Unary{at, "NOT", same}
		}
		return same, nil
	}
	return nil, p.Unexpected()
}

// in reads IN and its list.
func (p *Parser) in(at node, e Expr, not bool) (Expr, error) {
	p.Next()
	if p.peek(1).in(queryWords) {
		sub, err := called(p.subquery())([]Part{{Words: "listquery()"}})
		return &In{at, e, []Expr{sub}, not}, err
	}
	p.Next()
	list, err := p.expressions()
	if err != nil {
		return nil, err
	}
	return &In{at, e, list, not}, p.expect(")")
}

// expressions reads expressions with commas between them.
func (p *Parser) expressions() ([]Expr, error) {
	var list []Expr
	for {
		e, err := p.Expression()
		if err != nil {
			return nil, err
		}
		list = append(list, e)
		if !p.Symbol(",") {
			return list, nil
		}
	}
}

func (p *Parser) between(at node, e Expr, not bool) (Expr, error) {
	low, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if err := p.expect("AND"); err != nil {
		return nil, err
	}
	high, err := p.value(0)
	return &Between{at, e, low, high, not}, err
}

// like reads the pattern of a Like that is otherwise complete.
func (p *Parser) like(l *Like) (Expr, error) {
	if t := p.Peek(); !l.Regex && p.peek(1).Is("(") && t.in(quantifiers) {
		if p.peek(2).in(queryWords) {
			return p.keepText("LIKE "+upper(t.Text)+" with a query", l.Pos(), t.Pos, func() error {
				p.Next()
				return p.parenthesised(p.balanced)
			})
		}
		p.Next()
		p.Next()
		list, err := p.expressions()
		if err != nil {
			return nil, err
		}
		return &LikeList{l.node, l.Expr, list, l.Not, l.CaseInsensitive, t.Is("ALL")}, p.expect(")")
	}
	var err error
	if l.Pattern, err = p.value(0); err != nil || l.Regex || !p.Keyword("ESCAPE") {
		return l, err
	}
	from := p.Peek().Pos
	value, err := p.String()
	l.Escape = &Literal{node{from}, String, p.source(from.Offset), value}
	if err == nil && utf8.RuneCountInString(value) > 1 {
		err = errorAt(from, "INVALID_ESC", "42604", "Found an invalid escape string: %s. The escape string must contain only one character.", l.Escape.Text)
	}
	return l, err
}

// operators by how tight they bind, the loosest first; each spelling with the one that the tree uses.
var operators = []map[string]string{
	{"=": "=", "==": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", "!>": "<=", ">": ">", ">=": ">=", "!<": ">=", "<=>": "<=>"},
	{"|": "|"},
	{"^": "^"},
	{"&": "&"},
	{"<<": "<<", ">>": ">>", ">>>": ">>>"},
	{"+": "+", "-": "-", "||": "||"},
	{"*": "*", "/": "/", "%": "%", "DIV": "DIV"},
}

// Operator gives the level and the canonical spelling of a token that is a binary operator: 0 for comparisons, more for what binds tighter, less for none.
func Operator(t Token) (level int, op string) {
	if t.Kind != Symbol && !t.Is("DIV") {
		return -1, ""
	}
	for level, ops := range operators {
		if op, ok := ops[upper(t.Text)]; ok {
			return level, op
		}
	}
	return -1, ""
}

// value reads operators that bind at least as tight as level, which associate to the left.
func (p *Parser) value(level int) (Expr, error) {
	left, err := p.unary()
	if err != nil {
		return nil, err
	}
	for n := 0; ; n++ {
		l, op := Operator(p.Peek())
		if l < level {
			return left, nil
		}
		if err := p.link(n); err != nil {
			return nil, err
		}
		p.Next()
		right, err := p.value(l + 1)
		if err != nil {
			return nil, err
		}
		left = &Binary{node{left.Pos()}, op, left, right}
	}
}

// unary reads signs and what binds tighter. A minus before a number makes a negative literal, so that the smallest one can be written.
func (p *Parser) unary() (Expr, error) {
	t := p.Peek()
	if t.Kind != Symbol || t.Text != "-" && t.Text != "+" && t.Text != "~" {
		return p.postfix()
	}
	if t.Text == "-" && p.peek(1).Kind == Number {
		return p.postfix()
	}
	p.Next()
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	e, err := p.unary()
	return &Unary{node{t.Pos}, t.Text, e}, err
}

// postfix reads a primary expression with the casts, subscripts and fields after it.
func (p *Parser) postfix() (Expr, error) {
	from := p.Peek().Pos
	e, err := p.primary()
	for n := 0; err == nil; n++ {
		switch t := p.Peek(); {
		case p.Symbol("::"):
			var name TypeName
			if name, err = p.TypeName(); err == nil {
				e, err = &Cast{node{from}, e, name, false}, p.link(n)
			}
		case t.Is("["), t.Is("."):
			return p.path(from, e)
		default:
			return e, nil
		}
	}
	return nil, err
}

// path reads subscripts, fields and casts after a primary expression that is no plain name.
func (p *Parser) path(from Pos, e Expr) (Expr, error) {
	feature := "subscript"
	if p.Peek().Is(".") {
		feature = "field of an expression"
	}
	parts := []Part{{Expr: e}}
	out, err := p.keepText(feature, from, p.Peek().Pos, func() error {
		for {
			switch {
			case p.Symbol("["):
				key, err := p.Expression()
				if err != nil {
					return err
				}
				parts = append(parts, Part{"[", key}, Part{Words: "]"})
				if err := p.expect("]"); err != nil {
					return err
				}
			case p.Symbol("."):
				field, err := p.Ident()
				if err != nil {
					return err
				}
				parts = append(parts, Part{Words: "." + field.Text})
			case p.Symbol("::"):
				t, err := p.TypeName()
				if err != nil {
					return err
				}
				parts = []Part{{Expr: &Cast{node{from}, &Unsupported{node{from}, feature, parts, nil}, t, false}}}
			default:
				return nil
			}
		}
	})
	return called(out, err)(parts)
}
