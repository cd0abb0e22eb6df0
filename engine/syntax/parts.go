package syntax

import (
	"strconv"
	"strings"
)

// called gives a construct that was read the parts that a column of it is called after.
func called(e Expr, err error) func([]Part) (Expr, error) {
	return func(parts []Part) (Expr, error) {
		if u, ok := e.(*Unsupported); ok && err == nil {
			u.Parts = parts
		}
		return e, err
	}
}

// trying reads ahead; what it could not read gives no parts, and the cursor stays where it was.
func (p *Parser) trying(read func(p *Parser) []Part) []Part {
	ahead := *p
	return read(&ahead)
}

// trimParts reads ahead of TRIM(BOTH a FROM b).
func (p *Parser) trimParts() []Part {
	return p.trying(func(p *Parser) []Part {
		p.next += 2
		side := upper(p.Next().Text)
		parts := []Part{{Words: "TRIM(" + side}}
		if p.Keyword("FROM") {
			e, err := p.Expression()
			if err != nil || !p.Peek().Is(")") {
				return nil
			}
			return []Part{{blankTrims[side], e}, {Words: ")"}}
		}
		what, err := p.Expression()
		if err != nil {
			return nil
		}
		return p.closed(append(parts, Part{" ", what}), "FROM", " FROM ")
	})
}

// blankTrims is what Spark calls TRIM of blanks, by the side.
var blankTrims = map[string]string{"BOTH": "trim(", "LEADING": "ltrim(", "TRAILING": "rtrim("}

// closed reads a word with an expression, the last of a call.
func (p *Parser) closed(parts []Part, word, words string) []Part {
	if !p.Keyword(word) {
		return nil
	}
	e, err := p.Expression()
	if err != nil || !p.Peek().Is(")") {
		return nil
	}
	return append(parts, Part{words, e}, Part{Words: ")"})
}

// unitParts reads ahead of a call with a unit, which Spark calls by the names of ODBC.
func (p *Parser) unitParts() []Part {
	return p.trying(func(p *Parser) []Part {
		words := "timestampadd("
		if strings.HasSuffix(upper(p.Next().Text), "DIFF") {
			words = "timestampdiff("
		}
		p.Next()
		words += upper(p.Next().Text)
		var parts []Part
		for p.Symbol(",") {
			e, err := p.Expression()
			if err != nil {
				return nil
			}
			parts = append(parts, Part{words + ", ", e})
			words = ""
		}
		return append(parts, Part{Words: ")"})
	})
}

// innerParts reads ahead of a call whose arguments words part, behind its first argument.
func (p *Parser) innerParts(c *Call) []Part {
	return p.trying(func(p *Parser) []Part {
		name := lower(c.Name[len(c.Name)-1].Text)
		switch name {
		case "extract":
			return p.closed([]Part{{"extract(", c.Args[0]}}, "FROM", " FROM ")
		case "trim":
			return p.closed([]Part{{"TRIM(BOTH ", c.Args[0]}}, "FROM", " FROM ")
		case "position":
			parts := p.closed([]Part{{"locate(", c.Args[0]}}, "IN", ", ")
			if len(parts) == 3 {
				parts[2].Words = ", 1)"
			}
			return parts
		case "substring", "substr", "overlay":
			if name == "substr" {
				name = "substring"
			}
			parts := []Part{{name + "(", c.Args[0]}}
			for p.Keyword("FROM") || p.Keyword("FOR") || p.Keyword("PLACING") {
				e, err := p.Expression()
				if err != nil {
					return nil
				}
				parts = append(parts, Part{", ", e})
			}
			if p.Peek().Is(")") {
				return append(parts, Part{Words: missing[name+strconv.Itoa(len(parts))] + ")"})
			}
		}
		return nil
	})
}

// missing is what Spark adds to calls of so many arguments with words between them.
var missing = map[string]string{"substring2": ", 2147483647", "overlay3": ", -1"}

// lambda reads the body of a function of variables; the arrow comes next.
func (p *Parser) lambda(variables Expr, from Pos) (Expr, error) {
	var names []string
	switch v := variables.(type) {
	case *Column:
		names = []string{v.Parts[0].Text}
	case *Unsupported:
		for _, t := range v.source {
			if t.Kind == Word || t.Kind == Quoted {
				names = append(names, t.Name())
			}
		}
	}
	outer := p.lambdas
	p.lambdas = append(append([]string{}, outer...), names...)
	var body Expr
	e, err := p.keepText("lambda function", from, from, func() (err error) {
		p.Next()
		body, err = p.Expression()
		return err
	})
	p.lambdas = outer
	return called(e, err)([]Part{{"lambdafunction(", body}, {Words: strings.Repeat(", namedlambdavariable()", len(names)) + ")"}})
}

