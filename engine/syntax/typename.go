package syntax

import "strconv"

// TypeName reads a type.
func (p *Parser) TypeName() (TypeName, error) {
	name, err := p.typeName()
	if err == nil && p.angles > 0 {
		err = p.Unexpected()
	}
	return name, err
}

func (p *Parser) typeName() (TypeName, error) {
	if err := p.enter(); err != nil {
		return TypeName{}, err
	}
	defer p.leave()
	t := p.Peek()
	if t.Kind != Word {
		return TypeName{}, p.Unexpected()
	}
	p.Next()
	name := TypeName{Name: lower(t.Text), Pos: t.Pos}
	if same, ok := sameTypes[name.Name]; ok {
		name.Name = same
	}
	return p.typeTail(name)
}

// sameTypes are names that tools of other engines write, by which they spell types again that were written otherwise.
var sameTypes = map[string]string{"timestampntz": "timestamp_ntz", "timestampltz": "timestamp_ltz", "timestamptz": "timestamp_ltz"}

// typeTail reads what follows the first word of a type.
func (p *Parser) typeTail(name TypeName) (TypeName, error) {
	switch {
	case name.Name == "array" && p.Symbol("<"):
		return p.elements(name, 1)
	case name.Name == "map" && p.Symbol("<"):
		return p.elements(name, 2)
	case name.Name == "struct" && p.Symbol("<"):
		return p.fields(name)
	case name.Name == "struct" && p.Symbol("<>"):
		return name, nil
	case name.Name == "double" && p.Keyword("PRECISION"):
	case name.Name == "interval":
		for p.unit(0) || p.ahead("TO") {
			name.Name += " " + lower(p.Next().Text)
		}
	case p.Peek().Is("("):
		if err := p.parenthesised(func() error { return p.typeParameters(&name) }); err != nil {
			return name, err
		}
	}
	if name.Name == "timestamp" || name.Name == "time" {
		for _, zone := range []string{"WITH", "WITHOUT"} {
			if p.Keyword(zone, "TIME", "ZONE") {
				name.Name += " " + lower(zone) + " time zone"
			}
		}
	}
	return name, nil
}

func (p *Parser) typeParameters(name *TypeName) error {
	for {
		t := p.Peek()
		n, err := strconv.Atoi(t.Text)
		if t.Kind != Number || err != nil {
			return p.Unexpected()
		}
		p.Next()
		name.Params = append(name.Params, n)
		if !p.Symbol(",") {
			return nil
		}
	}
}

// elements reads n types up to the closing angle.
func (p *Parser) elements(name TypeName, n int) (TypeName, error) {
	for i := range n {
		if i > 0 {
			if err := p.expect(","); err != nil {
				return name, err
			}
		}
		arg, err := p.typeName()
		if err != nil {
			return name, err
		}
		name.Args = append(name.Args, arg)
	}
	return name, p.angle()
}

// fields reads the fields of a struct up to the closing angle.
func (p *Parser) fields(name TypeName) (TypeName, error) {
	for {
		ident, err := p.Ident()
		if err != nil {
			return name, err
		}
		p.Symbol(":")
		typ, err := p.typeName()
		if err != nil {
			return name, err
		}
		if p.Keyword("NOT") {
			if err := p.expect("NULL"); err != nil {
				return name, err
			}
		}
		if p.ahead("COMMENT") && (p.peek(1).Kind == Text || p.peek(1).Kind == Quoted) {
			p.Next()
			if _, err := p.String(); err != nil {
				return name, err
			}
		}
		name.Fields = append(name.Fields, TypeField{ident, typ})
		if !p.Symbol(",") {
			return name, p.angle()
		}
	}
}

// angle consumes one closing angle, which the scanner may have joined with the ones after it.
func (p *Parser) angle() error {
	t := p.Peek()
	if t.Kind != Symbol || t.Text[0] != '>' || t.Text == ">=" {
		return p.Unexpected()
	}
	if p.angles++; p.angles == len(t.Text) {
		p.angles = 0
		p.Next()
	}
	return nil
}
