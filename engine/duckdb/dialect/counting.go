package dialect

import (
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// counting makes a function that tells Spark's error where it has fewer or more arguments than it takes.
func counting(name string, least, most int, f function) function {
	return function{special: func(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
		if len(bounds) < least || len(bounds) > most {
			r.wrongCount(name, len(bounds), aggregation{least: least, most: most}, pos)
			return true
		}
		return r.templated(f, name, pos)
	}}
}

// callsQuoted reports whether a name in quotes at a token is that of a function which is written otherwise: it begins an operand, and names no query.
func (r *rewriter) callsQuoted(at int) bool {
	if !r.Spark || at == 0 || r.at(at-1).Is("AS") || endsOperand(r.at(at-1)) {
		return false
	}
	f, known := r.lookup(strings.ToLower(r.at(at).Name()))
	end := r.closing(at + 1)
	return known && !f.spark && end > 0 && !(r.at(end).Is("AS") && r.at(end+1).Is("("))
}