// tailParts reads ahead of FILTER and OVER behind a call.
func (p *Parser) tailParts(c *Call) []Part {
	return p.trying(func(p *Parser) []Part {
		ignore := p.Keyword("IGNORE", "NULLS")
		nulls := ignore || p.Keyword("RESPECT", "NULLS")
		if ignore {
			c = withoutNulls(c)
		}
		switch {
		case p.Keyword("WITHIN", "GROUP"):
			return p.withinTail(c)
		case p.Keyword("FILTER") && p.Symbol("(") && p.Keyword("WHERE"):
			return p.filterParts([]Part{{Expr: c}})
		case p.Keyword("OVER") && p.Symbol("("):
			parts := p.windowParts(c)
			if ignore && len(parts) > 1 && lower(c.Name[len(c.Name)-1].Text) == "nth_value" {
				parts = append([]Part{parts[0], {Words: " ignore nulls"}}, parts[1:]...)
			}
			return parts
		case nulls && !p.ahead("OVER"):
			return []Part{{Expr: c}}
		}
		return nil
	})
}

// withoutNulls is how Spark spells a call with IGNORE NULLS.
func withoutNulls(c *Call) *Call {
	name := lower(c.Name[len(c.Name)-1].Text)
	if name != "first_value" && name != "last_value" {
		return c
	}
	shown := *c
	shown.Name = []Ident{{Text: strings.TrimSuffix(name, "_value")}}
	return &shown
}

// filterParts reads the condition behind FILTER (WHERE of a call with these parts.
func (p *Parser) filterParts(call []Part) []Part {
	e, err := p.Expression()
	if err != nil || !p.Symbol(")") || p.ahead("OVER") {
		return nil
	}
	return append(call, Part{" FILTER (WHERE ", e}, Part{Words: ")"})
}

// withinTail reads what stands behind WITHIN GROUP, and what may follow that.
func (p *Parser) withinTail(c *Call) []Part {
	parts := p.withinParts(c)
	switch {
	case parts == nil:
	case p.Keyword("FILTER") && p.Symbol("(") && p.Keyword("WHERE"):
		return p.filterParts(parts)
	case p.Keyword("OVER") && p.Symbol("("):
		if window := p.windowParts(c); window != nil {
			return append(parts, window[1:]...)
		}
		return nil
	}
	return parts
}

// withinParts reads the order behind WITHIN GROUP. Spark spells what the order of texts leaves out, and that of percentiles as it is.
func (p *Parser) withinParts(c *Call) []Part {
	if !p.Symbol("(") || !p.Keyword("ORDER", "BY") {
		return nil
	}
	name := lower(c.Name[len(c.Name)-1].Text)
	percentile := strings.HasPrefix(name, "percentile")
	shown := *c
	if name == "string_agg" {
		shown.Name = []Ident{{Text: "listagg"}}
	}
	parts := []Part{{Expr: &shown}}
	words := " WITHIN GROUP (ORDER BY "
	for {
		e, err := p.Expression()
		if err != nil {
			return nil
		}
		direction := p.direction()
		if percentile || name == "mode" {
			direction, _, _ = strings.Cut(strings.TrimPrefix(direction, " ASC"), " NULLS")
		}
		if name == "mode" { // which Spark spells the other way round
			direction = map[string]string{"": " DESC"}[direction]
		}
		parts = append(parts, Part{words, e}, Part{Words: direction})
		if words = ", "; !p.Symbol(",") {
			break
		}
	}
	if !p.Symbol(")") {
		return nil
	}
	return append(parts, Part{Words: ")"})
}

// The frames of windows that say none, as Spark spells them.
const (
	toCurrentRow   = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
	toCurrentValue = "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
	allRows        = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
)

// ranking are the functions that have a frame of their own, as Spark spells it.
var ranking = map[string]string{"row_number": toCurrentRow, "rank": toCurrentRow, "dense_rank": toCurrentRow, "percent_rank": toCurrentRow, "ntile": toCurrentRow, "cume_dist": toCurrentValue}

