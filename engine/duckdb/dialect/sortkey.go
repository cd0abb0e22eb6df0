package dialect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// sortKey is an element of ORDER BY or PARTITION BY: a column of floats that rows are sorted by comes back without the sign of its zeros, unless something is done
// to the key.
type sortKey struct {
	value  []piece // as it is written
	column []piece // the expression that it stands for
	nested []piece // what is written where the statement has the least or the greatest of values with parts; none: it is no aggregate
}

// Probe is a function around a key whose type is wanted, with the key's number: in statements that are planned and never run.
const Probe = "skua_type_of"

// Keys is the number of keys.
func (s *Statement) Keys() int { return len(s.keys) }

// putKey makes a piece of a key.
func (r *rewriter) putKey(k sortKey, pos syntax.Pos) {
	r.out.keys = append(r.out.keys, k)
	r.out.pieces = append(r.out.pieces, piece{table: -1, key: len(r.out.keys), pos: pos})
}

// key writes a key, with the type that was found for it.
func (w *writer) key(number int) {
	k := w.statement.keys[number]
	name := ""
	if w.Stage == Final && number < len(w.KeyTypes) {
		name = w.KeyTypes[number]
	}
	switch {
	case len(k.nested) > 0 && w.Nested:
		w.pieces(k.nested)
	case len(k.nested) > 0:
		w.pieces(k.value)
	case name == "LIST" || name == "STRUCT":
		w.text(OrderKey + "(")
		w.pieces(k.column)
		w.text(")")
	case name == "DOUBLE" || name == "FLOAT":
		w.text("(")
		w.pieces(k.column)
		w.text(") + CAST(0 AS " + name + ")")
	case w.Stage == ProbeKeys:
		w.text(Probe + "(")
		w.pieces(k.column)
		w.text(", " + strconv.Itoa(number) + ")")
	default:
		w.pieces(k.value)
	}
}

// keyEnds are the words behind an element of ORDER BY or PARTITION BY.
var keyEnds = []string{",", "ASC", "DESC", "NULLS", "LIMIT", "OFFSET", "FETCH", "ORDER", "ROWS", "RANGE", "GROUPS", "UNION", "INTERSECT", "EXCEPT", "MINUS", "QUALIFY",
	"WINDOW", "FOR"}

// keys writes ORDER BY or PARTITION BY with its elements.
func (r *rewriter) keys(s *scope) {
	r.unites(s)
	if s.setOp && s.place > 0 {
		r.relationOf(s)
	}
	ordered := r.is("ORDER")
	r.copy()
	r.copy()
	for r.failed == nil && !r.closes() {
		from, end := r.next, r.endOf(r.next, keyEnds...)
		if end == from {
			return
		}
		pos := r.peek().Pos
		if ordered && !s.window {
			r.means(s, from, end, true)
		}
		r.ordersDistinct(s, from, end)
		value := r.capture(func() {
			for r.failed == nil && r.next < end {
				r.operand(&scope{})
			}
		})
		if field := r.fieldOfList(s, from, end); field != nil {
			value = field
		}
		if column := r.keyColumn(s, from, end, value); column != nil {
			r.putKey(sortKey{value: value, column: column}, pos)
		} else {
			r.out.pieces = append(r.out.pieces, value...)
		}
		r.direction(ordered)
		if !r.is(",") {
			return
		}
		r.copy()
	}
}

// direction writes what follows a key.
func (r *rewriter) direction(ordered bool) {
	descending := r.is("DESC")
	if r.isAny("ASC", "DESC") {
		r.copy()
	}
	switch {
	case r.is("NULLS"):
		r.copy()
		r.copy()
	case ordered && r.Nulls && r.Spark && !descending:
		r.emit("NULLS FIRST")
	case ordered && r.Nulls:
		r.emit("NULLS LAST")
	}
}

// relationOf makes a relation of the set operation that ends here: by itself it is ordered by columns alone, not by expressions.
func (r *rewriter) relationOf(s *scope) {
	begin := s.place - 1
	if r.depth == 1 {
		r.out.main++
	}
	pieces := append([]piece{}, r.out.pieces[:begin]...)
	pieces = append(pieces, piece{table: -1, exact: true, text: "SELECT * FROM ("})
	pieces = append(pieces, r.out.pieces[begin:]...)
	r.out.pieces = append(pieces, piece{table: -1, exact: true, text: ") AS skua_ordered"})
}

// keyColumn gives the expression of a key, which may be written with more around it; nil: this key stays as it is.
func (r *rewriter) keyColumn(s *scope, from, end int, value []piece) []piece {
	first, one := r.at(from), end-from == 1
	switch {
	case s.distinct || one && (first.Is("ALL") || first.Kind == syntax.Text), s.setOp && (s.place == 0 || !one):
		return nil
	case s.window:
		return value
	case s.setOp && first.Kind == syntax.Number:
		return []piece{{text: "#" + first.Text, table: -1, pos: first.Pos}}
	case s.setOp:
		return value
	case one && first.Kind == syntax.Number:
		n, err := strconv.Atoi(first.Text)
		if err != nil || n < 1 || n > len(s.items) || slices.ContainsFunc(s.items[:n], func(i listed) bool { return i.many }) {
			return nil
		}
		return s.items[n-1].value
	case one && (first.Kind == syntax.Word || first.Kind == syntax.Quoted):
		for _, i := range s.items {
			if strings.EqualFold(i.name, strings.Trim(first.Text, "`\"")) {
				return i.value
			}
		}
	}
	return value
}

