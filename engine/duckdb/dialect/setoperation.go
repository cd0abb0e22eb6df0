package dialect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// side is where a query of a set operation begins, or the operator in front of it.
type side struct {
	piece, token int
	intersects   bool // the operator binds tighter
}

// maxSides is how many queries are asked for their columns at once. Longer chains are asked for in parts.
const maxSides = 32

// setOperation is a chain of queries with UNION and its like between them, whose columns meet in one type each.
type setOperation struct {
	sides     [][]piece
	operators [][]piece // in front of all but the first
	zone      string
}

// sideBegins notes that a query begins at the next piece, unless it follows a set operator.
func (r *rewriter) sideBegins(s *scope) {
	if !s.setOp && !s.query {
		s.sides = []side{{piece: len(r.out.pieces), token: r.next}}
	}
}

// sideEnds notes the operator that comes next.
func (r *rewriter) sideEnds(s *scope) []side {
	first := s.place - 1
	switch {
	case s.sides != nil:
	case first >= 0 && first < len(r.out.pieces) && (r.out.pieces[first].text == "(" || r.out.pieces[first].text == "SELECT * FROM"):
		s.sides = []side{{piece: first, token: max(0, r.opening(r.next-1))}}
	default:
		return nil
	}
	return append(s.sides, side{piece: len(r.out.pieces), token: r.next, intersects: r.is("INTERSECT")})
}

// unites makes one piece of the set operation that ends here. Those of recursive queries are the engine's.
func (r *rewriter) unites(s *scope) {
	sides := s.sides
	s.sides = nil
	if !r.Spark || len(sides) < 2 || r.failed != nil || r.unbound(0, len(r.tokens)) {
		return
	}
	if r.readsItself(sides[0].token, r.next) {
		r.recursion(sides[1:])
		return
	}
	for _, o := range sides[1:] {
		if r.at(o.token+1).Is("BY") || r.at(o.token+2).Is("BY") && r.at(o.token+1).Is("ALL") {
			return
		}
	}
	begin, end := sides[0].piece, len(r.out.pieces)
	all := append([]piece{}, r.out.pieces[begin:end]...)
	for i := range sides {
		sides[i].piece -= begin
	}
	r.out.pieces = append(r.out.pieces[:begin:begin], r.chained(sides, all, r.next)...)
}

// readsItself reports whether a query with a name in WITH RECURSIVE names itself between two tokens.
func (r *rewriter) readsItself(from, to int) bool {
	if !slices.ContainsFunc(r.tokens, func(t syntax.Token) bool { return t.Is("RECURSIVE") }) {
		return false
	}
	for i := range r.tokens {
		if !r.at(i).Is("AS") || !r.at(i+1).Is("(") || i+1 > from {
			continue
		}
		name := i - 1
		if r.at(name).Is(")") {
			name = r.opening(name) - 1
		}
		if name < 0 || r.closing(i+1) <= from {
			continue
		}
		if slices.ContainsFunc(r.tokens[from:to], func(t syntax.Token) bool {
			return (t.Kind == syntax.Word || t.Kind == syntax.Quoted) && strings.EqualFold(t.Name(), r.at(name).Name())
		}) {
			return true
		}
	}
	return false
}

// recursion refuses what a query that reads itself is not made with.
func (r *rewriter) recursion(operators []side) {
	for _, o := range operators {
		if r.at(o.token).Is("UNION") && !r.at(o.token+1).Is("ALL") {
			r.failed = fault.New(fault.Invalid, "The UNION operator is not supported inside a recursive query: use UNION ALL.").With("UNION_NOT_SUPPORTED_IN_RECURSIVE_CTE", "42836").At(faultAt(r.at(o.token).Pos))
		}
	}
}

// chained makes one typed part of sides that follow one another up to a token; those with INTERSECT between them are one side of the others.
func (r *rewriter) chained(sides []side, pieces []piece, until int) []piece {
	u := &setOperation{zone: r.Zone.String()}
	for i := 0; i < len(sides); {
		next := i + 1
		for next < len(sides) && sides[next].intersects && (i > 0 || !allIntersect(sides)) {
			next++
		}
		operator, from := operatorOf(pieces, sides[i], i > 0)
		end, last := until, len(pieces)
		if next < len(sides) {
			end, last = sides[next].token, sides[next].piece
		}
		part := pieces[from:last]
		if next-i > 1 {
			inner := append([]side{{piece: 0, token: sides[i].token + 1}}, sides[i+1:next]...)
			for n := range inner[1:] {
				inner[n+1].piece -= from
			}
			part = r.chained(inner, part, end)
		}
		if len(u.sides) == maxSides {
			u = &setOperation{zone: u.zone, sides: [][]piece{r.putApart(u, sides[0].token, sides[i].token)}}
		}
		if len(u.sides) > 0 {
			u.operators = append(u.operators, operator)
		}
		u.sides = append(u.sides, part)
		i = next
	}
	return r.putApart(u, sides[0].token, until)
}

// putApart makes a piece of a part, without writing it.
func (r *rewriter) putApart(u *setOperation, from, to int) []piece {
	return r.capture(func() { r.put(u, from, to) })
}

func allIntersect(sides []side) bool {
	for _, s := range sides[1:] {
		if !s.intersects {
			return false
		}
	}
	return true
}

