package dialect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// aggregation is how a call of an aggregate is written with all that may follow it.
type aggregation struct {
	least, most int    // arguments
	call        string // the call with $1, $2, …; ORDER BY of WITHIN GROUP and DISTINCT are put into it
	where       string // the rows that it takes; empty: all
	wrap        string // what stands around it with & in its place; empty: nothing
}

// aggregations are Spark's, by the names that are theirs in lower case.
var aggregations = map[string]aggregation{
	"collect_list": collected, "array_agg": collected, "collect_set": {1, 1, "list(DISTINCT $1)", "($1) IS NOT NULL", "coalesce(&, [])"},
	"count_if": {1, 1, "count_if($1)", "", "coalesce(&, 0)"},
	"median":   {1, 1, "median(CAST($1 AS DOUBLE))", "", ""}, "percentile": {2, 2, "quantile_cont(CAST($1 AS DOUBLE), $2)", "", ""},
	"percentile_approx": {2, 3, "quantile_disc($1, $2)", "", ""}, "approx_percentile": {2, 3, "quantile_disc($1, $2)", "", ""},
	"approx_count_distinct": {1, 2, "count(DISTINCT $1)", "", ""}, "listagg": {1, 2, "string_agg($1, $2)", "", ""}, "string_agg": {1, 2, "string_agg($1, $2)", "", ""},
	"min": plainAggregate("min"), "max": plainAggregate("max"), "bool_and": plainAggregate("bool_and"), "every": plainAggregate("bool_and"),
	"bool_or": plainAggregate("bool_or"), "some": plainAggregate("bool_or"), "any": plainAggregate("bool_or"), "bit_and": plainAggregate("bit_and"),
	"regr_count": {2, 2, "regr_count($1, $2)", "", "CAST(& AS BIGINT)"}, "max_by": {2, 2, "arg_max_null($1, $2)", "", ""}, "min_by": {2, 2, "arg_min_null($1, $2)", "", ""}, "bit_or": plainAggregate("bit_or"), "bit_xor": plainAggregate("bit_xor"), "mode": plainAggregate("mode"),
}

var collected = aggregation{1, 1, "list($1)", "($1) IS NOT NULL", "coalesce(&, [])"}

// plainAggregate is one whose only argument is taken as it is.
func plainAggregate(name string) aggregation { return aggregation{1, 1, name + "($1)", "", ""} }

// tail is what may follow the arguments of an aggregate.
type tail struct {
	within, filter, over []piece
	nulls                string // IGNORE or RESPECT; empty: neither is said
}

// tail reads what follows the arguments of an aggregate. A moving one sees no window that has all rows of its partition.
func (r *rewriter) tail(moving bool) (out tail) {
	for r.failed == nil {
		switch {
		case r.ahead("WITHIN", "GROUP", "("):
			r.next += 2
			out.within = r.enclosed(1)
		case r.ahead("FILTER", "(", "WHERE"):
			r.next++
			out.filter = r.booleanFilter()
		case (r.is("IGNORE") || r.is("RESPECT")) && r.at(r.next+1).Is("NULLS"):
			out.nulls = strings.ToUpper(r.peek().Text)
			r.next += 2
		case r.is("OVER"):
			out.over = r.capture(func() { r.over(moving) })
			return out
		default:
			return out
		}
	}
	return out
}

// enclosed reads the parenthesis that comes next, without its first tokens.
func (r *rewriter) enclosed(skipped int) (out []piece) {
	r.next += skipped
	out = r.capture(func() { r.level(&scope{window: true}, false) })
	if r.failed == nil && !r.is(")") {
		r.fail(r.next)
	}
	r.next++
	return out
}

// aggregation writes a call of an aggregate in Spark's dialect; false: it is none of those that are written otherwise.
func (r *rewriter) aggregation(name string, pos syntax.Pos) bool {
	if r.Spark && (name == "percentile_cont" || name == "percentile_disc") && r.percentile(name, pos) {
		return true
	}
	if r.Spark && ranks[name] != "" {
		r.rank(name, pos)
		return true
	}
	if r.nestedGenerator(name) || r.textAggregate(name, pos) || r.orderedMode(name, pos) {
		return true
	}
	a, ok := aggregations[name]
	if !ok {
		a, ok = statistic(name)
	}
	if !ok || !r.Spark && !strings.HasPrefix(name, "collect_") {
		return false
	}
	bounds := r.argumentBounds()
	if name == "percentile" && len(bounds) == 3 && r.refused(pos, "percentile with a frequency is not supported: repeat the rows instead") {
		return true
	}
	if len(bounds) < a.least || len(bounds) > a.most {
		r.wrongCount(name, len(bounds), a, pos)
		return true
	}
	distinct := r.distinctArgument(&bounds[0])
	done := r.grown(a.call, pos)
	start := r.next - 1
	args := r.argumentPieces(bounds)
	done()
	r.numeric(name, args, start)
	if r.Spark && strings.HasPrefix(name, "bit_") && bounds[0][1]-bounds[0][0] == 1 && r.at(bounds[0][0]).Is("NULL") {
		args[0] = []piece{{table: -1, text: "CAST(NULL AS INTEGER)"}}
	}
	r.aggregated(a, distinct, args, r.tail(strings.HasPrefix(a.call, "skua_")), pos)
	return true
}

