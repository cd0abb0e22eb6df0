package dialect

import (
	"slices"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// wholeTypes are the types of whole numbers, as macros call them.
var wholeTypes = map[string]string{"TINYINT": "tinyint", "BYTE": "tinyint", "SMALLINT": "smallint", "SHORT": "smallint", "INT": "integer", "INTEGER": "integer", "BIGINT": "bigint", "LONG": "bigint"}

// wholeCast writes a cast to a whole number, which in Spark cuts off the fraction and takes no text with one; false: it is another cast, or one of a parameter without
// a value yet.
func (r *rewriter) wholeCast(verb string, as int, pos syntax.Pos) bool {
	name := wholeTypes[strings.ToUpper(r.at(as+1).Text)]
	if !r.Spark || name == "" || !r.at(as).Is("AS") || !r.at(as+2).Is(")") || r.unbound(r.next+1, as) {
		return false
	}
	done := r.grown(wholeMacro, pos)
	from := r.next + 1
	r.next++
	operand := r.capture(func() {
		for r.failed == nil && r.next < as {
			r.operand(&scope{})
		}
	})
	done()
	r.whole("skua_"+strings.ToLower(verb)+"_"+name, from, as, operand, pos)
	r.next += 2
	if r.failed == nil && !r.is(")") {
		r.fail(r.next)
	}
	r.next++
	return true
}

// wholeMacro stands for the macros of casts to whole numbers where their growth is told.
const wholeMacro = "skua_cast_whole"

// whole writes the call of a macro with what stands between two tokens. Subqueries are named once, where the macro would repeat them.
func (r *rewriter) whole(macro string, from, to int, operand []piece, pos syntax.Pos) {
	open, closing := macro+"(", ")"
	if slices.ContainsFunc(r.tokens[from:to], func(t syntax.Token) bool { return oneOf(t, "SELECT", "FROM", "VALUES", "TABLE") }) {
		open, closing = "list_transform([", "], lambda skua_v: "+macro+"(skua_v))[1]"
	}
	r.emitAt(open, pos)
	r.out.pieces = append(r.out.pieces, operand...)
	r.emit(closing)
}

// unbound reports whether a parameter without a value stands between two tokens: its type is not known.
func (r *rewriter) unbound(from, to int) bool {
	return r.Arguments == nil && slices.ContainsFunc(r.tokens[from:to], func(t syntax.Token) bool { return t.Is("?") })
}

// maxSuffixes bounds the casts with :: in the operand of another one.
const maxSuffixes = 4

// wholeSuffix writes x::INT as wholeCast does; false: it is another cast.
func (r *rewriter) wholeSuffix() bool {
	name := wholeTypes[strings.ToUpper(r.at(r.next+1).Text)]
	if !r.Spark || name == "" || r.at(r.next+2).Is("[") || r.at(r.next+2).Is("(") || r.at(r.next+2).Is(".") {
		return false
	}
	start := r.castStart(r.next - 1)
	if start < 0 || r.unbound(start, r.next) {
		return false
	}
	from := r.piecesFrom(start)
	if from < 0 {
		return false
	}
	pos := r.at(start).Pos
	operand := slices.Clone(r.out.pieces[from:])
	nested := 0
	for _, p := range operand {
		if strings.HasPrefix(p.text, "skua_cast_") {
			nested++
		}
	}
	if nested >= maxSuffixes {
		r.failed = tooComplex(r.peek().Pos, "casts to whole numbers behind each other", maxSuffixes)
		return true
	}
	r.out.pieces = r.out.pieces[:from]
	r.whole("skua_cast_"+name, start, r.next, operand, pos)
	r.next += 2
	return true
}

// castStart gives the first token of what a :: behind a token casts; -1: that is not known.
func (r *rewriter) castStart(last int) int {
	start := last
	if kind := r.at(last).Kind; kind != syntax.Number && kind != syntax.Text {
		start = r.operandStart(last)
	}
	switch {
	case start < 0, oneOf(r.at(start), "END", "GROUP"):
		return -1
	case start > 1 && r.at(start-1).Is("::"):
		return r.castStart(start - 2)
	case start > 0 && oneOf(r.at(start-1), "OVER", "FILTER", ":", "NULLS", "ZONE", "DATE", "TIME", "TIMESTAMP", "INTERVAL"):
		return -1
	}
	return start
}
