package dialect

import (
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// call writes a function call; the next token is the last part of its name.
func (r *rewriter) call(name []syntax.Ident, start int) {
	pos := r.at(start).Pos
	last := strings.ToLower(name[len(name)-1].Text)
	if len(name) > 1 && !strings.EqualFold(name[len(name)-2].Text, "system") && !strings.EqualFold(name[len(name)-2].Text, "builtin") {
		r.failed = unknownFunction(name, pos)
		return
	}
	before := r.next
	r.next++
	if r.lifted(last, r.next, func() { r.next = before; r.call(name, start) }) {
		return
	}
	if len(name) > 1 && transforms[last] != "" {
		r.function(transforms[last], pos)
		return
	}
	switch last {
	case "list_reduce": // what it makes may grow without a bound
		r.failed = unknownFunction(name, pos)
		return
	case "like_escape", "not_like_escape", "ilike_escape", "not_ilike_escape":
		r.refuse(start, "The function "+last+" is not called by its name: write LIKE … ESCAPE.")
		return
	case "cast", "try_cast":
		r.cast(strings.ToUpper(last), pos)
		return
	case "count":
		if r.at(r.next+1).Is("*") && r.at(r.next+2).Is(")") {
			r.emitAt("count(*)", pos)
			r.next += 3
			return
		}
		if r.countOfSeveral(pos) {
			return
		}
	}
	if text, ok := r.constantCall(last); ok {
		r.emitAt(text, pos)
		r.next += 2
		return
	}
	if r.substringFrom(last, pos) || r.intervalCall(last, pos) || r.aggregation(last, pos) || r.valueCall(last, pos) {
		return
	}
	if r.typeCall(last, pos) || r.coercedCall(last, pos) {
		return
	}
	if f, ok := r.lookup(last); ok {
		if f.rename != "" {
			r.function(f.rename, pos)
			return
		}
		if r.templated(f, last, pos) {
			return
		}
	}
	r.function(name[len(name)-1].Text, pos)
}

func unknownFunction(name []syntax.Ident, pos syntax.Pos) error {
	parts := make([]string, len(name))
	for i, p := range name {
		parts[i] = p.Text
	}
	return &syntax.Error{Message: "Cannot resolve routine `" + strings.Join(parts, "`.`") + "`.", Condition: "UNRESOLVED_ROUTINE", SQLState: "42883",
		Line: pos.Line, Column: pos.Column}
}

// function writes a call under a name.
func (r *rewriter) function(name string, pos syntax.Pos) {
	if !plain(name) {
		name = QuoteIdent(name)
	}
	r.emitAt(name, pos)
	defer r.grown(strings.ToLower(name), pos)()
	r.group(false)
}

// cast writes CAST(value AS type).
func (r *rewriter) cast(verb string, pos syntax.Pos) {
	end := r.endOf(r.next+1, "AS")
	if r.sparkCast(verb, end, pos) {
		return
	}
	r.emitAt(verb+"(", pos)
	r.next++
	for r.failed == nil && r.next < end {
		r.operand(&scope{})
	}
	if !r.is("AS") {
		r.fail(r.next)
		return
	}
	r.copy()
	r.typeName()
	for r.failed == nil && !r.closes() {
		r.copy()
	}
	r.close(")")
}

// templated writes a call by the template for its number of arguments; false: there is none.
func (r *rewriter) templated(f function, name string, pos syntax.Pos) bool {
	bounds := r.argumentBounds()
	if f.special != nil {
		return f.special(r, bounds, pos)
	}
	text := ""
	for _, t := range f.templates {
		if t.arguments == len(bounds) {
			text = t.text
		}
	}
	if text == "" {
		return false
	}
	done := r.grown(text, pos)
	args := r.argumentPieces(bounds)
	done()
	r.template(text, pos, args...)
	return true
}

// argumentBounds gives where each argument of the parenthesis that comes next begins and ends.
func (r *rewriter) argumentBounds() [][2]int {
	var out [][2]int
	from := r.next + 1
	if r.at(from).Is(")") {
		return nil
	}
	for {
		end := r.endOf(from, ",")
		out = append(out, [2]int{from, end})
		if !r.at(end).Is(",") {
			return out
		}
		from = end + 1
	}
}

// argumentPieces translates the arguments and moves behind the call.
func (r *rewriter) argumentPieces(bounds [][2]int) [][]piece {
	out := make([][]piece, len(bounds))
	r.depth++
	if r.depth > maxNesting {
		r.failed = tooComplex(r.peek().Pos, "levels of nesting", maxNesting)
	}
	for i, b := range bounds {
		r.next = b[0]
		out[i] = r.capture(func() {
			for r.failed == nil && r.next < b[1] {
				r.step(&scope{})
			}
		})
	}
	r.depth--
	if len(bounds) == 0 {
		r.next++
	}
	if r.failed == nil && !r.is(")") {
		r.fail(r.next)
	}
	r.next++
	return out
}

// literal gives the value of an argument that is one string literal.
func (r *rewriter) literal(b [2]int) (string, bool) {
	if b[1]-b[0] != 1 || r.at(b[0]).Kind != syntax.Text {
		return "", false
	}
	return syntax.TextOf(r.at(b[0])), true
}

// bare gives an argument that is one bare word, in lower case, without ODBC's prefix of units.
func (r *rewriter) bare(b [2]int) string {
	t := r.at(b[0])
	if b[1]-b[0] != 1 || t.Kind != syntax.Word && t.Kind != syntax.Text {
		return ""
	}
	word := strings.ToLower(t.Text)
	if t.Kind == syntax.Text {
		word = strings.ToLower(syntax.TextOf(t))
	}
	return strings.TrimPrefix(word, "sql_tsi_")
}
