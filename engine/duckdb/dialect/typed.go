package dialect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// typed is a part of a statement that is spelled by the type of one of its expressions, which is known only once the engine has bound it.
type typed struct {
	kind   typedKind
	value  []piece // the argument, or the key as it is written
	column []piece // of a key: the expression that it stands for
	before string  // of an average: DISTINCT, or nothing
	after  []piece // of an average: FILTER and OVER
	lists  []piece // of a generator: its columns where the argument is no map
	maps   []piece // and where it is one
}

type typedKind uint8

const (
	average  typedKind = iota + 1 // its type follows its argument's
	exploded                      // a generator has other columns for a map
	sortKey                       // a column that rows are sorted by comes back without the sign of its zeros, unless something is done to the key
)

// Type is the type of an expression as far as a spelling depends on it.
type Type struct {
	Name         string // as the engine's plans have it: DECIMAL, DOUBLE, …; empty: unknown
	Width, Scale int    // of decimals
}

// Probe is a function around an expression whose type is wanted, with the expression's number: in statements that are planned and never run.
const Probe = "skua_type_of"

// Stage says how expressions whose types matter are spelled.
type Stage uint8

// The stages of a statement.
const (
	Plain      Stage = iota // as they stand
	ProbeTypes              // averages and generators of known types in their final form, others around a probe
	ProbeKeys               // averages and generators in their final form, keys are probes
	FinalTypes              // averages and generators in their final form
	Final                   // keys, too
)

// maxAverages is how deep averages of averages are looked into: each is written twice.
const maxAverages = 3

// Typed is the number of expressions whose types matter.
func (s *Statement) Typed() int { return len(s.typed) }

// Probed reports whether there are averages or generators among them.
func (s *Statement) Probed() bool {
	for _, t := range s.typed {
		if t.kind != sortKey {
			return true
		}
	}
	return false
}

// put makes a piece of a typed part.
func (r *rewriter) put(t typed, pos syntax.Pos) {
	r.out.typed = append(r.out.typed, t)
	r.out.pieces = append(r.out.pieces, piece{table: -1, typed: len(r.out.typed), pos: pos})
}

// typed writes a typed part with the type that was found for it.
func (w *writer) typed(number int) {
	t := w.statement.typed[number]
	known := Type{}
	if number < len(w.Types) {
		known = w.Types[number]
	}
	decimal := w.Stage != Plain && known.Name == "DECIMAL"
	float := w.Stage == Final && (known.Name == "DOUBLE" || known.Name == "FLOAT")
	switch {
	case t.kind == average && decimal:
		w.decimalAverage(t, known)
	case t.kind == average:
		w.text("avg(" + t.before)
		w.probed(w.Stage == ProbeTypes, t.value, number)
		w.text(")")
		w.pieces(t.after)
	case t.kind == exploded && w.Stage == ProbeTypes && known.Name == "":
		w.text("CASE WHEN")
		w.probed(true, t.value, number)
		w.text("IS NULL THEN NULL END AS col, NULL AS pos, NULL AS key, NULL AS value")
	case t.kind == exploded && w.Stage != Plain && known.Name == "MAP":
		w.pieces(t.maps)
	case t.kind == exploded:
		w.pieces(t.lists)
	case float:
		w.text("(")
		w.pieces(t.column)
		w.text(") + CAST(0 AS " + known.Name + ")")
	case w.Stage == ProbeKeys:
		w.probed(true, t.column, number)
	default:
		w.pieces(t.value)
	}
}

// probed writes an expression, with a probe around it.
func (w *writer) probed(probe bool, value []piece, number int) {
	if !probe {
		w.pieces(value)
		return
	}
	w.text(Probe + "(")
	w.pieces(value)
	w.text(", " + strconv.Itoa(number) + ")")
}

// decimalAverage writes the average of decimals: four digits more before and behind the point, as far as there are 38.
func (w *writer) decimalAverage(t typed, known Type) {
	width, scale := min(38, known.Width+4), min(38, known.Scale+4)
	w.text("CAST(skua_average(")
	for i, function := range []string{"sum(", "count("} {
		if i > 0 {
			w.text(",")
		}
		w.text(function + t.before)
		w.pieces(t.value)
		w.text(")")
		w.pieces(t.after)
	}
	w.text(fmt.Sprintf(", %d) AS DECIMAL(%d, %d))", scale, width, scale))
}

// averageCall writes avg(x), with all that may follow.
func averageCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) != 1 || r.averages >= maxAverages {
		return false
	}
	from, to := bounds[0][0], bounds[0][1]
	t := typed{kind: average}
	switch {
	case r.at(from).Is("DISTINCT"):
		t.before = "DISTINCT "
		from++
	case r.at(from).Is("ALL"):
		from++
	}
	if r.endOf(from, "ORDER") < to || from == to {
		return false
	}
	r.averages++
	t.value = r.argumentPieces([][2]int{{from, to}})[0]
	t.after = r.capture(func() {
		if r.is("FILTER") {
			r.operand(&scope{})
		}
		if r.is("OVER") {
			named := !r.at(r.next + 1).Is("(")
			r.operand(&scope{})
			if named {
				r.operand(&scope{})
			}
		}
	})
	r.averages--
	r.put(t, pos)
	return true
}

// keyEnds are the words behind an element of ORDER BY or PARTITION BY.
var keyEnds = []string{",", "ASC", "DESC", "NULLS", "LIMIT", "OFFSET", "FETCH", "ORDER", "ROWS", "RANGE", "GROUPS", "UNION", "INTERSECT", "EXCEPT", "MINUS", "QUALIFY",
	"WINDOW", "FOR"}

// keys writes ORDER BY or PARTITION BY with its elements.
func (r *rewriter) keys(s *scope) {
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
		value := r.capture(func() {
			for r.failed == nil && r.next < end {
				r.operand(&scope{})
			}
		})
		if column := r.keyColumn(s, from, end, value); column != nil {
			r.put(typed{kind: sortKey, value: value, column: column}, pos)
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

// listed is an element of a select list: what it is called, and what it is; no value: it gives another one each time, or reads a table, or is several.
type listed struct {
	name  string
	value []piece
	many  bool // it stands for several columns, or for a number of them that is not known
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

// list keeps an element for the keys that name it.
func (r *rewriter) list(s *scope, name string, from, end int, value []piece, many bool) {
	out := listed{name: name, value: append([]piece{}, value...), many: many}
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
