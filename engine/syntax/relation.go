package syntax

// from reads the relations after FROM. Of several, s keeps the first.
func (p *Parser) from(s *Select) error {
	table, err := p.joined()
	if err != nil {
		return err
	}
	s.From = table
	for t := p.Peek(); p.Symbol(","); t = p.Peek() {
		p.refuse("JOIN", t.Pos)
		if _, err := p.joined(); err != nil {
			return err
		}
	}
	if t := p.Peek(); t.Is("PIVOT") || t.Is("UNPIVOT") {
		p.Next()
		p.refuse(upper(t.Text), t.Pos)
		if err := p.parenthesised(p.balanced); err != nil {
			return err
		}
		_, err := p.alias(joinWords)
		return err
	}
	return nil
}

// joined reads a relation with the ones joined to it.
func (p *Parser) joined() (*TableRef, error) {
	table, err := p.relation()
	for err == nil {
		t, n := p.Peek(), p.join()
		if n == 0 {
			return table, nil
		}
		p.next += n
		p.refuse("JOIN", t.Pos)
		if _, err = p.relation(); err == nil {
			err = p.condition()
		}
	}
	return nil, err
}

// join gives the number of words of a join that comes next, JOIN among them, or 0.
func (p *Parser) join() int {
	for n := range 5 {
		t := p.peek(n)
		if t.Is("JOIN") {
			return n + 1
		}
		if !t.in(joinWords) && !t.Is("OUTER") {
			return 0
		}
	}
	return 0
}

// condition reads ON or USING after a join, if there is one.
func (p *Parser) condition() error {
	if p.Keyword("USING") {
		return p.parenthesised(p.balanced)
	}
	if p.Keyword("ON") {
		_, err := p.Expression()
		return err
	}
	return nil
}

// relation reads one relation: a table, a subquery, a table function, or relations in parentheses.
func (p *Parser) relation() (*TableRef, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	t := p.Peek()
	if t.Is("LATERAL") && p.peek(1).Is("(") {
		p.Next()
		p.refuse("LATERAL", t.Pos)
	}
	switch {
	case p.Peek().Is("("):
		return p.nested()
	case t.Is("VALUES") && p.operand(p.peek(1)):
		p.Next()
		p.refuse("VALUES", t.Pos)
		if _, err := p.expressions(); err != nil {
			return nil, err
		}
		return nil, p.tableAlias(nil)
	case t.in(clauseWords) && p.operand(p.peek(1)):
		return nil, p.Unexpected() // FROM WHERE a = 1: a table was forgotten
	}
	return p.table()
}

// nested reads a parenthesis in FROM.
func (p *Parser) nested() (*TableRef, error) {
	at := p.Next().Pos
	var table *TableRef
	var err error
	if p.Peek().in(queryWords) || p.ahead("FROM") {
		p.refuse("subquery", at)
		_, err = p.query()
	} else if table, err = p.joined(); err == nil && p.Peek().in(afterQuery) {
		err = p.balanced()
	}
	if err != nil {
		return nil, err
	}
	if err := p.expect(")"); err != nil {
		return nil, err
	}
	if table != nil && (table.Alias == nil || !p.aliasAhead()) {
		return table, p.tableAlias(table)
	}
	p.refuse("subquery", at)
	return nil, p.tableAlias(nil)
}

// table reads a name with its time travel, read options and alias.
func (p *Parser) table() (*TableRef, error) {
	name, err := p.Name()
	if err != nil {
		return nil, err
	}
	table := &TableRef{Name: name}
	if t := p.Peek(); t.Is("(") {
		p.refuse("table function", name[0].Pos)
		if err := p.parenthesised(p.balanced); err != nil {
			return nil, err
		}
		return nil, p.tableAlias(nil)
	}
	if table.At, err = p.TimeTravel(); err != nil {
		return nil, err
	}
	if p.ahead("WITH") && p.peek(1).Is("(") {
		p.Next()
		if table.Options, err = p.Options(); err != nil {
			return nil, err
		}
	}
	if t := p.Peek(); t.Is("TABLESAMPLE") {
		p.Next()
		p.refuse("TABLESAMPLE", t.Pos)
		if err := p.parenthesised(p.balanced); err != nil {
			return nil, err
		}
		if p.Keyword("REPEATABLE") {
			if err := p.parenthesised(p.balanced); err != nil {
				return nil, err
			}
		}
	}
	return table, p.tableAlias(table)
}

