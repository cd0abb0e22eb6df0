package dialect

import "github.com/skua-data/skua/fault"

// inQuery is x IN (SELECT …), where the value and the query's column meet in one type.
type inQuery struct {
	value, query []piece
	not, zone    string
	unknown      string // what it is as a value where it might be true or not; empty: NULL
}

// comparesQuery writes the IN at a token, behind a value.
func (r *rewriter) comparesQuery(value [2]int, in int, not string) bool {
	from := r.next
	if r.unbound(value[0], value[1]) || r.at(value[0]).Is("(") {
		return false
	}
	q := inQuery{not: not, zone: r.Zone.String(), unknown: r.unknown(value[0], value[1])}
	before, until := r.compared, r.until
	q.value = r.capture(func() {
		r.next, r.compared, r.until = value[0], value[0], value[1]
		for r.failed == nil && r.next < value[1] {
			r.operand(&scope{})
		}
	})
	r.compared, r.until = before, until
	r.next = in + 1
	q.query = r.capture(func() { r.group(false) })
	if r.failed == nil {
		r.put(q, from, r.next)
	}
	return true
}

// unknown gives what IN is in a select list where a row of the query might have the value: Spark asks whether there is a row that has it, and with NOT in front
// whether there is none that might.
func (r *rewriter) unknown(from, to int) string {
	switch {
	case !r.listing && !r.insideCall(from) && !r.askedIs(from) || to-from == 1 && r.at(from).Is("NULL"):
		return ""
	case r.at(from - 1).Is("NOT"), r.at(from-1).Is("(") && r.at(from-2).Is("NOT"):
		return "true"
	}
	return "false"
}

// askedIs reports whether IS follows the parentheses that a token is the first in, but for NOT.
func (r *rewriter) askedIs(at int) bool {
	if at--; at > 0 && r.at(at).Is("NOT") {
		at--
	}
	return at >= 0 && r.at(at).Is("(") && r.at(r.closing(at)).Is("IS")
}

// insideCall reports whether a token is among the arguments of a function, where what is neither true nor false is a value, too.
func (r *rewriter) insideCall(at int) bool {
	depth := 0
	for i := at - 1; i > 0; i-- {
		switch t := r.at(i); {
		case t.Is(")"):
			depth++
		case t.Is("(") && depth > 0:
			depth--
		case t.Is("(") && callsFunction(r.at(i-1), r.at(i-2)):
			return true
		case depth == 0 && oneOf(t, "SELECT", "WHERE", "HAVING", "ON"):
			return false
		}
	}
	return false
}

func (q inQuery) asks() [][]piece { return [][]piece{q.value, q.query} }

func (q inQuery) of(types []Type) (Type, error) {
	_, err := q.meet(types)
	return boolean, err
}

// meet gives the type that both are cast to; no text: they are compared as they are.
func (q inQuery) meet(types []Type) (Type, error) {
	a, b := types[0], types[1]
	if a.Text == b.Text || !simple(a) || !simple(b) || isNumber(a) && isNumber(b) || isDatetime(a) && isDatetime(b) {
		return Type{}, nil
	}
	to, ok := common(a, b)
	if !ok {
		return Type{}, fault.New(fault.Invalid, "Cannot resolve the IN subquery due to data type mismatch: the left side has the type %q, the column of the right side %q.", a.sparkName(), b.sparkName()).
			With("DATATYPE_MISMATCH.IN_SUBQUERY_DATA_TYPE_MISMATCH", "42K09")
	}
	return to, nil
}

func (q inQuery) write(w *writer, types []Type) {
	if q.unknown != "" {
		w.text("coalesce(")
		defer w.text(", " + q.unknown + ")")
	}
	to := Type{}
	if len(types) == 2 {
		to, _ = q.meet(types)
	}
	if to.Text == "" {
		w.pieces(q.value)
		w.text(q.not + "IN")
		w.pieces(q.query)
		return
	}
	w.coerced(q.value, types[0], to.Text, q.zone)
	w.text(q.not + "IN (SELECT")
	w.coerced([]piece{{table: -1, text: "skua_in.skua_1"}}, types[1], to.Text, q.zone)
	w.text("FROM")
	w.pieces(q.query)
	w.text("AS skua_in(skua_1))")
}

func (q inQuery) mapped(pieces func([]piece) []piece) typed {
	q.value, q.query = pieces(q.value), pieces(q.query)
	return q
}
