package dialect

import (
	"regexp"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// growth says how often a function names one of its arguments once the engine has put its text into its place, or how many times as long as its
// argument its result may be. Functions inside each other multiply it.
var growth = map[string]int{"skua_substring": 6, "skua_repeat": 3, "skua_locate": 3, "skua_substring_index": 2, "skua_months_between": 8, "skua_next_day": 2, "skua_floor": 2, "skua_range": 4,
	"skua_series": 4, "skua_replace": 3, "regexp_replace": 3, "skua_years": 2, "skua_months": 2, "skua_truncate": 2, "hex": 2, "to_hex": 2, "to_base64": 2, "base64": 2, "to_json": 2,
	"json_quote": 2, "url_encode": 3, "skua_to_json": 2, "list_value": 1, "list_concat": 1,
	"min": 2, "max": 2, "arg_min_null": 2, "arg_max_null": 2}

// maxGrowth is the most that functions inside each other may multiply.
const maxGrowth = 4096

// grown notes that the arguments of functions named in a text come next. The function it gives says that they are over.
func (r *rewriter) grown(text string, pos syntax.Pos) func() {
	times, seen := 1, ""
	for _, name := range calledIn(text) {
		if strings.Contains(seen, name+" ") {
			continue // once for each name, however often it stands there
		}
		seen += name + " "
		n := growth[name]
		if n == 0 {
			n = r.Growth[name]
		}
		times = min(maxGrowth+1, times*max(1, n))
	}
	before := max(1, r.growth)
	if r.growth = min(maxGrowth+1, before*times); r.growth > maxGrowth && r.failed == nil {
		r.failed = tooComplex(pos, "copies of an argument in functions inside each other", maxGrowth)
	}
	return func() { r.growth = before }
}

// called are the names of functions in a text for the engine.
var called = regexp.MustCompile(`\w+\(`)

// calledIn gives the functions that a text calls, or the one that it names.
func calledIn(text string) []string {
	if !strings.Contains(text, "(") {
		return []string{text}
	}
	out := called.FindAllString(text, -1)
	for i := range out {
		out[i] = strings.TrimSuffix(out[i], "(")
	}
	return out
}

// shortReplacement is the length up to which a literal replaces anything.
const shortReplacement = 16

// bounded reports whether an argument is a literal that makes nothing much longer.
func (r *rewriter) bounded(b [2]int) bool {
	text, ok := r.literal(b)
	return ok && len(text) <= shortReplacement
}

// replaceCall writes replace(text, from, to).
func replaceCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) != 3 || r.bounded(bounds[2]) {
		return false
	}
	r.function("skua_replace", pos)
	return true
}

// regexpReplaceCall writes regexp_replace, which in Spark replaces every match and calls groups $1.
func regexpReplaceCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) != 3 && len(bounds) != 4 {
		return false
	}
	replacement, options := "$3", "''"
	if r.Spark && len(bounds) == 3 {
		replacement, options = `regexp_replace($3, '\$(\d)', '\\\1', 'g')`, "'g'"
	}
	if len(bounds) == 4 {
		options = "$4"
	}
	text := "regexp_replace($1, $2, " + replacement + ", " + options + ")"
	if r.bounded(bounds[2]) {
		if len(bounds) == 3 && !r.Spark {
			return false
		}
	} else {
		text = "CASE WHEN skua_guard(2, (strlen($1) + 1.0) * strlen($3)) = 0 THEN " + text + " END"
	}
	done := r.grown(text, pos)
	args := r.argumentPieces(bounds)
	done()
	r.template(text, pos, args...)
	return true
}
