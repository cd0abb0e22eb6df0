package dialect

import (
	"strings"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// windowArguments is how many arguments the window functions take: the least and the most.
var windowArguments = map[string][2]int{"row_number": {}, "cume_dist": {}, "ntile": {0, 1}, "nth_value": {2, 3}, "lag": {0, 3}, "lead": {0, 3}}

// allowArguments refuses arguments of window functions that Spark refuses.
func (r *rewriter) allowArguments(w windowed) {
	next := r.next
	r.next = w.open
	bounds := r.argumentBounds()
	r.next = next
	if most, ok := windowArguments[w.name]; ok && (len(bounds) < most[0] || len(bounds) > most[1]) {
		r.wrongCount(w.name, len(bounds), aggregation{least: most[0], most: most[1]}, r.at(w.at).Pos)
		return
	}
	counts := map[string]int{"ntile": 0, "nth_value": 1, "lag": 1, "lead": 1}
	at, counted := counts[w.name]
	if !counted || at >= len(bounds) {
		return
	}
	from, to := bounds[at][0], bounds[at][1]
	if r.ofColumns(from, to) {
		r.invalid(from, "DATATYPE_MISMATCH.NON_FOLDABLE_INPUT", "42K09", "The argument %s of %s must be a constant.", r.source(from, to), w.name)
		return
	}
	if r.at(from).Is("-") {
		from++
	}
	t := r.at(from)
	negative := r.at(from-1).Is("-") && t.Kind == syntax.Number
	literal := to-from == 1 && (t.Kind == syntax.Number || t.Kind == syntax.Text || t.Is("NULL"))
	switch {
	case !literal || w.name != "nth_value" && wholeNumber(t.Text):
	case w.name == "ntile":
		r.invalid(from, "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "42K09", "The argument of ntile is of type INT, but is %s.", t.Text)
	case w.name == "nth_value" && (negative || t.Is("NULL") || t.Text == "0"):
		r.invalid(from, "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE", "42K09", "The offset of nth_value must be greater than zero, but is %s.", r.source(bounds[at][0], to))
	case w.name != "nth_value" && t.Kind == syntax.Text:
		r.invalid(from, "FAILED_FUNCTION_CALL", "38000", "The offset of %s is of type INT, but is %s.", w.name, t.Text)
	case w.name != "nth_value":
		r.invalid(from, "_LEGACY_ERROR_TEMP_1035", "", "Cannot specify window frame for %s function.", w.name)
	}
}

// ofColumns reports whether tokens are arithmetic with names.
func (r *rewriter) ofColumns(from, to int) (named bool) {
	for i := from; i < to; i++ {
		t := r.at(i)
		switch {
		case isName(t) && r.at(i+1).Is("("), oneOf(t, "CAST", "CASE", "INTERVAL"):
			return false
		case isName(t) && !oneOf(t, "NULL", "TRUE", "FALSE", "DIV") && r.at(i+1).Kind != syntax.Text:
			_, variable := r.Values[t.Pos.Offset]
			named = named || !variable
		}
	}
	return named
}

// shifted has the value that lag and lead give beside the first and the last row cast to the type of the others, and the place of nth_value to a whole number.
func (r *rewriter) shifted(name string, args [][]piece, bounds [][2]int, start int) {
	end := bounds[len(bounds)-1][1]
	switch {
	case !r.Spark || r.failed != nil || r.unbound(start, end):
	case name == "nth_value" && len(args) > 1 && strings.Contains(r.at(bounds[1][0]).Text, "."):
		args[1] = append(append([]piece{{table: -1, text: "CAST(trunc("}}, args[1]...), piece{table: -1, text: ") AS BIGINT)"})
	case (name == "lag" || name == "lead") && len(args) == 3 && !r.at(bounds[2][0]).Is("NULL"):
		args[2] = r.capture(func() {
			r.put(&coercion{text: "$1", operands: [][]piece{args[2], args[0]}, asked: []int{0, 1}, zone: r.Zone.String(), rule: otherwiseRule(name)}, start, end)
		})
	}
}

// otherwiseRule casts a value to the type of another one as Spark does by itself.
func otherwiseRule(name string) func(types []Type) (verdict, error) {
	return func(types []Type) (verdict, error) {
		have, to := types[0], types[1]
		switch {
		case have.Text == to.Text, !simple(have) || !simple(to):
			return verdict{}, nil
		case isNumber(have) && isNumber(to), isDatetime(have) && isDatetime(to), have.Name == "VARCHAR" && to.Name != "BLOB", to.Name == "VARCHAR" && have.Name != "BLOB":
			return verdict{casts: []string{to.Text, ""}}, nil
		}
		return verdict{}, fault.New(fault.Invalid, "Cannot resolve %s: what it gives beside the first and the last row is %s, but the other values are %s.", name, have.sparkName(), to.sparkName()).
			With("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "42K09")
	}
}