// aliasAhead reports whether an alias of a table comes next.
func (p *Parser) aliasAhead() bool {
	t := p.Peek()
	return t.Is("AS") || t.Kind == Quoted || t.Kind == Word && !t.in(clauseWords) && !t.in(joinWords)
}

// tableAlias reads the alias of a relation into table, unless that is nil, and the names of its columns.
func (p *Parser) tableAlias(table *TableRef) error {
	alias, err := p.alias(joinWords)
	if err != nil {
		return err
	}
	if table != nil && alias != nil {
		table.Alias = alias
	}
	if t := p.Peek(); alias != nil && t.Is("(") {
		p.refuse("a list of column aliases", t.Pos)
		return p.parenthesised(p.balanced)
	}
	return nil
}

// TimeTravel reads [FOR] VERSION or SYSTEM_VERSION AS OF a number or a string, or [FOR] TIMESTAMP or SYSTEM_TIME AS OF an expression. It
// gives nil where none of them comes next.
func (p *Parser) TimeTravel() (*TimeTravel, error) {
	n := 0
	if p.ahead("FOR") {
		n = 1
	}
	version := p.peek(n).in([]string{"VERSION", "SYSTEM_VERSION"})
	if !version && !p.peek(n).in([]string{"TIMESTAMP", "SYSTEM_TIME"}) || !p.peek(n+1).Is("AS") || !p.peek(n+2).Is("OF") {
		return nil, nil
	}
	p.next += n + 3
	t := p.Peek()
	at := &TimeTravel{Version: version, Pos: t.Pos}
	var err error
	switch {
	case !version:
		at.Expr, err = p.value(0)
	case t.Kind == Text:
		var text string
		text, err = p.String()
		at.Text = &text
	case t.Kind == Number && digits(t.Text) == len(t.Text):
		at.Number = p.Next().Text
	default:
		err = p.Unexpected()
	}
	at.Source = p.source(t.Pos.Offset)
	return at, err
}

// Options reads a list of key = value pairs in parentheses. Keys are strings or dotted names; values are strings, numbers or booleans.
func (p *Parser) Options() ([]TableOption, error) {
	var options []TableOption
	known := map[string]bool{}
	return options, p.parenthesised(func() error {
		for {
			o, err := p.option()
			if err != nil {
				return err
			}
			if known[o.Key] {
				return errorAt(o.Pos, "DUPLICATE_KEY", "23505", "Found duplicate keys %s.", BackQuote(o.Key))
			}
			known[o.Key] = true
			options = append(options, o)
			if !p.Symbol(",") {
				return nil
			}
		}
	})
}

func (p *Parser) option() (TableOption, error) {
	o := TableOption{Pos: p.Peek().Pos}
	var err error
	if p.Peek().Kind == Text {
		o.Key, err = p.String()
	} else {
		var name []Ident
		name, err = p.Name()
		for i, part := range name {
			if i > 0 {
				o.Key += "."
			}
			o.Key += part.Text
		}
	}
	if err != nil {
		return o, err
	}
	if !p.Symbol("=") {
		p.Symbol("==")
	}
	t := p.Peek()
	if t.Is(",") || t.Is(")") {
		return o, errorAt(o.Pos, "_LEGACY_ERROR_TEMP_0035", "42000", "Operation not allowed: Values must be specified for key(s): [%s].", o.Key)
	}
	if t.Kind != Number && t.Kind != Text && !t.Is("-") && !t.Is("TRUE") && !t.Is("FALSE") {
		return o, p.Unexpected()
	}
	o.Value, err = p.primary()
	return o, err
}
