package dialect

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// repeatMark stands in names that tell apart columns of one name in a query. No name of a statement has it.
const repeatMark = "\x1f"

var repeatEnd = regexp.MustCompile(repeatMark + `[0-9]+(_[0-9]+)?`)

// Spelled gives a name, or a text with names, as the statement spells it.
func Spelled(text string) string { return repeatEnd.ReplaceAllString(text, "") }

// Repeated is a name that one select list gives to columns that are surely different ones. From and To are the offsets of its query.
type Repeated struct {
	Name     string
	From, To int
}

// Starred is a query in parentheses whose star may give columns of one name, to which the engine puts numbers.
type Starred struct {
	Tables  []int    // that its FROM names
	Items   []string // names of elements beside the star
	Unknown bool     // there is more in it whose names only the engine knows
}

// element is an element of a select list with its name.
type element struct {
	name      string // empty: only the engine knows it
	piece     int    // the piece that spells the name; -1: it is a column's, to which an alias may be put behind the piece end
	end       int
	column    bool
	qualifier string // of a column whose name has two parts
	star      bool
	all       bool // it is a star that leaves nothing out
	plain     bool // its name, which only the engine knows, is none that a word is
}

// elementOf describes the element that was just written. name and column are as itemName has them.
func (r *rewriter) elementOf(from, end int, name string, column bool) element {
	last := len(r.out.pieces) - 1
	e := element{piece: last, end: last}
	if t := r.at(from); r.Name == nil && (end-from == 1 || end-from == 3 && r.at(from+1).Is(".")) && (t.Kind == syntax.Word || t.Kind == syntax.Quoted) && !r.at(end-1).Is("*") {
		name, column = r.at(end-1).Name(), true
	}
	switch {
	case column:
		e.name, e.piece, e.column = name, -1, true
		if end-from == 3 && r.at(from+1).Is(".") {
			e.qualifier = r.at(from).Name()
		}
		return e
	case name != "":
		e.name = name
		return e
	}
	t := r.at(end - 1)
	e.plain = t.Kind != syntax.Word && t.Kind != syntax.Quoted || end-from == 1
	if end-from < 2 || last < 0 || t.Kind != syntax.Word && t.Kind != syntax.Quoted || !r.explicitAlias(from, end) {
		return e
	}
	if r.out.pieces[last].text == spellIdent(syntax.Ident{Text: t.Name(), Quoted: t.Kind == syntax.Quoted}) && r.out.pieces[last].pos == t.Pos {
		e.name = t.Name()
	}
	return e
}

// explicitAlias reports whether the last token of an element is its alias.
func (r *rewriter) explicitAlias(from, end int) bool {
	if r.at(end - 2).Is("AS") {
		return end-from >= 3
	}
	r.parser.Seek(from)
	_, err := r.parser.Expression()
	return err == nil && r.parser.Place() == end-1
}

// repeats gives columns of one name names that differ, all but the first; those before it, too, where the statement is to tell whether somebody means
// one of them.
func (r *rewriter) repeats(elements []element) (again []element) {
	groups := map[string][]int{}
	for i, e := range elements {
		if e.name != "" && !e.star {
			groups[strings.ToLower(e.name)] = append(groups[strings.ToLower(e.name)], i)
		}
	}
	for i := len(elements) - 1; i >= 0; i-- {
		group := groups[strings.ToLower(elements[i].name)]
		if len(group) < 2 || elements[i].star || elements[i].name == "" || group[0] == i && !(r.Distinct && r.depth > 1 && differ(elements, group)) {
			continue
		}
		r.repeated++
		name := QuoteIdent(elements[i].name + repeatMark + strconv.Itoa(r.repeated))
		if at := elements[i].piece; at < 0 {
			r.out.pieces = slices.Insert(r.out.pieces, elements[i].end+1, piece{text: "AS " + name, table: -1})
		} else {
			text := name
			if strings.HasPrefix(r.out.pieces[at].text, "AS ") && r.out.pieces[at].pos == (syntax.Pos{}) {
				text = "AS " + name
			}
			r.out.pieces[at].text = text
		}
		if group[0] != i && r.depth > 1 && differ(elements, group) {
			again = append(again, elements[i])
		}
	}
	return again
}

// differ reports whether the elements of a group are surely not one and the same column.
func differ(elements []element, group []int) bool {
	for _, i := range group {
		first, e := elements[group[0]], elements[i]
		if !e.column || e.qualifier != "" && first.qualifier != "" && !strings.EqualFold(e.qualifier, first.qualifier) {
			return true
		}
	}
	return false
}

// listEnd judges the names of a select list that was written, from its first token on.
func (r *rewriter) listEnd(s *scope, start int, elements []element) {
	if r.failed != nil || s.setOp {
		return // the first query of a set operation names the columns
	}
	s.names = namesOf(elements, s.level)
	for _, e := range r.repeats(elements) {
		r.out.Repeated = append(r.out.Repeated, Repeated{Name: e.name, From: r.at(start).Pos.Offset, To: r.at(r.endOf(start)).Pos.Offset})
	}
	if r.depth < 2 || r.at(start-1).Is("(") && r.at(start-2).Is("EXISTS") {
		return
	}
	out, open := Starred{}, false
	for _, e := range elements {
		switch {
		case e.star:
			open = true
		case e.plain:
		case e.name == "":
			open, out.Unknown = true, true
		default:
			out.Items = append(out.Items, e.name)
		}
	}
	if open {
		r.starLists = append(r.starLists, starredLevel{Starred: out, level: s.level, relations: r.relationsFrom(r.next), items: len(elements)})
	}
}

// starredLevel is a Starred whose tables are still to come.
type starredLevel struct {
	Starred
	level            *level
	relations, items int
}

// relationsFrom counts what stands in the FROM that may follow; a great number where that is not certain.
func (r *rewriter) relationsFrom(token int) int {
	if !r.at(token).Is("FROM") {
		return 0
	}
	end := r.endOf(token+1, "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "INTERSECT", "EXCEPT", "MINUS", "QUALIFY", "WINDOW", "SORT", "CLUSTER", "DISTRIBUTE")
	n := 1
	for at := token + 1; at < end; at++ {
		switch t := r.at(at); {
		case t.Is("JOIN"), t.Is(","), t.Is("VIEW"):
			n++
		}
	}
	return n
}

// starredQueries gives the queries whose star may repeat a name.
func (r *rewriter) starredQueries() (out []Starred) {
	for _, l := range r.starLists {
		if l.level != nil {
			l.Tables = l.level.tables
		}
		if l.relations < 2 && l.items < 2 {
			continue
		}
		l.Unknown = l.Unknown || l.relations != len(l.Tables)
		out = append(out, l.Starred)
	}
	return out
}