// ordersDistinct refuses a key of SELECT DISTINCT that none of its columns is called: Spark orders distinct rows by what they have.
func (r *rewriter) ordersDistinct(s *scope, from, end int) {
	last := r.at(end - 1)
	_, variable := r.Values[r.at(from).Pos.Offset]
	if !r.Spark || !s.distinct || s.window || s.setOp || r.at(s.start+2).Is("ON") || variable || last.Kind != syntax.Word || last.Is("ALL") || r.constant(last.Text) {
		return
	}
	for i := from; i < end; i++ {
		if (i-from)%2 == 0 != isName(r.at(i)) || (i-from)%2 == 1 && !r.at(i).Is(".") {
			return
		}
		if slices.ContainsFunc(s.items, func(l listed) bool { return l.many || strings.EqualFold(l.name, r.at(i).Name()) }) {
			return
		}
	}
	r.invalid(from, "UNRESOLVED_COLUMN.WITH_SUGGESTION", "42703", "A column, variable, or function parameter with name %s cannot be resolved: distinct rows are ordered by the columns that they have.",
		syntax.Quote(r.at(end-1).Name()))
}

// fieldOfList gives the field of a struct in the select list that a key names: the engine knows no such name; nil: the key is something else.
func (r *rewriter) fieldOfList(s *scope, from, end int) []piece {
	if !r.Spark || s.window || s.setOp || end-from != 1 || !isName(r.at(from)) {
		return nil
	}
	for _, i := range s.items {
		if i.dotted && strings.EqualFold(i.name, r.at(from).Name()) {
			return i.value
		}
	}
	return nil
}

// listed is an element of a select list: what it is called, and what it is; no value: it gives another one each time, or reads a table, or is several.
type listed struct {
	name  string
	value []piece
	many  bool // it stands for several columns, or for a number of them that is not known

	dotted bool // it is a name with a qualifier: that of a relation or of a struct
}

// volatile are functions that give another value each time.
var volatile = []string{"random", "rand", "uuid", "gen_random_uuid"}

// aliasOf gives the name of an element of a select list and where its expression ends.
func (r *rewriter) aliasOf(from, end int) (name string, valueEnd int) {
	last := r.at(end - 1)
	named := last.Kind == syntax.Word || last.Kind == syntax.Quoted
	name = strings.Trim(last.Text, "`\"")
	switch {
	case named && end-from >= 3 && r.at(end-2).Is("AS"):
		return name, end - 2
	case named && (end-from == 1 || r.at(end-2).Is(".")):
		return name, end
	case named && isOperandEnd(r.at(end-2)) && !r.at(end-2).Is("AND"):
		return name, end - 1
	}
	return "", end
}

// enclosedName gives the name of an element that is a column in parentheses; empty: it is something else.
func (r *rewriter) enclosedName(from, end int) string {
	for r.at(from).Is("(") && r.endOf(from+1) == end-1 {
		from, end = from+1, end-1
	}
	if name, valueEnd := r.aliasOf(from, end); end > from && valueEnd == end {
		return name
	}
	return ""
}

// list keeps an element for the keys that name it.
func (r *rewriter) list(s *scope, name string, from, end int, value []piece, many bool) {
	out := listed{name: name, value: append([]piece{}, value...), many: many, dotted: end-from > 2 && r.at(end-2).Is(".") && isName(r.at(end-1))}
	if name == "" {
		out.name = r.enclosedName(from, end)
	}
	if many {
		out.value = nil
	}
	for i := from; i < end; i++ {
		for _, v := range volatile {
			if r.at(i).Is(v) {
				out.value = nil
			}
		}
	}
	for _, p := range out.value {
		if p.table >= 0 {
			out.value = nil
			break
		}
	}
	s.items = append(s.items, out)
	r.weigh(s, name, from, end)
}

// maxWeight bounds what a select list grows to where its elements name each other, which writes each into the other.
const maxWeight = 100_000

// weigh counts the size of an element with the elements before it put where it names them.
func (r *rewriter) weigh(s *scope, name string, from, end int) {
	weight := 1
	for i := from; i < end; i++ {
		if t := r.at(i); t.Kind == syntax.Word || t.Kind == syntax.Quoted {
			weight += s.weights[strings.ToLower(strings.Trim(t.Text, "`\""))]
		}
	}
	if weight > maxWeight && r.failed == nil {
		r.failed = tooComplex(r.at(from).Pos, "names that stand for names", maxWeight)
	}
	if s.weights == nil {
		s.weights = map[string]int{}
	}
	if name != "" {
		s.weights[strings.ToLower(name)] = weight
	}
}
