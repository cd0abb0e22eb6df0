package dialect

import "github.com/skua-data/skua/engine/syntax"

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
