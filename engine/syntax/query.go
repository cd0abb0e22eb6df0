package syntax

// Select reads a query up to where it ends; End checks that nothing follows. A query that is more than SELECT over one table is read as far
// as it is recognised, and what it is more is named in the result.
func (p *Parser) Select() (*Select, error) {
	first := p.next
	p.unsupported, p.unsupportedPos = "", Pos{}
	s, err := p.query()
	if err != nil {
		return nil, err
	}
	s.Unsupported, s.UnsupportedPos = p.unsupported, p.unsupportedPos
	if s.Unsupported != "" {
		s.source = p.tokens[first:p.next]
	}
	return s, nil
}

// query reads a query with its set operations and with what orders and limits the whole.
func (p *Parser) query() (*Select, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	if t := p.Peek(); p.Keyword("WITH") {
		p.refuse("WITH", t.Pos)
		if err := p.commonTables(); err != nil {
			return nil, err
		}
	}
	s, err := p.term()
	if err != nil {
		return nil, err
	}
	for p.Peek().in(setWords) || p.Peek().Is("|>") {
		if err := p.setOperation(); err != nil {
			return nil, err
		}
	}
	return s, p.organization(s)
}

var setWords = []string{"UNION", "INTERSECT", "EXCEPT", "MINUS", "SETMINUS"}

func (p *Parser) setOperation() error {
	t := p.Next()
	if t.Is("|>") {
		p.refuse("the pipe |>", t.Pos)
		return p.balanced()
	}
	p.refuse(upper(t.Text), t.Pos)
	if !p.Keyword("ALL") {
		p.Keyword("DISTINCT")
	}
	_, err := p.term()
	return err
}

// commonTables reads the list after WITH.
func (p *Parser) commonTables() error {
	p.Keyword("RECURSIVE")
	for {
		if _, err := p.Ident(); err != nil {
			return err
		}
		if p.Peek().Is("(") {
			if err := p.parenthesised(p.balanced); err != nil {
				return err
			}
		}
		p.Keyword("AS")
		if err := p.parenthesised(func() error { _, err := p.query(); return err }); err != nil {
			return err
		}
		if !p.Symbol(",") {
			return nil
		}
	}
}

// term reads one operand of a set operation.
func (p *Parser) term() (*Select, error) {
	t := p.Peek()
	switch {
	case p.Keyword("SELECT"):
		return p.selectBody()
	case p.Keyword("TABLE"):
		name, err := p.Name()
		return &Select{Items: []Item{{Star: true, Text: "*"}}, From: &TableRef{Name: name}}, err
	case t.Is("VALUES"):
		p.Next()
		p.refuse("VALUES", t.Pos)
		_, err := p.expressions()
		return &Select{}, err
	case t.Is("FROM"):
		p.refuse("FROM before SELECT", t.Pos)
		return &Select{}, p.balanced()
	case p.Symbol("("):
		s, err := p.query()
		if err != nil {
			return nil, err
		}
		return s, p.expect(")")
	}
	return nil, p.Unexpected()
}

// selectBody reads what follows SELECT.
func (p *Parser) selectBody() (*Select, error) {
	s := &Select{}
	if t := p.peek(1); p.ahead("DISTINCT") && !t.Is(",") && !t.Is(".") && !t.Is("FROM") {
		p.refuse("DISTINCT", p.Next().Pos)
	} else if p.ahead("ALL") && !t.Is(",") && !t.Is(".") && !t.Is("FROM") {
		p.Next()
	}
	if err := p.items(s); err != nil {
		return nil, err
	}
	if p.Keyword("FROM") {
		if err := p.from(s); err != nil {
			return nil, err
		}
	}
	if err := p.lateralViews(); err != nil {
		return nil, err
	}
	if p.Keyword("WHERE") {
		where, err := p.Expression()
		if err != nil {
			return nil, err
		}
		s.Where = where
	}
	return s, p.aggregation()
}

func (p *Parser) lateralViews() error {
	for t := p.Peek(); p.Keyword("LATERAL", "VIEW"); t = p.Peek() {
		p.refuse("LATERAL VIEW", t.Pos)
		p.Keyword("OUTER")
		if _, err := p.Expression(); err != nil {
			return err
		}
		for p.Peek().Kind == Quoted || p.Peek().Kind == Word && !p.Peek().in(clauseWords) || p.Peek().Is(",") {
			p.Next()
		}
	}
	return nil
}

// aggregation reads GROUP BY, HAVING, QUALIFY and WINDOW.
func (p *Parser) aggregation() error {
	if t := p.Peek(); p.Keyword("GROUP", "BY") {
		p.refuse("GROUP BY", t.Pos)
		if err := p.grouping(); err != nil {
			return err
		}
	}
	for _, word := range []string{"HAVING", "QUALIFY"} {
		if t := p.Peek(); p.Keyword(word) {
			p.refuse(word, t.Pos)
			if _, err := p.Expression(); err != nil {
				return err
			}
		}
	}
	if t := p.Peek(); p.Keyword("WINDOW") {
		p.refuse("WINDOW", t.Pos)
		return p.windows()
	}
	return nil
}