// windowParts reads what a window is made of, behind OVER (.
func (p *Parser) windowParts(c *Call) []Part {
	name := lower(c.Name[len(c.Name)-1].Text)
	parts := []Part{{Expr: c}}
	if name == "ntile" && len(c.Args) == 0 {
		parts = []Part{{Words: "ntile(1)"}}
	}
	if name == "rank" || name == "dense_rank" || name == "percent_rank" {
		parts = []Part{{Words: upper(name) + "()"}}
	}
	frame := allRows
	space := " OVER ("
	word := func(words string) string { words, space = space+words, " "; return words }
	if p.Keyword("PARTITION", "BY") {
		list, err := p.expressions()
		if err != nil {
			return nil
		}
		for i, e := range list {
			if i == 0 {
				parts = append(parts, Part{word("PARTITION BY "), e})
				continue
			}
			parts = append(parts, Part{", ", e})
		}
	}
	if p.Keyword("ORDER", "BY") {
		frame = toCurrentValue
		words := word("ORDER BY ")
		for {
			e, err := p.Expression()
			if err != nil {
				return nil
			}
			parts = append(parts, Part{words, e}, Part{Words: p.direction()})
			if words = ", "; !p.Symbol(",") {
				break
			}
		}
	}
	if own, ok := ranking[name]; ok {
		frame = own
	}
	if shifted := offsetParts(name, c); shifted != nil {
		parts, frame = append(shifted[:1:1], parts[1:]...), shifted[1].Words
	}
	if p.ahead("ROWS") || p.ahead("RANGE") {
		bounds := p.frame()
		if bounds == nil {
			return nil
		}
		bounds[0].Words = word("") + bounds[0].Words
		parts, frame = append(parts, bounds...), ""
	} else {
		frame = word("") + frame
	}
	if !p.Peek().Is(")") {
		return nil
	}
	return append(parts, Part{Words: frame + ")"})
}

// offsetParts gives the call and the frame of lag and lead, whose arguments Spark completes; nil: it is another function.
func offsetParts(name string, c *Call) []Part {
	if name != "lag" && name != "lead" || len(c.Args) == 0 || len(c.Args) > 3 {
		return nil
	}
	full := *c
	offset := "1"
	if len(c.Args) > 1 {
		n, ok := c.Args[1].(*Literal)
		if !ok || n.Kind != Integer {
			return nil
		}
		offset = n.Value
	}
	for i, value := range []*Literal{{Kind: Integer, Text: "1", Value: "1"}, {Kind: Null, Text: "NULL", Value: "null"}} {
		if len(full.Args) < i+2 {
			full.Args = append(full.Args[:i+1:i+1], value)
		}
	}
	switch positive, negative := strings.CutPrefix(offset, "-"); {
	case name == "lead" || offset == "0":
	case negative:
		offset = positive
	default:
		offset = "-" + offset
	}
	return []Part{{Expr: &full}, {Words: "ROWS BETWEEN " + offset + " FOLLOWING AND " + offset + " FOLLOWING"}}
}

// direction reads what follows an element of ORDER BY, and spells all of it.
func (p *Parser) direction() string {
	words, nulls := " ASC", " NULLS FIRST"
	if p.Keyword("DESC") {
		words, nulls = " DESC", " NULLS LAST"
	} else {
		p.Keyword("ASC")
	}
	switch {
	case p.Keyword("NULLS", "FIRST"):
		nulls = " NULLS FIRST"
	case p.Keyword("NULLS", "LAST"):
		nulls = " NULLS LAST"
	}
	return words + nulls
}

// frame reads ROWS or RANGE with its bounds; nil: it is none of ours.
func (p *Parser) frame() []Part {
	kind := upper(p.Next().Text) + " BETWEEN "
	if !p.Keyword("BETWEEN") {
		from := p.frameBound(kind)
		return append(from, Part{Words: " AND CURRENT ROW"})
	}
	from := p.frameBound(kind)
	if from == nil || !p.Keyword("AND") {
		return nil
	}
	to := p.frameBound(" AND ")
	if to == nil {
		return nil
	}
	return append(from, to...)
}

func (p *Parser) frameBound(words string) []Part {
	for _, fixed := range [][]string{{"UNBOUNDED", "PRECEDING"}, {"UNBOUNDED", "FOLLOWING"}, {"CURRENT", "ROW"}} {
		if p.Keyword(fixed...) {
			return []Part{{Words: words + strings.Join(fixed, " ")}}
		}
	}
	e, err := p.value(0)
	if side := upper(p.Peek().Text); err == nil && (p.Keyword("PRECEDING") || p.Keyword("FOLLOWING")) {
		return []Part{{words, e}, {Words: " " + side}}
	}
	return nil
}
