package dialect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// notInTuple writes (a, b) NOT IN (SELECT …): it is true where no row of the query has these values or might have them. The engine finds rows with nulls alike; false:
// the next tokens are something else.
func (r *rewriter) notInTuple(pos syntax.Pos) bool {
	if !r.Spark || !r.ahead("NOT", "IN", "(") || !oneOf(r.at(r.next+3), "SELECT", "WITH") || !r.at(r.next-1).Is(")") {
		return false
	}
	query, open := r.next+2, r.opening(r.next-1)
	if open < 0 || open > 0 && callsFunction(r.at(open-1), r.at(open-2)) {
		return false
	}
	r.next = open
	bounds, from := r.argumentBounds(), r.piecesFrom(open)
	if len(bounds) < 2 || from < 0 {
		r.next = query - 2
		return false
	}
	values := r.argumentPieces(bounds)
	r.out.pieces = r.out.pieces[:from]
	r.next = query
	r.emitAt("NOT EXISTS (SELECT 1 FROM", pos)
	r.group(false)
	names := make([]string, len(values))
	for i := range names {
		names[i] = "skua_" + strconv.Itoa(i+1)
	}
	r.emit("AS skua_in(" + strings.Join(names, ", ") + ") WHERE (")
	for i, v := range values {
		if i > 0 {
			r.emit("AND")
		}
		r.template("($1) = "+names[i], pos, v)
	}
	r.emit(") IS NOT FALSE)")
	return true
}

// inTuple writes (a, b) IN (SELECT …) as a value; false: the next tokens are something else, or it is a condition.
func (r *rewriter) inTuple(pos syntax.Pos) bool {
	if !r.Spark || !r.ahead("IN", "(") || !oneOf(r.at(r.next+2), "SELECT", "WITH") || !r.at(r.next-1).Is(")") {
		return false
	}
	open := r.opening(r.next - 1)
	if open < 0 || open > 0 && callsFunction(r.at(open-1), r.at(open-2)) {
		return false
	}
	from, unknown := r.piecesFrom(open), r.unknown(open, r.next)
	if from < 0 || unknown == "" {
		return false
	}
	r.out.pieces = slices.Insert(r.out.pieces, from, piece{table: -1, text: "coalesce("})
	r.copy()
	r.group(false)
	r.emit(", " + unknown + ")")
	return true
}