// operatorOf gives the pieces of the operator that a side begins with, and where the query behind it begins.
func operatorOf(pieces []piece, s side, has bool) (operator []piece, from int) {
	from = s.piece
	if !has {
		return nil, from
	}
	for from++; from < len(pieces) && (strings.EqualFold(pieces[from].text, "ALL") || strings.EqualFold(pieces[from].text, "DISTINCT")); from++ {
	}
	return pieces[s.piece:from], from
}

func (u *setOperation) asks() [][]piece {
	out := make([][]piece, len(u.sides))
	for i := range out {
		out[i] = []piece{{table: -1, text: sideName(i)}}
	}
	return out
}

func sideName(i int) string { return "skua_side" + strconv.Itoa(i) }

// holds gives the pieces that the part is made of.
func (u *setOperation) holds() [][]piece {
	return append(append([][]piece{}, u.sides...), u.operators...)
}

func (u *setOperation) of(types []Type) (Type, error) {
	_, err := u.steps(types)
	return Type{Name: "INTEGER", Text: "INTEGER"}, err
}

// settled reports whether sides of these types need no casts.
func (u *setOperation) settled(types []Type) bool {
	steps, _ := u.steps(types)
	return steps == nil
}

// steps gives the types of the columns of the chain behind each of its sides; nil: they are the engine's own.
func (u *setOperation) steps(types []Type) (steps [][]Type, err error) {
	var columns []Type
	casts := false
	for i, t := range types {
		next := fieldTypes(t)
		if i == 0 {
			columns = next
		}
		if next == nil || len(next) != len(columns) {
			return nil, nil
		}
		meet := make([]Type, len(columns))
		for c := range columns {
			to, known := columnsMeet(columns[c], next[c])
			if !known {
				return nil, unlikeColumns(c, i, columns[c], next[c])
			}
			meet[c] = to
			casts = casts || to.Text != columns[c].Text || to.Text != next[c].Text
		}
		columns = meet
		steps = append(steps, meet)
	}
	if !casts {
		return nil, nil
	}
	return steps, nil
}

// columnsMeet gives the type in which columns of two types meet; no text: it is the engine's; false: there is none.
func columnsMeet(a, b Type) (Type, bool) {
	to, ok := common(a, b)
	nested := func(t Type) bool { return t.Name == "LIST" || t.Name == "STRUCT" || t.Name == "MAP" }
	switch {
	case a.Text == "" || b.Text == "":
		return Type{}, true
	case ok:
		return to, true
	case a.Name == "STRUCT" && b.Name == "STRUCT" && fields(a) != nil && fields(b) != nil:
		return Type{}, false
	case simple(a) && (simple(b) || nested(b)), simple(b) && nested(a):
		return Type{}, false
	}
	return Type{}, true
}

func unlikeColumns(column, table int, a, b Type) error {
	return fault.New(fault.Invalid, "Set operations can only be performed on tables with compatible column types. Column %d of table %d is %q type which is not compatible with %q at the same column of the first table.",
		column+1, table+1, b.sparkName(), a.sparkName()).With("INCOMPATIBLE_COLUMN_TYPE", "42825")
}

// asking writes the first side with the types that all meet in, as far as they are known, around a question about all of them.
func (u *setOperation) asking(w *writer, question string, types []Type) {
	steps, _ := u.steps(types)
	list := ""
	if steps != nil {
		list = u.list(w, 0, types, steps)
	}
	if list == "" { // it has all types already
		list = sideName(0) + ".*"
	}
	w.text("SELECT " + list + " FROM")
	for i, s := range u.sides {
		if i > 0 {
			w.text(",")
		}
		w.text("(")
		w.pieces(s)
		w.text(") AS " + sideName(i))
	}
	w.text("WHERE " + question + " IS NULL")
}

func (u *setOperation) write(w *writer, types []Type) {
	steps, _ := u.steps(types)
	for i, s := range u.sides {
		if i > 0 {
			w.pieces(u.operators[i-1])
		}
		list := ""
		if steps != nil {
			list = u.list(w, i, types, steps)
		}
		if list == "" {
			w.pieces(s)
			continue
		}
		w.text("(SELECT " + list + " FROM (")
		w.pieces(s)
		w.text(") AS " + sideName(i) + ")")
	}
}

// list writes the columns of a side as they are cast on their way through the chain; empty: none is.
func (u *setOperation) list(w *writer, side int, types []Type, steps [][]Type) string {
	var out []string
	casts := false
	for c, f := range fields(types[side]) {
		text, have := sideName(side)+"."+QuoteIdent(f.name), f.of
		for _, step := range steps[side:] {
			if to := step[c]; to.Text != "" && to.Text != have.Text {
				open, closing := castCall(have, to, u.zone)
				text, have, casts = open+" "+text+" "+closing, to, true
			}
		}
		out = append(out, text+" AS "+QuoteIdent(f.name))
	}
	if !casts {
		return ""
	}
	return strings.Join(out, ", ")
}

func (u *setOperation) mapped(pieces func([]piece) []piece) typed {
	out := &setOperation{zone: u.zone}
	for _, s := range u.sides {
		out.sides = append(out.sides, pieces(s))
	}
	for _, o := range u.operators {
		out.operators = append(out.operators, pieces(o))
	}
	return out
}
