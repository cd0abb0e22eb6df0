package dialect

import (
	"strconv"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// sparkRandom are the functions that give something else each time, and those whose results hang on more than is known here.
var sparkRandom = map[string]function{
	"randn":        {special: unseeded("randn", 0, "(sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()))")},
	"randstr":      counting("randstr", 1, 2, function{special: randomText}),
	"uniform":      counting("uniform", 2, 3, function{special: uniformCall}),
	"shuffle":      counting("shuffle", 1, 2, function{special: shuffleCall}),
	"approx_top_k": {special: unknownCall("approx_top_k")},
}

// unknownCall refuses a function that the engine has with another meaning.
func unknownCall(name string) func(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	return func(r *rewriter, _ [][2]int, pos syntax.Pos) bool {
		r.failed = unknownFunction([]syntax.Ident{{Text: name}}, pos)
		return true
	}
}

// seeded refuses a call with a seed; false: it has none.
func (r *rewriter) seeded(name string, bounds [][2]int, most int, pos syntax.Pos) bool {
	return len(bounds) > most && r.refused(pos, "%s with a seed is not supported: which number a row has hangs on the partitions of Spark", name)
}

func unseeded(name string, most int, text string) func(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	return func(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
		if !r.seeded(name, bounds, most, pos) {
			r.template(text, pos, r.argumentPieces(bounds)...)
		}
		return true
	}
}

// wholeNumber reads an argument that is a whole number, as it is written; false: it is none.
func (r *rewriter) wholeNumber(b [2]int) (int, bool) {
	text, ok := r.literal(b)
	if !ok {
		for i := b[0]; i < b[1]; i++ {
			text += r.at(i).Text
		}
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// randomText writes randstr(n).
func randomText(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if r.seeded("randstr", bounds, 1, pos) {
		return true
	}
	n, ok := r.wholeNumber(bounds[0])
	switch null := bounds[0][1]-bounds[0][0] == 1 && r.at(bounds[0][0]).Is("NULL"); {
	case !ok && !null:
		r.failed = constantNeeded("randstr", "length", constantArgument{column: r.isColumn(bounds[0])})
	case n < 0:
		r.failed = fault.New(fault.Invalid, "The value of parameter(s) `length` in `randstr` is invalid: Expects `length` greater than or equal to 0, but got %d.", n).
			With("INVALID_PARAMETER_VALUE.LENGTH", "22023").At(faultAt(pos))
	default:
		r.argumentPieces(bounds)
		r.emitAt("skua_random_text(CAST(skua_length("+itoa(n)+") AS BIGINT), random())", pos)
	}
	return true
}

// uniformCall writes uniform(a, b) of constants.
func uniformCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if r.seeded("uniform", bounds, 2, pos) {
		return true
	}
	for i, b := range bounds {
		if r.isColumn(b) {
			r.failed = constantNeeded("uniform", []string{"min", "max"}[i], constantArgument{column: true})
			return true
		}
	}
	text := "(CAST($1 AS DOUBLE) + (CAST($2 AS DOUBLE) - CAST($1 AS DOUBLE)) * random())"
	if r.unbound(bounds[0][0], bounds[1][1]) {
		r.template(text, pos, r.argumentPieces(bounds)...)
		return true
	}
	r.typedCall(text, bounds, func(types []Type) (verdict, error) {
		out := verdict{text: text, casts: []string{"", ""}, gives: parseType("DOUBLE")}
		for _, t := range types {
			if t.Name == `"NULL"` {
				return verdict{text: "CAST(NULL AS DOUBLE)", gives: out.gives}, nil
			}
			if t.Name != "" && !isNumber(t) {
				return out, unexpected("uniform", "NUMERIC", t)
			}
		}
		switch a, b := types[0], types[1]; {
		case a.Name == "" || b.Name == "":
		case isWhole(a) && isWhole(b):
			out.gives = commonNumber(a, b)
			out.text = "CAST(trunc(" + text + ") AS " + out.gives.Text + ")"
		default:
			out.gives = uniformType(a, b)
			out.text = "CAST(" + text + " AS " + out.gives.Text + ")"
		}
		return out, nil
	})
	return true
}

// uniformType is the type of a number between two, one of which has a fraction.
func uniformType(a, b Type) Type {
	for _, name := range []string{"DOUBLE", "FLOAT"} {
		if a.Name == name || b.Name == name {
			return parseType(name)
		}
	}
	if b.Name == "DECIMAL" && (a.Name != "DECIMAL" || b.Width > a.Width) {
		return b
	}
	return a
}

// shuffleCall writes shuffle(list).
func shuffleCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if r.seeded("shuffle", bounds, 1, pos) {
		return true
	}
	text := "list_transform(list_sort(list_transform($1, lambda skua_x: {'r': random(), 'x': skua_x})), lambda skua_x: skua_x.x)"
	if r.unbound(bounds[0][0], bounds[0][1]) {
		r.template(text, pos, r.argumentPieces(bounds)...)
		return true
	}
	r.typedCall(text, bounds, func(types []Type) (verdict, error) {
		t := types[0]
		switch {
		case t.Name == `"NULL"`:
			return verdict{text: "$1", gives: t}, nil
		case t.Name != "LIST" && t.Name != "":
			return verdict{}, unexpected("shuffle", "ARRAY", t)
		}
		return verdict{text: text, gives: t, casts: []string{""}}, nil
	})
	return true
}
