package dialect

import (
	"strings"

	"github.com/skua-data/skua/fault"
)

// aggregates reports whether a function of Spark is an aggregate.
func aggregates(name string) bool {
	if _, ok := aggregations[name]; ok {
		return true
	}
	_, ok := statistic(name)
	return ok || valueCalls[name][1] != "" || sums[name]
}

var sums = words("count sum avg mean try_sum try_avg percentile_cont percentile_disc")

// filters refuses conditions behind FILTER that Spark refuses by what is written.
func (r *rewriter) filters() {
	for i, t := range r.tokens {
		if r.failed != nil || !t.Is("FILTER") || !r.at(i-1).Is(")") || !r.at(i+1).Is("(") || !r.at(i+2).Is("WHERE") {
			continue
		}
		end := r.after(i+1) - 1
		if r.at(i+3).Is("NULL") && i+4 == end {
			r.invalid(i+3, "INVALID_AGGREGATE_FILTER.NOT_BOOLEAN", "42903", "The FILTER expression NULL in an aggregate function is invalid: it is not a boolean.")
		}
		for at := i + 3; at < end && !r.at(at).Is("SELECT"); at++ {
			switch call := r.at(at); {
			case call.Is("OVER") && r.at(at-1).Is(")"):
				r.invalid(at, "INVALID_AGGREGATE_FILTER.CONTAINS_WINDOW_FUNCTION", "42903", "The FILTER expression in an aggregate function is invalid: it contains a window function.")
			case isName(call) && r.at(at+1).Is("(") && aggregates(strings.ToLower(call.Name())) && !r.quantifiedAt(at) && !r.at(r.after(at+1)).Is("OVER"):
				r.invalid(at, "INVALID_AGGREGATE_FILTER.CONTAINS_AGGREGATE", "42903", "The FILTER expression in an aggregate function is invalid: it contains an aggregate function.")
			}
		}
	}
}

// quantifiedAt reports whether ANY or SOME at a token is behind a comparison.
func (r *rewriter) quantifiedAt(token int) bool {
	next := r.next
	defer func() { r.next = next }()
	r.next = token
	return oneOf(r.at(token), "ANY", "SOME") && r.quantified()
}

// booleanFilter reads the condition behind FILTER (WHERE; a column must be a boolean.
func (r *rewriter) booleanFilter() []piece {
	from := r.next + 2
	condition := r.enclosed(2)
	to := r.next - 1
	if !r.Spark || r.failed != nil || !isName(r.at(from)) || to-from != 1 && (to-from != 3 || !r.at(from+1).Is(".")) {
		return condition
	}
	return r.capture(func() {
		r.put(&coercion{text: "$1", operands: [][]piece{condition}, asked: []int{0}, rule: filterRule}, from-3, to+1)
	})
}

// filterRule refuses a condition that is no boolean.
func filterRule(types []Type) (verdict, error) {
	if types[0].Name != "BOOLEAN" && types[0].Name != "" {
		return verdict{}, fault.New(fault.Invalid, "The FILTER expression in an aggregate function is invalid: it is of type %s, not a boolean.", types[0].sparkName()).
			With("INVALID_AGGREGATE_FILTER.NOT_BOOLEAN", "42903")
	}
	return verdict{gives: types[0]}, nil
}
