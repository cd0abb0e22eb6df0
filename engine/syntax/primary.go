package syntax

import (
	"slices"
	"strings"
)

// primary reads an expression without operators around it.
func (p *Parser) primary() (Expr, error) {
	t := p.Peek()
	switch {
	case t.Kind == Number, t.Is("-"):
		return p.number()
	case t.Kind == Text:
		value, err := p.String()
		return &Literal{node{t.Pos}, String, p.source(t.Pos.Offset), value}, err
	case t.Is("?"), t.Is(":"):
		return p.parameter()
	case t.Is("("):
		return p.group()
	case t.Is("{"):
		return p.driverEscape()
	case t.Kind == Quoted:
		return p.named()
	case t.Kind == Word:
		return p.word(t)
	}
	return nil, p.Unexpected()
}

// number reads a number with the minus that belongs to it.
func (p *Parser) number() (Expr, error) {
	t := p.Next()
	sign := ""
	from := t.Pos
	if t.Is("-") {
		sign, t = "-", p.Next()
	}
	kind, value := numeric(t.Text)
	return &Literal{node{from}, kind, sign + t.Text, sign + value}, nil
}

func (p *Parser) parameter() (Expr, error) {
	t := p.Next()
	if t.Text == "?" {
		p.parameters++
		return &Parameter{node{t.Pos}, p.parameters - 1, ""}, nil
	}
	name, err := p.Ident()
	return &Parameter{node{t.Pos}, -1, name.Text}, err
}

// group reads what a parenthesis opens: an expression, a row of several, or a subquery.
func (p *Parser) group() (Expr, error) {
	from := p.Peek().Pos
	if p.peek(1).in(queryWords) {
		return p.subquery()
	}
	p.Next()
	e, err := p.Expression()
	if err != nil {
		return nil, err
	}
	switch _, kept := e.(*Unsupported); {
	case p.Peek().Is(","):
		return p.keepText("row of several values", from, from, func() error {
			p.Next()
			if _, err := p.expressions(); err != nil {
				return err
			}
			return p.expect(")")
		})
	case kept && p.Peek().in(afterQuery):
		return p.keepText("subquery", from, from, func() error {
			if err := p.balanced(); err != nil {
				return err
			}
			return p.expect(")")
		})
	}
	return e, p.expect(")")
}

// queryWords begin a query inside parentheses; afterQuery are the words that may follow one.
var (
	queryWords = []string{"SELECT", "WITH", "VALUES"}
	afterQuery = []string{"UNION", "INTERSECT", "EXCEPT", "MINUS", "ORDER", "LIMIT", "OFFSET"}
)

// subquery reads a query in parentheses.
func (p *Parser) subquery() (Expr, error) {
	at := p.Peek().Pos
	return called(p.keepText("subquery", at, at, func() error {
		return p.parenthesised(func() error { _, err := p.query(); return err })
	}))([]Part{{Words: "scalarsubquery()"}})
}

// driverEscape reads the escapes of ODBC and JDBC: {fn f(x)}, {d '…'}, {t '…'} and {ts '…'}.
func (p *Parser) driverEscape() (Expr, error) {
	at := node{p.Next().Pos}
	t := p.Peek()
	var e Expr
	var err error
	switch typ, typed := driverTypes[upper(t.Text)]; {
	case t.Kind == Word && typed:
		p.Next()
		var text string
		text, err = p.String()
		e = &Typed{at, typ, text}
	case p.Keyword("FN"):
		e, err = p.Expression()
	default:
		err = p.Unexpected()
	}
	if err != nil {
		return nil, err
	}
	return e, p.expect("}")
}

var driverTypes = map[string]string{"D": "DATE", "T": "TIME", "TS": "TIMESTAMP"}

// word reads what a bare word begins: a literal, a form with a grammar of its own, a call or a column. Every word can also be a column, so
// a form is taken for one only where what follows says so.
func (p *Parser) word(t Token) (Expr, error) {
	after := p.peek(1)
	at := node{t.Pos}
	if after.Kind == Text {
		return p.typed(t)
	}
	if after.Is("(") {
		return p.function(t)
	}
	if after.Is(".") {
		return p.named()
	}
	switch upper(t.Text) {
	case "NULL":
		p.Next()
		return &Literal{at, Null, t.Text, "null"}, nil
	case "TRUE", "FALSE":
		p.Next()
		return &Literal{at, Boolean, t.Text, lower(t.Text)}, nil
	case "CASE":
		if p.operand(after) || after.Is("WHEN") {
			return p.caseOf(t)
		}
	case "INTERVAL":
		if _, n, _ := ReadInterval(p.tokens[p.next:]); n > 0 || p.operand(after) {
			return p.interval(t)
		}
	}
	if t.in(clauseWords) && (p.operand(after) || after.Is("BY")) {
		return nil, p.Unexpected() // SELECT FROM t: a column was forgotten
	}
	if after.Is("->") {
		p.Next()
		return p.lambda(&Column{at, []Ident{{Text: t.Text, Pos: t.Pos}}}, t.Pos)
	}
	return p.named()
}

// operand reports whether a token begins an operand that cannot be an alias or a clause after a column.
func (p *Parser) operand(t Token) bool {
	switch t.Kind {
	case Number, Text, Quoted:
		return true
	case Word:
		_, op := Operator(t)
		return op == "" && !t.in(clauseWords) && !t.in(tests) && !t.Is("AS") && !t.Is("IS") && !t.Is("AND") && !t.Is("OR") && !t.Is("NOT")
	case Symbol:
		return t.Text == "?" || t.Text == "("
	default:
		return false
	}
}

// typed reads a type in front of a string.
func (p *Parser) typed(t Token) (Expr, error) {
	typ := upper(t.Text)
	if typ == "TIMESTAMPTZ" {
		typ = "TIMESTAMP_LTZ" // what tools of other engines write
	}
	switch typ {
	case "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "X":
		p.Next()
		text, err := p.String()
		return &Typed{node{t.Pos}, typ, text}, err
	case "INTERVAL":
		return p.interval(t)
	case "CASE":
		return p.caseOf(t)
	}
	if t.in(clauseWords) {
		return nil, p.Unexpected()
	}
	return nil, errorAt(t.Pos, "UNSUPPORTED_TYPED_LITERAL", "0A000", "Literals of the type \"%s\" are not supported. Supported types are "+
		"\"DATE\", \"TIMESTAMP_NTZ\", \"TIMESTAMP_LTZ\", \"TIMESTAMP\", \"INTERVAL\", \"X\", \"TIME\".", typ)
}

// named reads a dotted name in an expression: a column, or a function in a catalog.
func (p *Parser) named() (Expr, error) {
	at := node{p.Peek().Pos}
	first, err := p.Ident()
	if err != nil {
		return nil, err
	}
	parts := []Ident{first}
	for p.Peek().Is(".") && (p.peek(1).Kind == Word || p.peek(1).Kind == Quoted) {
		p.Next()
		part, err := p.Ident()
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	if p.Peek().Is("(") {
		return p.call(at, parts)
	}
	if len(p.lambdas) > 0 && slices.ContainsFunc(p.lambdas, func(v string) bool { return strings.EqualFold(v, parts[0].Text) }) {
		parts[0] = Ident{Text: "namedlambdavariable()", Pos: parts[0].Pos}
	}
	return &Column{at, parts}, nil
}
