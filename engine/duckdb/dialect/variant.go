package dialect

import (
	"fmt"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// castable are the types that a part of a variant is brought into.
var castable = map[string]bool{"string": true, "boolean": true, "tinyint": true, "byte": true, "smallint": true, "short": true, "int": true, "integer": true,
	"bigint": true, "long": true, "float": true, "real": true, "double": true, "decimal": true, "dec": true, "numeric": true, "date": true, "timestamp": true,
	"timestamp_ntz": true, "timestamp_ltz": true}

func variantGet(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	return r.variantGet("variant_get", bounds, pos)
}

func tryVariantGet(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	return r.variantGet("try_variant_get", bounds, pos)
}

// variantGet writes a part of a variant, which comes as text, with a cast into the type that is asked for.
func (r *rewriter) variantGet(name string, bounds [][2]int, pos syntax.Pos) bool {
	refuse := func(why string) bool {
		r.failed = fault.New(fault.Unsupported, "%s: %s", name, why).With("", "0A000").At(fault.Position{Line: pos.Line, Column: pos.Column})
		return true
	}
	if len(bounds) == 2 {
		return refuse("without a type it gives a variant, which is not supported: name the type as the third argument")
	}
	if len(bounds) != 3 {
		return false
	}
	text, ok := r.literal(bounds[2])
	if !ok {
		return refuse("the type is a string literal")
	}
	p := syntax.NewParser(text)
	t, err := p.TypeName()
	if err == nil && p.Peek().Kind != syntax.EndOfText {
		err = p.Unexpected()
	}
	if err != nil {
		r.failed = err
		return true
	}
	if !castable[t.Name] {
		return refuse("values of the type " + text + " are not supported")
	}
	precision, scale := 10, 0
	if len(t.Params) > 0 {
		precision = t.Params[0]
	}
	if len(t.Params) > 1 {
		scale = t.Params[1]
	}
	arguments := r.argumentPieces(bounds)
	r.template(fmt.Sprintf("CAST(skua_%s($1, $2, %s, %d, %d) AS %s)", name, QuoteText(t.Name), precision, scale, spellType(t, true)), pos, arguments[:2]...)
	return true
}
