package dialect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// The frames that window functions of Spark have of their own.
var (
	runningRows  = windowFrame{kind: "ROWS", lower: bound{word: "UNBOUNDED"}, upper: bound{word: "CURRENT"}}
	runningRange = windowFrame{kind: "RANGE", lower: bound{word: "UNBOUNDED"}, upper: bound{word: "CURRENT"}}
)

// windowOrders are the window functions that need an order, with the frame that is theirs; without a kind: any is.
var windowOrders = map[string]windowFrame{"row_number": runningRows, "rank": runningRows, "dense_rank": runningRows, "percent_rank": runningRows, "ntile": runningRows,
	"cume_dist": runningRange, "nth_value": {}, "lag": {kind: "OFFSET"}, "lead": {kind: "OFFSET"}}

// wholePartition are the aggregates that take no window with an order or a frame.
var wholePartition = words("median")

// skipsNulls are the functions that take IGNORE NULLS.
var skipsNulls = words("first first_value last last_value any_value nth_value lag lead")

// windowFrame is that of a window.
type windowFrame struct {
	kind         string // ROWS, RANGE or GROUPS; empty: none is written
	at           int
	lower, upper bound
}

// bound is where a frame begins or ends.
type bound struct {
	word      string // UNBOUNDED or CURRENT; empty: a value
	following bool
	from, to  int // the value's tokens
}

// whole reports whether a frame has all rows of its partition.
func (f windowFrame) whole() bool {
	return f.lower.word == "UNBOUNDED" && !f.lower.following && f.upper.word == "UNBOUNDED" && f.upper.following
}

// same reports whether two frames begin and end with the same words.
func (f windowFrame) same(other windowFrame) bool {
	return f.kind == other.kind && f.lower.word == other.lower.word && !f.lower.following && f.upper.word == other.upper.word && !f.upper.following
}

// frameOf reads the frame of a window, and tells how many keys it is ordered by.
func (r *rewriter) frameOf(w windowed) (out windowFrame, keys int) {
	order, at := 0, w.from
	for ; at < w.to; at = r.after(at) {
		switch t, previous := r.at(at), r.at(at-1); {
		case oneOf(t, "ORDER", "SORT") && r.at(at+1).Is("BY"):
			order, keys = at, 1
		case t.Is(",") && order > 0:
			keys++
		case oneOf(t, "ROWS", "RANGE", "GROUPS") && t.Kind == syntax.Word && !oneOf(previous, "BY", ",", ".") && !oneOf(r.at(at+1), ",", ")", "."):
			out.kind, out.at = strings.ToUpper(t.Text), at
		}
		if out.kind != "" {
			break
		}
	}
	if out.kind == "" {
		return out, keys
	}
	end := r.endOf(at, "EXCLUDE")
	if !r.at(at + 1).Is("BETWEEN") {
		out.lower, out.upper = r.boundOf(at+1, end), bound{word: "CURRENT"}
		return out, keys
	}
	middle := r.endOf(at+2, "AND")
	out.lower, out.upper = r.boundOf(at+2, middle), r.boundOf(middle+1, end)
	return out, keys
}

func (r *rewriter) boundOf(from, to int) bound {
	b := bound{from: from, to: to - 1, following: r.at(to - 1).Is("FOLLOWING")}
	if oneOf(r.at(from), "UNBOUNDED", "CURRENT") && to-from == 2 {
		b.word = strings.ToUpper(r.at(from).Text)
	}
	return b
}

// allow refuses a window that Spark refuses.
func (r *rewriter) allow(w windowed) {
	f, keys := r.frameOf(w)
	own, needs := windowOrders[w.name]
	switch {
	case r.holdsWindow(w):
		r.failed = fault.New(fault.Unsupported, "a window function inside another one is not supported: compute the inner one in a query in FROM").At(faultAt(r.at(w.at).Pos))
	case needs && w.filter > 0:
		r.unsupported(w.filter, w.name, "FILTER")
	case w.nulls > 0 && r.at(w.nulls).Is("IGNORE") && !skipsNulls[w.name]:
		r.unsupported(w.nulls, w.name, "IGNORE NULLS")
	case w.clause == "GROUP" && needs, w.clause == "ORDER", w.clause == "ON":
		r.invalid(w.at, "UNSUPPORTED_EXPR_FOR_OPERATOR", "42K0E", "A query operator contains one or more unsupported expressions: the window function %s. Compute it in a query in FROM.", w.name)
	case w.clause == "GROUP":
		r.invalid(w.at, "GROUP_BY_AGGREGATE", "42903", "Aggregate functions are not allowed in GROUP BY, but found %s.", w.name)
	case w.filter > 0:
		r.invalid(w.filter, "_LEGACY_ERROR_TEMP_1030", "", "Window aggregate function with filter predicate is not supported yet.")
	case w.open > 0 && r.at(w.open+1).Is("DISTINCT") && !r.at(w.open+2).Is(")"):
		r.invalid(w.open+1, "DISTINCT_WINDOW_FUNCTION_UNSUPPORTED", "0A000", "Distinct window functions are not supported: %s.", w.name)
	case (wholePartition[w.name] || w.within) && (keys > 0 || f.kind != "" && !f.whole()):
		r.invalid(w.at, "INVALID_WINDOW_SPEC_FOR_AGGREGATION_FUNC", "42601", "Cannot specify ORDER BY or a window frame for %s.", w.name)
	case needs && keys == 0 && !(w.clause == "WHERE" || w.clause == "HAVING"):
		r.invalid(w.at, "_LEGACY_ERROR_TEMP_1037", "", "Window function %s requires window to be ordered, please add ORDER BY clause. For example SELECT %s(value_expr) OVER (PARTITION BY window_partition ORDER BY window_ordering) from table", w.name, w.name)
	case own.kind == "OFFSET" && f.kind != "":
		r.invalid(f.at, "_LEGACY_ERROR_TEMP_1035", "", "Cannot specify window frame for %s function.", w.name)
	case f.kind != "" && own.kind != "" && !f.same(own):
		r.invalid(f.at, "_LEGACY_ERROR_TEMP_1036", "", "Window Frame %s must match the required frame of %s.", f.kind, w.name)
	}
	if r.failed == nil && needs {
		r.allowArguments(w)
	}
	if f.kind == "ROWS" || f.kind == "RANGE" {
		r.allowFrame(f, keys)
	}
}

