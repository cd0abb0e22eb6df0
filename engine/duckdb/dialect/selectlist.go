package dialect

import (
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// afterItem are the words that end a select list.
var afterItem = []string{",", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "INTERSECT", "EXCEPT", "MINUS", "QUALIFY", "WINDOW",
	"FETCH", "OFFSET", "LATERAL", "SORT", "CLUSTER", "DISTRIBUTE", "INTO"}

// maxNamed is the length of an expression, in tokens, up to which its column is called after it.
const maxNamed = 500

// selectList writes SELECT and its elements. Those without an alias get the name that the dialect gives them.
func (r *rewriter) selectList(s *scope) {
	*s = scope{query: true, place: s.place, setOp: s.setOp, level: &level{}}
	start := r.next
	r.copy()
	for r.isAny("ALL", "DISTINCT") && !r.at(r.next+1).Is(",") {
		s.distinct = r.is("DISTINCT")
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
	first := r.depth == 1 && !r.named
	r.named = r.named || first
	var elements []element
	defer func() { r.listEnd(s, start, elements) }()
	for r.failed == nil && !r.closes() {
		name, e := r.item(s)
		if elements = append(elements, e); first {
			r.name(name, e.star)
		}
		if !r.is(",") {
			return
		}
		r.copy()
		if r.is("FROM") {
			r.fail(r.next) // a trailing comma
		}
	}
}

// name notes what a column of the result is called.
func (r *rewriter) name(name string, star bool) {
	if star {
		r.starred = true
	}
	r.out.Names = append(r.out.Names, name)
	if r.starred {
		r.out.Names = nil
	}
}

// item writes one element of a select list. It gives the name that the text spells for a plain column, which needs no alias.
func (r *rewriter) item(s *scope) (spelled string, e element) {
	from, end := r.next, r.itemEnd()
	name, column := r.itemName(from, end)
	star := end > from && (r.at(end-1).Is("*") || r.at(from).Is("*") || r.at(from).Is("COLUMNS") || r.at(end-1).Is(")") && r.holdsStar(from, end))
	alias, valueEnd := r.aliasOf(from, end)
	begin, value := len(r.out.pieces), len(r.out.pieces)
	for r.failed == nil && r.next < end {
		r.operand(&scope{})
		if r.next <= valueEnd {
			value = len(r.out.pieces)
		}
	}
	if r.failed == nil {
		r.list(s, alias, from, end, r.out.pieces[begin:value])
		r.stars(s, begin)
	}
	if v, ok := r.Values[r.at(from).Pos.Offset]; ok && from+v.Tokens == end {
		column, name = false, r.at(end-1).Name()
	}
	if name != "" && !column {
		r.emit("AS " + QuoteIdent(name))
	}
	e = r.elementOf(from, end, name, column)
	e.star = star
	if column {
		return name, e
	}
	return "", e
}

// holdsStar reports whether t.* EXCEPT (…) or its like stands between two tokens.
func (r *rewriter) holdsStar(from, end int) bool {
	for i := from; i+1 < end; i++ {
		if after := r.at(i + 1); r.at(i).Is("*") && (after.Is("EXCEPT") || after.Is("EXCLUDE") || after.Is("REPLACE") || after.Is("RENAME")) {
			return true
		}
	}
	return false
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

// itemName gives the name of an element without an alias, and whether it is a plain column; empty: it has one, or the engine's is as good.
func (r *rewriter) itemName(from, end int) (name string, column bool) {
	if r.Name == nil || end <= from || end-from > maxNamed || r.at(end-1).Is("*") {
		return "", false
	}
	if first := r.at(from); (first.Is("[") || first.Is("{")) && r.endOf(from+1)+1 == end && r.at(end-1).Text != "" {
		last := r.at(end - 1)
		return r.text[first.Pos.Offset : last.Pos.Offset+len(last.Text)], false
	}
	r.parser.Seek(from)
	e, err := r.parser.Expression()
	if err != nil || r.parser.Place() != end {
		return "", false
	}
	if c, ok := e.(*syntax.Column); ok {
		last := c.Parts[len(c.Parts)-1]
		if len(c.Parts) > 1 || last.Quoted || !r.constant(last.Text) {
			return last.Text, true
		}
	}
	if text := r.subscriptName(from, end); text != "" {
		return text, false
	}
	return r.Name(e), false
}

// constant reports whether a bare word is a function that needs no parentheses.
func (r *rewriter) constant(word string) bool {
	_, known := r.Constants[strings.ToLower(word)]
	return known || moments[strings.ToLower(word)] != 0
}

// subscriptName is the name of a subscript of a column, a[k]; empty: the tokens are something else.
func (r *rewriter) subscriptName(from, end int) string {
	if end-from < 4 || !r.at(end-1).Is("]") || !r.at(end-3).Is("[") {
		return ""
	}
	var b strings.Builder
	for i := from; i < end; i++ {
		t := r.at(i)
		switch {
		case t.Kind == syntax.Text:
			b.WriteString(syntax.TextOf(t))
		case t.Kind == syntax.Word, t.Kind == syntax.Number, t.Is("["), t.Is("]"), t.Is("."):
			b.WriteString(t.Text)
		default:
			return ""
		}
	}
	return b.String()
}