// wrongCount is Spark's error about a number of arguments.
func (r *rewriter) wrongCount(name string, n int, a aggregation, pos syntax.Pos) {
	takes := strconv.Itoa(a.least)
	if a.least != a.most {
		takes = "[" + takes + ", " + strconv.Itoa(a.most) + "]"
	}
	r.failed = fault.New(fault.Invalid, "The `%s` requires %s parameters but the actual number is %d.", name, takes, n).With("WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "42605").At(faultAt(pos))
}

// aggregated writes an aggregate with its arguments and what follows them.
func (r *rewriter) aggregated(a aggregation, distinct bool, args [][]piece, t tail, pos syntax.Pos) {
	before, after, _ := strings.Cut(a.wrap, "&")
	if before != "" {
		r.emitAt(before, pos)
	}
	call := strings.TrimSuffix(a.call, ")")
	if distinct && !strings.Contains(call, "(DISTINCT ") {
		call = strings.Replace(call, "(", "(DISTINCT ", 1)
	}
	r.orderedCall(call, args, pos)
	r.out.pieces = append(r.out.pieces, t.within...)
	r.emit(")")
	r.filtered(a.where, args, t.filter, pos)
	r.out.pieces = append(r.out.pieces, t.over...)
	if after != "" {
		r.emit(after)
	}
}

// filtered writes FILTER with the rows that an aggregate takes and those that the statement says.
func (r *rewriter) filtered(where string, args [][]piece, filter []piece, pos syntax.Pos) {
	if where == "" && filter == nil {
		return
	}
	r.emit("FILTER (WHERE")
	if where != "" {
		r.template(where, pos, args...)
	}
	if where != "" && filter != nil {
		r.emit("AND")
	}
	if filter != nil {
		r.emit("(")
		r.out.pieces = append(r.out.pieces, filter...)
		r.emit(")")
	}
	r.emit(")")
}

// valueCalls are the aggregates and window functions that take one row's value, by name: what they are among windows, as aggregates, and as aggregates
// without nulls. Those that are windows only have no names of the latter kinds.
var valueCalls = map[string][3]string{"first": {"first_value", "first", "any_value"}, "first_value": {"first_value", "first", "any_value"},
	"any_value": {"first_value", "first", "any_value"}, "last": {"last_value", "last", "last"}, "last_value": {"last_value", "last", "last"},
	"nth_value": {"nth_value"}, "lag": {"lag"}, "lead": {"lead"}}

// valueCall writes a call of one of them; false: it is none.
func (r *rewriter) valueCall(name string, pos syntax.Pos) bool {
	names, ok := valueCalls[name]
	if !ok {
		return false
	}
	bounds := r.argumentBounds()
	if len(bounds) == 0 || !r.Spark && (names[1] == "" || len(bounds) != 2 || !r.at(bounds[1][0]).Is("TRUE")) {
		return false
	}
	ignore := false
	last := &bounds[len(bounds)-1]
	if end := last[1]; end-last[0] > 2 && r.at(end-1).Is("NULLS") && (r.at(end-2).Is("IGNORE") || r.at(end-2).Is("RESPECT")) {
		ignore = r.at(end - 2).Is("IGNORE")
		last[1] -= 2
	}
	if literal := last[1]-last[0] == 1 && oneOf(r.at(last[0]), "TRUE", "FALSE"); r.Spark && names[1] != "" && len(bounds) == 2 && !literal {
		r.invalid(last[0], "_LEGACY_ERROR_TEMP_1210", "", "The second argument in %s should be a boolean literal.", name)
		return true
	}
	if names[1] != "" && len(bounds) == 2 && last[1]-last[0] == 1 && (r.at(last[0]).Is("TRUE") || r.at(last[0]).Is("FALSE")) {
		ignore = r.at(last[0]).Is("TRUE")
		bounds = bounds[:1]
	}
	start := r.next - 1
	args := r.argumentsUpTo(bounds)
	r.shifted(name, args, bounds, start)
	t := r.tail(false)
	ignore = ignore || t.nulls == "IGNORE"
	places := make([]string, len(args))
	for i := range args {
		places[i] = "$" + strconv.Itoa(i+1)
	}
	if t.over == nil && names[1] == "" {
		r.withoutWindow(name, pos)
	}
	a := aggregation{call: names[0] + "(" + strings.Join(places, ", ")}
	switch {
	case t.over != nil && t.filter == nil && ignore:
		a.call += " IGNORE NULLS)"
	case t.over != nil && t.filter == nil || names[1] == "":
		a.call += ")"
	case ignore:
		a.call, a.where = names[2]+"($1)", "($1) IS NOT NULL"
	default:
		a.call = names[1] + "($1)"
	}
	r.aggregated(a, false, args, t, pos)
	return true
}

// percentile writes a percentile with its order, of doubles as in Spark; false: it has none.
func (r *rewriter) percentile(name string, pos syntax.Pos) bool {
	bounds := r.argumentBounds()
	closing := r.endOf(r.next + 1)
	if len(bounds) != 1 || !r.at(closing+1).Is("WITHIN") || !r.at(closing+2).Is("GROUP") || !r.at(closing+4).Is("ORDER") || !r.at(closing+5).Is("BY") {
		return false
	}
	args := r.argumentPieces(bounds)
	r.next += 5
	end := r.endOf(r.next, keyEnds...)
	args = append(args, r.capture(func() {
		for r.failed == nil && r.next < end {
			r.operand(&scope{})
		}
	}), r.capture(func() {
		for r.failed == nil && !r.closes() {
			r.copy()
		}
	}))
	r.next++
	call := name + "($1) WITHIN GROUP (ORDER BY CAST($2 AS DOUBLE) $3)"
	descending := r.at(end).Is("DESC")
	t := r.tail(false)
	if t.over != nil { // where the engine knows it by another name, and what counts from the other end is negative
		call = "quantile" + strings.TrimPrefix(name, "percentile") + "(CAST($2 AS DOUBLE), $1)"
		if descending {
			call = strings.Replace(call, "$1", "-($1)", 1)
		}
	}
	r.template(call, pos, args...)
	r.filtered("", nil, t.filter, pos)
	r.out.pieces = append(r.out.pieces, t.over...)
	return true
}

// ranks are the window functions that tell where a row is; those that count rows are whole numbers of 32 bits.
var ranks = map[string]string{"row_number": "INTEGER", "rank": "INTEGER", "dense_rank": "INTEGER", "ntile": "INTEGER", "percent_rank": "DOUBLE", "cume_dist": "DOUBLE"}

// rank writes a call of one of them.
func (r *rewriter) rank(name string, pos syntax.Pos) {
	args := r.argumentPieces(r.argumentBounds())
	t := r.tail(false)
	if t.over == nil {
		r.withoutWindow(name, pos)
	}
	r.emitAt("CAST("+name+"(", pos)
	if name == "ntile" && len(args) == 0 {
		r.emit("1")
	} else if name == "ntile" { // those of the others are what the window is ordered by
		r.out.pieces = append(r.out.pieces, args[0]...)
	}
	r.emit(")")
	r.out.pieces = append(r.out.pieces, t.over...)
	r.emit("AS " + ranks[name] + ")")
}

// withoutWindow is the error about a window function without OVER.
func (r *rewriter) withoutWindow(name string, pos syntax.Pos) {
	if r.failed == nil {
		r.failed = fault.New(fault.Invalid, "Window function %s requires an OVER clause.", name).With("WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE", "42601").At(faultAt(pos))
	}
}

// argumentsUpTo translates some of the arguments, and moves behind the call.
func (r *rewriter) argumentsUpTo(bounds [][2]int) [][]piece {
	closing := r.endOf(r.next + 1)
	var out [][]piece
	for _, b := range bounds {
		r.next = b[0]
		out = append(out, r.capture(func() {
			for r.failed == nil && r.next < b[1] {
				r.step(&scope{})
			}
		}))
	}
	r.next = closing + 1
	return out
}

// quantified reports whether ANY or SOME at the next token is behind a comparison, whose list or query it quantifies; else it is an aggregate.
func (r *rewriter) quantified() bool {
	previous := r.at(r.next - 1)
	return r.next > 0 && (slices.ContainsFunc([]string{"=", "==", "<", ">", "<=", ">=", "<>", "!=", "<=>", "LIKE", "ILIKE"}, previous.Is))
}
