package dialect

import (
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// orderedMode writes mode(x, true) and mode() WITHIN GROUP (ORDER BY x), which say what the one of several values is that are as frequent; false: it is neither.
func (r *rewriter) orderedMode(name string, pos syntax.Pos) bool {
	if name != "mode" || !r.Spark {
		return false
	}
	bounds, closing := r.argumentBounds(), r.endOf(r.next+1)
	var value []piece
	direction := ""
	switch {
	case len(bounds) == 0 && r.at(closing+1).Is("WITHIN") && r.at(closing+2).Is("GROUP") && r.at(closing+4).Is("ORDER") && r.at(closing+5).Is("BY"):
		from, end := closing+6, r.endOf(closing+6, keyEnds...)
		if r.at(r.endOf(from, ",")).Is(",") {
			r.invalid(from, "INVALID_WITHIN_GROUP_EXPRESSION.WRONG_NUM_ORDERINGS", "42K0K", "Invalid function mode with WITHIN GROUP. Function requires one ordering.")
			return true
		}
		value = r.argumentsUpTo([][2]int{{from, end}})[0]
		if r.at(end).Is("DESC") {
			direction = "DESC"
		}
		r.next = r.endOf(from) + 1
	case len(bounds) == 2 && oneOf(r.at(bounds[1][0]), "TRUE", "FALSE") && bounds[1][1]-bounds[1][0] == 1:
		value = r.argumentsUpTo(bounds[:1])[0]
		if r.at(bounds[1][0]).Is("FALSE") {
			r.aggregated(aggregations[name], false, [][]piece{value}, r.tail(false), pos)
			return true
		}
	case len(bounds) == 1 && r.distinctArgument(&bounds[0]):
		r.invalid(bounds[0][0], "INVALID_WITHIN_GROUP_EXPRESSION.DISTINCT_UNSUPPORTED", "42K0K", "Invalid function mode with WITHIN GROUP. The function does not support DISTINCT with WITHIN GROUP.")
		return true
	default:
		return false
	}
	r.aggregated(aggregation{call: strings.TrimSpace("mode($1 ORDER BY $1 "+direction) + ")"}, false, [][]piece{value}, r.tail(false), pos)
	return true
}
