package dialect

import (
	"slices"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// join notes what a JOIN at the next token lacks: without ON and USING it takes every pair of rows. Where a FROM has a condition for each of its joins, they
// may follow one another, and all is as it stands.
func (r *rewriter) join(s *scope) {
	if !s.joined {
		s.joined = true
		s.lacking = r.lacksConditions(r.next)
	}
	if s.lacking && r.wantsCondition(r.next) {
		end := r.conditionPlace(r.next + 1)
		if !oneOf(r.at(end), "ON", "USING") {
			if r.pairs == nil {
				r.pairs = map[int]bool{}
			}
			r.pairs[end] = true
		}
	}
}

// wantsCondition reports whether the JOIN at a token is of a kind that has a condition.
func (r *rewriter) wantsCondition(join int) bool {
	for i := join - 1; i >= 0 && oneOf(r.at(i), "INNER", "OUTER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI", "CROSS", "NATURAL", "POSITIONAL", "ASOF"); i-- {
		if oneOf(r.at(i), "CROSS", "NATURAL", "POSITIONAL", "ASOF") {
			return false
		}
	}
	return true
}

// lacksConditions reports whether the joins from a token on have fewer conditions than they are.
func (r *rewriter) lacksConditions(join int) bool {
	n := 0
	for i, end := join, r.endOf(join, fromEnds...); i < end; i = r.after(i) {
		switch t := r.at(i); {
		case r.at(i - 1).Is("."):
		case t.Is("JOIN") && r.wantsCondition(i):
			n++
		case t.Is("ON"), t.Is("USING") && r.at(i+1).Is("("):
			n--
		}
	}
	return n > 0
}

// after gives the token behind another one, or behind the parentheses that it opens.
func (r *rewriter) after(token int) int {
	if oneOf(r.at(token), "(", "[", "{") {
		token = r.endOf(token + 1)
	}
	return token + 1
}

// conditionPlace gives the token behind a joined relation and its alias: where a condition stands, or is missing.
func (r *rewriter) conditionPlace(from int) int {
	end := r.endOf(from, append([]string{"ON", "USING", "JOIN", "INNER", "CROSS", "NATURAL", "POSITIONAL", "ASOF", "LATERAL", ","}, fromEnds...)...)
	if r.at(from).Is("LATERAL") && end == from {
		return r.conditionPlace(from + 1)
	}
	for i := from + 1; i < end; i = r.after(i) {
		if t, after := r.at(i), r.at(i+1); oneOf(t, "LEFT", "RIGHT", "FULL", "SEMI", "ANTI") && t.Kind == syntax.Word && !r.at(i-1).Is(".") && !r.at(i-1).Is("AS") &&
			(oneOf(after, "JOIN", "OUTER", "SEMI", "ANTI")) {
			return i
		}
	}
	if r.at(end).Is("JOIN") && oneOf(r.at(end-1), "LEFT", "RIGHT", "FULL", "SEMI", "ANTI", "OUTER") {
		end--
	}
	return end
}

// paired writes the condition that a join at whose end the next token stands lacks.
func (r *rewriter) paired() {
	if r.pairs[r.next] {
		delete(r.pairs, r.next)
		r.emit("ON true")
	}
}

// mergedColumns gives the columns that Spark's star begins with: those of USING, where an element is a bare star and all joins of its FROM have the same. With
// others among them, a column of one of the names might be a table's own, and joinedStar asks the engine for what each has.
func (r *rewriter) mergedColumns(s *scope, from, end int) []string {
	if !r.Spark || end-from != 1 || !r.at(from).Is("*") {
		return nil
	}
	start := r.fromOf(s.start)
	if !r.at(start).Is("FROM") {
		return nil
	}
	var merged []string
	joins, lists := 0, 0
	for i, last := start+1, r.endOf(start+1, fromEnds...); i < last; i = r.after(i) {
		switch t := r.at(i); {
		case r.at(i - 1).Is("."):
		case oneOf(t, ",", "LATERAL", "PIVOT", "UNPIVOT"):
			return nil
		case t.Is("JOIN"):
			joins++
		case t.Is("USING") && r.at(i+1).Is("("):
			columns := r.names(i+2, r.endOf(i+2))
			if lists++; lists > 1 && !slices.EqualFunc(columns, merged, strings.EqualFold) {
				return nil
			}
			merged = columns
		}
	}
	if joins != lists {
		return nil
	}
	return merged
}

// firstOfStar writes the columns that a star begins with.
func (r *rewriter) firstOfStar(columns []string) {
	for _, c := range columns {
		r.emit(c)
		r.emit(",")
	}
}

// restOfStar leaves them out of the star itself.
func (r *rewriter) restOfStar(columns []string) {
	for i, c := range columns {
		if i == 0 {
			r.emit("EXCLUDE")
			r.emit("(")
		} else {
			r.emit(",")
		}
		r.emit(c)
	}
	if len(columns) > 0 {
		r.emit(")")
	}
}