// grouping reads the list of GROUP BY.
func (p *Parser) grouping() error {
	for {
		switch {
		case p.Keyword("GROUPING", "SETS"):
			if err := p.parenthesised(p.balanced); err != nil {
				return err
			}
		case p.Peek().Is("(") && p.peek(1).Is(")"):
			p.next += 2
		default:
			if _, err := p.Expression(); err != nil {
				return err
			}
		}
		if p.Symbol(",") {
			continue
		}
		if p.Keyword("WITH", "ROLLUP") || p.Keyword("WITH", "CUBE") || !p.ahead("GROUPING", "SETS") {
			return nil
		}
	}
}

func (p *Parser) windows() error {
	for {
		if _, err := p.Ident(); err != nil {
			return err
		}
		if err := p.expect("AS"); err != nil {
			return err
		}
		if err := p.parenthesised(p.balanced); err != nil {
			return err
		}
		if !p.Symbol(",") {
			return nil
		}
	}
}

// items reads the select list into s.
func (p *Parser) items(s *Select) error {
	for {
		item, err := p.item()
		if err != nil {
			return err
		}
		s.Items = append(s.Items, item)
		if !p.Symbol(",") {
			return nil
		}
	}
}

func (p *Parser) item() (Item, error) {
	from := p.Peek().Pos
	if p.Symbol("*") {
		return Item{Star: true, Text: "*"}, p.starTail()
	}
	if n := p.qualifiedStar(); n > 0 {
		c := &Column{node: node{from}}
		for range n / 2 {
			part, err := p.Ident()
			if err != nil {
				return Item{}, err
			}
			p.Next()
			c.Parts = append(c.Parts, part)
		}
		p.Next()
		return Item{Star: true, Expr: c, Text: p.source(from.Offset)}, p.starTail()
	}
	e, err := p.Expression()
	if err != nil {
		return Item{}, err
	}
	item := Item{Expr: e, Text: p.source(from.Offset)}
	item.Alias, err = p.alias(nil)
	return item, err
}

// starTail reads EXCEPT (…) after a star.
func (p *Parser) starTail() error {
	if t := p.Peek(); (t.Is("EXCEPT") || t.Is("EXCLUDE") || t.Is("REPLACE")) && p.peek(1).Is("(") {
		p.Next()
		p.refuse("* "+upper(t.Text), t.Pos)
		return p.parenthesised(p.balanced)
	}
	return nil
}

// alias reads an alias, if there is one. Without AS, clause words and those of not are none.
func (p *Parser) alias(not []string) (*Ident, error) {
	as := p.Keyword("AS")
	t := p.Peek()
	if t.Is("(") && as {
		p.refuse("a list of aliases", t.Pos)
		return nil, p.parenthesised(p.balanced)
	}
	if !as && (t.Kind != Quoted && t.Kind != Word || t.in(clauseWords) || t.in(not)) {
		return nil, nil
	}
	ident, err := p.Ident()
	if err != nil {
		return nil, err
	}
	return &ident, nil
}

// organization reads ORDER BY and its kin, LIMIT, OFFSET and FETCH for the query s.
func (p *Parser) organization(s *Select) error {
	// Limits of a query in parentheses come first, and one tree cannot say that.
	nested := s.Limit != nil || s.Offset != nil
	var limit, offset bool
	for {
		t := p.Peek()
		var err error
		switch {
		case p.Keyword("ORDER", "BY"), p.Keyword("SORT", "BY"), p.Keyword("CLUSTER", "BY"), p.Keyword("DISTRIBUTE", "BY"):
			p.refuse(upper(t.Text)+" BY", t.Pos)
			err = p.ordering()
		case p.Keyword("WINDOW"):
			p.refuse("WINDOW", t.Pos)
			err = p.windows()
		case !limit && (t.Is("LIMIT") || t.Is("FETCH")):
			limit = true
			s.Limit, err = p.limit()
		case !offset && t.Is("OFFSET"):
			offset = true
			s.Offset, err = p.offset()
		default:
			return nil
		}
		if err != nil {
			return err
		}
		if nested && (limit || offset) {
			p.refuse("subquery", t.Pos)
		}
	}
}

// limit reads LIMIT n, LIMIT ALL, or FETCH FIRST n ROWS ONLY, where n may be missing and is then one.
func (p *Parser) limit() (Expr, error) {
	t := p.Next()
	if t.Is("LIMIT") {
		if p.Keyword("ALL") {
			return nil, nil
		}
		return p.Expression()
	}
	if !p.Keyword("FIRST") && !p.Keyword("NEXT") {
		return nil, p.Unexpected()
	}
	var n Expr = &Literal{node{t.Pos}, Integer, "1", "1"}
	if !p.ahead("ROW") && !p.ahead("ROWS") {
		var err error
		if n, err = p.Expression(); err != nil {
			return nil, err
		}
	}
	if !p.Keyword("ROWS", "ONLY") && !p.Keyword("ROW", "ONLY") {
		return nil, p.Unexpected()
	}
	return n, nil
}

func (p *Parser) offset() (Expr, error) {
	p.Next()
	e, err := p.Expression()
	if !p.Keyword("ROWS") {
		p.Keyword("ROW")
	}
	return e, err
}

func (p *Parser) ordering() error {
	for {
		if _, err := p.Expression(); err != nil {
			return err
		}
		if !p.Keyword("ASC") {
			p.Keyword("DESC")
		}
		if !p.Keyword("NULLS", "FIRST") {
			p.Keyword("NULLS", "LAST")
		}
		if !p.Symbol(",") {
			return nil
		}
	}
}
