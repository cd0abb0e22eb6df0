package dialect

import (
	"maps"
	"slices"
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
	r.sideBegins(s)
	*s = scope{query: true, place: s.place, setOp: s.setOp, sides: s.sides, level: &level{}, names: s.names, start: r.next}
	start := r.next
	r.queries++
	r.query = r.queries
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
	defer func() {
		r.listing = false
		r.listEnd(s, start, elements)
	}()
	r.listing = true
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
	name, column := r.itemName(s, from, end)
	star := end > from && (r.at(end-1).Is("*") || r.at(from).Is("*") || r.at(end-1).Is(")") && r.holdsStar(from, end))
	if r.holdsColumns(from, end) {
		name, column, star = "", false, true
	}
	if begin := len(r.out.pieces); r.generatorItem(s, end) {
		r.list(s, "", from, end, r.out.pieces[begin:], true)
		return "", element{star: true}
	}
	alias, valueEnd := r.aliasOf(from, end)
	merged := r.mergedColumns(s, from, end)
	if begin := len(r.out.pieces); star && merged == nil && r.joinedStar(s, from, end) {
		r.list(s, "", from, end, r.out.pieces[begin:], true)
		return "", element{star: true, all: r.at(end - 1).Is("*")}
	}
	r.firstOfStar(merged)
	begin, value := len(r.out.pieces), len(r.out.pieces)
	for r.failed == nil && r.next < end {
		r.operand(&scope{})
		if r.next <= valueEnd {
			value = len(r.out.pieces)
		}
	}
	if r.failed == nil {
		r.list(s, alias, from, end, r.out.pieces[begin:value], star)
		r.restOfStar(merged)
		r.stars(s, begin)
	}
	if v, ok := r.Values[r.at(from).Pos.Offset]; ok && from+v.Tokens == end {
		column, name = false, r.at(end-1).Name()
	}
	if name != "" && !column {
		r.emit("AS " + QuoteIdent(name))
	}
	e = r.elementOf(from, end, name, column)
	e.star, e.all = star, star && r.at(end-1).Is("*")
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

// holdsColumns reports whether COLUMNS(…) stands between two tokens: the element is one for each of them, and is called after it.
func (r *rewriter) holdsColumns(from, end int) bool {
	for i := from; i+1 < end; i++ {
		if r.at(i).Is("COLUMNS") && r.at(i+1).Is("(") && !r.at(i-1).Is(".") {
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
func (r *rewriter) itemName(s *scope, from, end int) (name string, column bool) {
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
	return r.Name(r.unqualified(s, from, end, e)), false
}

// unqualified gives an expression without the names of tables in front of its columns, which are no part of what a column is called.
func (r *rewriter) unqualified(s *scope, from, end int, e syntax.Expr) syntax.Expr {
	if !slices.ContainsFunc(r.tokens[from:end], func(t syntax.Token) bool { return t.Is(".") }) {
		return e
	}
	if s.relations == nil {
		s.relations = r.relationNames(s.start)
	}
	var tokens []syntax.Token
	for i := from; i < end; i++ {
		if t := r.at(i); (t.Kind == syntax.Word || t.Kind == syntax.Quoted) && !r.at(i-1).Is(".") {
			for r.at(i+1).Is(".") && s.relations[strings.ToLower(r.at(i).Name())] && (r.at(i+2).Kind == syntax.Word || r.at(i+2).Kind == syntax.Quoted) {
				i += 2
			}
		}
		tokens = append(tokens, r.at(i))
	}
	bare, err := syntax.NewParserOf(r.text, append(tokens, syntax.Token{Pos: r.at(end).Pos})).Expression()
	if err != nil {
		return e
	}
	return bare
}

// relationNames gives the parts of the names and the aliases of what the FROM of a SELECT reads, in lower case.
func (r *rewriter) relationNames(query int) map[string]bool {
	out := map[string]bool{}
	from := r.fromOf(query)
	if !r.at(from).Is("FROM") {
		return out
	}
	end := r.endOf(from+1, fromEnds...)
	for i := from; i < end; i++ {
		if !oneOf(r.at(i), "FROM", "JOIN", ",", "VIEW") || r.at(i-1).Is(".") {
			i = r.after(i) - 1
			continue
		}
		i++
		for ; i < end && oneOf(r.at(i), "LATERAL", "OUTER"); i++ {
		}
		name := map[string]bool{}
		for ; r.at(i).Kind == syntax.Word || r.at(i).Kind == syntax.Quoted; i += 2 {
			name[strings.ToLower(r.at(i).Name())] = true
			if !r.at(i + 1).Is(".") {
				i++
				break
			}
		}
		if r.at(i).Is("(") {
			i, name = r.after(i), nil
		}
		maps.Copy(out, name)
		if alias := r.aliasAt(i); alias != "" && !r.at(i).EndsRelation() {
			out[strings.ToLower(alias)] = true
		} else {
			i--
		}
	}
	return out
}

// constant reports whether a bare word is a function that needs no parentheses.
func (r *rewriter) constant(word string) bool {
	_, ok := r.wordValue(word)
	return ok
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