// holdsWindow reports whether a window function stands in the arguments or in the window of another one.
func (r *rewriter) holdsWindow(w windowed) bool {
	for i := w.open; w.open > 0 && i < w.to; i++ {
		if r.at(i).Is("SELECT") {
			return false
		}
		if _, ok := r.windowAt(i); ok && i != w.over {
			return true
		}
	}
	return false
}

// unsupported is the error about a clause that a function does not take.
func (r *rewriter) unsupported(token int, name, clause string) {
	r.invalid(token, "INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX", "42000", "The function %s does not support %s.", name, clause)
}

// allowFrame refuses frames that Spark refuses by what is written.
func (r *rewriter) allowFrame(f windowFrame, keys int) {
	for _, b := range []bound{f.lower, f.upper} {
		if b.word != "" || b.to == 0 {
			continue
		}
		first := r.at(b.from)
		switch {
		case isName(first) && (b.to-b.from == 1 || r.at(b.from+1).Is(".")) && !oneOf(first, "NULL", "TRUE", "FALSE"):
			r.invalid(b.from, "_LEGACY_ERROR_TEMP_0064", "", "Frame bound value must be a literal.")
		case f.kind == "ROWS" && !r.rowCount(b):
			r.invalid(b.from, "DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_UNACCEPTED_TYPE", "42K09", "Cannot resolve %s: a bound of ROWS is of type INT.", r.source(b.from, b.to))
		}
	}
	lower, known := r.offset(f.lower)
	upper, both := r.offset(f.upper)
	valued := f.lower.word == "" || f.upper.word == ""
	switch {
	case f.lower.word == "UNBOUNDED" && f.lower.following, f.upper.word == "UNBOUNDED" && !f.upper.following:
		r.invalid(f.at, "DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_INVALID_BOUND", "42K09", "Window frame upper bound does not follow the lower bound.")
	case f.kind == "RANGE" && keys == 0 && !f.whole():
		r.invalid(f.at, "DATATYPE_MISMATCH.RANGE_FRAME_WITHOUT_ORDER", "42K09", "A range window frame cannot be used in an unordered window specification.")
	case f.kind == "RANGE" && keys > 1 && valued:
		r.invalid(f.at, "DATATYPE_MISMATCH.RANGE_FRAME_MULTI_ORDER", "42K09", "A range window frame with value boundary cannot be used in a window specification with multiple order by expressions.")
	case known && both && lower > upper:
		r.invalid(f.at, "DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_WRONG_COMPARISON", "42K09", "The lower bound of a window frame must be less than or equal to the upper bound.")
	}
}

// rowCount reports whether a bound may be a number of rows: what is no literal may.
func (r *rewriter) rowCount(b bound) bool {
	from := b.from
	if r.at(from).Is("-") {
		from++
	}
	t := r.at(from)
	if t.Is("INTERVAL") {
		return false
	}
	return b.to-from != 1 || t.Kind != syntax.Text && !oneOf(t, "NULL", "TRUE", "FALSE") && (t.Kind != syntax.Number || wholeNumber(t.Text))
}

// wholeNumber reports whether a literal is an INT.
func wholeNumber(text string) bool {
	_, err := strconv.ParseInt(text, 10, 32)
	return err == nil
}

// offset gives the number of a bound that is one, negative before the row.
func (r *rewriter) offset(b bound) (n int64, ok bool) {
	from, sign := b.from, int64(1)
	if b.word != "" {
		return 0, false
	}
	if r.at(from).Is("-") {
		from, sign = from+1, -1
	}
	if !b.following {
		sign = -sign
	}
	n, err := strconv.ParseInt(r.at(from).Text, 10, 32)
	return n * sign, err == nil && b.to-from == 1
}

// hidesNulls refuses IGNORE NULLS of functions that do not take it, outside of windows.
func (r *rewriter) hidesNulls() {
	for i, t := range r.tokens {
		if !t.Is("IGNORE") || !r.at(i+1).Is("NULLS") || !r.at(i-1).Is(")") || r.at(i+2).Is("OVER") {
			continue
		}
		open := r.opening(i - 1)
		if name := r.at(open - 1); open > 0 && isName(name) && !slices.Contains([]string{"FILTER", "GROUP"}, strings.ToUpper(name.Text)) && !skipsNulls[strings.ToLower(name.Name())] {
			r.unsupported(i, strings.ToLower(name.Name()), "IGNORE NULLS")
		}
	}
}
