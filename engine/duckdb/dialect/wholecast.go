package dialect

import (
	"slices"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// sparkCast writes CAST(x AS type) as Spark's cast; false: it is another one, or one of a parameter without a value yet.
func (r *rewriter) sparkCast(verb string, as int, pos syntax.Pos) bool {
	if !r.Spark || !r.at(as).Is("AS") || r.unbound(r.next+1, as) {
		return false
	}
	t, end, ok := r.typeAt(as + 1)
	if !ok || !r.at(end).Is(")") || !sparkCastable(t) {
		return false
	}
	from := r.next + 1
	if as-from == 1 && r.at(from).Is("NULL") {
		t, end = r.fieldOfNull(t, end)
	}
	if literal, ok := r.intervalLiteral([2]int{from, as}); ok {
		if text, ok := intervalCast(literal, spellType(t, true)); ok {
			r.emitAt(text, pos)
			r.next = end + 1
			return true
		}
	}
	r.next++
	operand := r.capture(func() {
		for r.failed == nil && r.next < as {
			r.operand(&scope{})
		}
	})
	r.castTo(t, verb == "TRY_CAST", from, as, operand, pos)
	r.next = end + 1
	return true
}

// fieldOfNull gives the type of a field that is taken of NULL cast to a struct, and its last token: the engine has no type for a part of NULL.
func (r *rewriter) fieldOfNull(t syntax.TypeName, end int) (syntax.TypeName, int) {
	for r.at(end + 1).Is(".") {
		var named []syntax.TypeField
		for _, f := range t.Fields {
			if strings.EqualFold(f.Name.Text, r.at(end+2).Name()) {
				named = append(named, f)
			}
		}
		if len(named) != 1 {
			break
		}
		t, end = named[0].Type, end+2
	}
	return t, end
}

// typeAt reads the type that stands from a token on, and says where it ends.
func (r *rewriter) typeAt(from int) (t syntax.TypeName, end int, ok bool) {
	r.parser.Seek(from)
	t, err := r.parser.TypeName()
	end = r.parser.Place()
	return t, end, err == nil && r.at(from).Kind == syntax.Word && !r.at(end).Is("[")
}

// castTo writes the cast of what stands between two tokens.
func (r *rewriter) castTo(t syntax.TypeName, try bool, from, to int, operand []piece, pos syntax.Pos) {
	one := to-from == 1
	switch text := r.at(from); {
	case one && text.Kind == syntax.Text && r.namedCast(spellType(t, true), text, pos):
	case r.isColumn([2]int{from, to}):
		r.template(r.castColumn(t, try), pos, operand)
	case slices.ContainsFunc(r.tokens[from:to], func(t syntax.Token) bool { return oneOf(t, "SELECT", "FROM", "VALUES", "TABLE") }):
		r.template("list_transform([$1], lambda skua_c: "+r.castText(t, try, "skua_c")+")[1]", pos, operand) // what is a subquery has no type while it is bound
	case r.castArithmetic(t, try, from, to, operand):
	default:
		r.template(r.castText(t, try, "$1"), pos, operand)
	}
}

// unbound reports whether a parameter without a value stands between two tokens: its type is not known.
func (r *rewriter) unbound(from, to int) bool {
	return r.Arguments == nil && slices.ContainsFunc(r.tokens[from:to], func(t syntax.Token) bool { return t.Is("?") })
}

// maxSuffixes bounds the casts with :: in the operand of another one.
const maxSuffixes = 16

// castSuffix writes x::type as sparkCast does; false: it is another cast.
func (r *rewriter) castSuffix() bool {
	if !r.Spark {
		return false
	}
	t, end, ok := r.typeAt(r.next + 1)
	if !ok || !sparkCastable(t) || r.at(end).Is(".") {
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
		if strings.HasPrefix(p.text, castPrefix) {
			nested++
		}
	}
	if nested >= maxSuffixes {
		r.failed = tooComplex(r.peek().Pos, "casts behind each other", maxSuffixes)
		return true
	}
	r.out.pieces = r.out.pieces[:from]
	r.castTo(t, false, start, r.next, operand, pos)
	r.next = end
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
