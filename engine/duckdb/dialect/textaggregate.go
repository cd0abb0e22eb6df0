package dialect

import (
	"strings"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// textAggregate is listagg with all that may follow: it joins texts, what becomes one, or bytes.
type textAggregate struct {
	value, separator []piece // no separator: nothing stands between two values
	distinct         bool
	order            []piece // ORDER BY with its keys, or nothing
	descending       bool
	after            []piece // FILTER and OVER
	zone             string
}

func (t *textAggregate) asks() [][]piece {
	of := append([]piece{{table: -1, text: "max("}}, t.value...)
	out := [][]piece{append(append(of, piece{table: -1, text: ")"}), t.after...)}
	if t.separator != nil {
		out = append(out, t.separator)
	}
	return out
}

func (t *textAggregate) of(types []Type) (Type, error) {
	value := types[0]
	switch {
	case value.Name == "LIST" || value.Name == "STRUCT" || value.Name == "MAP":
		return Type{}, fault.New(fault.Invalid, `Cannot resolve "listagg" due to data type mismatch: The first parameter requires the "STRING" or "BINARY" type, however it has the type "%s".`, value.sparkName()).
			With("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "42K09")
	case len(types) > 1 && types[1].Name != `"NULL"` && (value.Name == "BLOB") != (types[1].Name == "BLOB"):
		return Type{}, different("listagg", types)
	case t.distinct && t.order != nil && !isText(value) && value.Name != "BLOB":
		return Type{}, mismatchedOrder()
	case value.Name == "BLOB":
		return parseType("BLOB"), nil
	}
	return parseType("VARCHAR"), nil
}

// mismatchedOrder is Spark's error about an order of distinct values by something else.
func mismatchedOrder() *fault.Error {
	return fault.New(fault.Invalid, "Invalid function listagg with WITHIN GROUP. The function is invoked with DISTINCT and WITHIN GROUP but expressions in it and in ORDER BY mismatch.").
		With("INVALID_WITHIN_GROUP_EXPRESSION.MISMATCH_WITH_DISTINCT_INPUT", "42K0K")
}

func (t *textAggregate) mapped(pieces func([]piece) []piece) typed {
	out := *t
	out.value, out.order, out.after = pieces(t.value), pieces(t.order), pieces(t.after)
	if t.separator != nil {
		out.separator = pieces(t.separator)
	}
	return &out
}

func (t *textAggregate) write(w *writer, types []Type) {
	value := Type{}
	if len(types) > 0 {
		value = types[0]
	}
	binary := value.Name == "BLOB"
	if binary {
		w.text("unhex(")
	}
	w.text("string_agg(")
	if t.distinct {
		w.text("DISTINCT")
	}
	t.writeValue(w, value)
	w.text(",")
	switch {
	case t.separator == nil:
		w.text("''")
	case binary:
		w.text("hex(")
		w.pieces(t.separator)
		w.text(")")
	default:
		w.pieces(t.separator)
	}
	switch {
	case t.distinct && binary && t.order != nil:
		w.text("ORDER BY")
		t.writeValue(w, value)
		if t.descending {
			w.text("DESC")
		}
	default:
		w.pieces(t.order)
	}
	w.text(")")
	w.pieces(t.after)
	if binary {
		w.text(")")
	}
}

// writeValue writes the value as a text.
func (t *textAggregate) writeValue(w *writer, value Type) {
	switch {
	case value.Name == "BLOB":
		w.text("hex(")
		w.pieces(t.value)
		w.text(")")
	case value.Name == "" || isText(value) || value.Name == `"NULL"`:
		w.pieces(t.value)
	default:
		w.coerced(t.value, value, "VARCHAR", t.zone)
	}
}

// textAggregate writes listagg and string_agg with what follows; the other dialect knows them as the engine does, but for their order behind them.
func (r *rewriter) textAggregate(name string, pos syntax.Pos) bool {
	if name != "listagg" && name != "string_agg" {
		return false
	}
	start, bounds, closing := r.next-1, r.argumentBounds(), r.endOf(r.next+1)
	ordered := r.at(closing+1).Is("WITHIN") && r.at(closing+2).Is("GROUP")
	a := aggregations[name]
	switch {
	case len(bounds) < a.least || len(bounds) > a.most:
		if r.Spark {
			r.wrongCount(name, len(bounds), a, pos)
		}
		return r.Spark
	case !r.Spark && !ordered:
		return false
	}
	t := &textAggregate{zone: r.Zone.String(), distinct: r.distinctArgument(&bounds[0])}
	if r.Spark && len(bounds) > 1 && r.ofColumns(bounds[1][0], r.endOf(bounds[1][0], "ORDER")) {
		r.invalid(bounds[1][0], "DATATYPE_MISMATCH.NON_FOLDABLE_INPUT", "42K09", "The separator of %s must be a constant.", name)
	}
	if ordered && r.Spark {
		t.descending = r.orderedBy(closing+6, bounds[0], t.distinct)
	}
	args := r.argumentPieces(bounds)
	after := r.tail(false)
	if !r.Spark {
		call := []string{"string_agg($1)", "string_agg($1, $2)"}[len(args)-1]
		r.aggregated(aggregation{call: call}, t.distinct, args, after, pos)
		return true
	}
	t.value, t.order = args[0], after.within
	if len(args) > 1 && !r.at(bounds[1][0]).Is("NULL") {
		t.separator = args[1]
	}
	t.after = r.capture(func() {
		r.filtered("", nil, after.filter, pos)
		r.out.pieces = append(r.out.pieces, after.over...)
	})
	if r.failed != nil {
		return true
	}
	if r.unbound(start, r.next) {
		r.out.pieces = append(r.out.pieces, r.capture(func() {
			r.aggregated(aggregation{call: "string_agg($1, $2)"}, t.distinct, withSeparator(args), after, pos)
		})...)
		return true
	}
	r.put(t, start, r.next)
	return true
}

// withSeparator gives the arguments with an empty separator, where there is none.
func withSeparator(args [][]piece) [][]piece {
	if len(args) == 1 {
		return append(args, []piece{{text: "''", table: -1}})
	}
	return args
}

// distinctArgument reports whether DISTINCT stands in front of an argument, and moves behind it, or behind ALL.
func (r *rewriter) distinctArgument(bounds *[2]int) bool {
	first := r.at(bounds[0])
	if bounds[1]-bounds[0] < 2 || !first.Is("DISTINCT") && !first.Is("ALL") {
		return false
	}
	bounds[0]++
	return first.Is("DISTINCT")
}

// orderedBy reports whether the first key is descending. The order of distinct values is by themselves alone.
func (r *rewriter) orderedBy(from int, value [2]int, distinct bool) bool {
	end := r.endOf(from, keyEnds...)
	same := end-from == value[1]-value[0] && !r.at(r.endOf(from, ",")).Is(",")
	for i := 0; same && i < end-from; i++ {
		same = strings.EqualFold(r.at(from+i).Text, r.at(value[0]+i).Text)
	}
	if distinct && !same && r.failed == nil {
		r.failed = mismatchedOrder().At(faultAt(r.at(from).Pos))
	}
	return r.at(end).Is("DESC")
}
