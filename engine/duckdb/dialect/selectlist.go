package dialect

import (
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// afterItem are the words that end a select list.
var afterItem = []string{",", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "INTERSECT", "EXCEPT", "MINUS", "QUALIFY", "WINDOW",
	"FETCH", "OFFSET", "LATERAL", "SORT", "CLUSTER", "DISTRIBUTE", "INTO"}

// selectList writes SELECT and its elements. Those without an alias get the name that the dialect gives them.
func (r *rewriter) selectList(s *scope) {
	*s = scope{query: true}
	r.copy()
	for r.isAny("ALL", "DISTINCT") && !r.at(r.next+1).Is(",") {
		r.copy()
		if r.is("ON") {
			r.copy()
			r.group(false)
		}
	}
	if r.is("TOP") && (r.at(r.next+1).Kind == syntax.Number || r.at(r.next+1).Is("(")) {
		r.next++
		if r.is("(") && r.at(r.next+2).Is(")") {
			r.next++
			s.top = r.peek().Text
			r.next += 2
		} else {
			s.top = r.peek().Text
			r.next++
		}
	}
	for r.failed == nil && !r.closes() {
		r.item()
		if !r.is(",") {
			return
		}
		r.copy()
		if r.is("FROM") {
			r.fail(r.next) // a trailing comma
		}
	}
}

// item writes one element of a select list.
func (r *rewriter) item() {
	from, end := r.next, r.itemEnd()
	name := r.itemName(from, end)
	for r.failed == nil && r.next < end {
		r.operand(&scope{})
	}
	if name != "" {
		r.emit("AS " + QuoteIdent(name))
	}
}

// itemEnd gives the token behind an element. A word such as FROM belongs to it where it stands inside a comparison, EXCEPT behind a star.
func (r *rewriter) itemEnd() int {
	end := r.next
	for {
		end = r.endOf(end, afterItem...)
		t, previous := r.at(end), r.at(end-1)
		switch {
		case t.Is("FROM") && previous.Is("DISTINCT") && (r.at(end-2).Is("IS") || r.at(end-2).Is("NOT")):
		case t.Is("EXCEPT") && previous.Is("*"):
		case t.Kind == syntax.Word && (previous.Is(".") || previous.Is("AS") || r.at(end+1).Is(".") && !t.Is("FROM")):
		default:
			return end
		}
		end++
	}
}

// itemName gives the name of an element without an alias; empty: it has one, or the engine's is as good.
func (r *rewriter) itemName(from, end int) string {
	if r.Name == nil || end <= from || r.at(end-1).Is("*") {
		return ""
	}
	r.parser.Seek(from)
	e, err := r.parser.Expression()
	if err != nil || r.parser.Place() != end {
		return ""
	}
	if c, ok := e.(*syntax.Column); ok {
		last := c.Parts[len(c.Parts)-1]
		if len(c.Parts) > 1 || last.Quoted || !r.constant(last.Text) {
			if r.depth > 1 {
				return ""
			}
			return last.Text
		}
	}
	return r.Name(e)
}

// constant reports whether a bare word is a function that needs no parentheses.
func (r *rewriter) constant(word string) bool {
	_, known := r.Constants[strings.ToLower(word)]
	return known || moments[strings.ToLower(word)] != 0
}
