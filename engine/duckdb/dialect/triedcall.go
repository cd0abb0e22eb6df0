package dialect

import "github.com/skua-data/skua/engine/arith"

// untried are the functions that are operators which give NULL instead of an error, as they are written where the types are not known.
var untried = map[string]function{
	"try_add": counting("try_add", 2, 2, templated(2, "(($1) + ($2))")), "try_subtract": counting("try_subtract", 2, 2, templated(2, "(($1) - ($2))")),
	"try_multiply": counting("try_multiply", 2, 2, templated(2, "(($1) * ($2))")), "try_mod": counting("try_mod", 2, 2, templated(2, "(($1) % nullif($2, 0))")),
	"try_divide": counting("try_divide", 2, 2, templated(2, "(CAST($1 AS DOUBLE) / nullif($2, 0))")),
}

// tried writes such an operator. Its operands may fail, but for texts that are no numbers. With dates and intervals it fails where the result is none that the engine has.
func (w *arithmeticWriter) tried(n *node, t arith.Type) {
	l, r := w.typeOf(n.left), w.typeOf(n.right)
	fails := *n
	fails.tried = false
	switch {
	case !t.Number() || l.Kind == arith.Void || r.Kind == arith.Void || l.IsInterval() || r.IsInterval(), t.Kind == arith.Decimal && (n.op == "+" || n.op == "-") && w.summed(l, r, t):
		w.node(&fails)
	case t.Kind == arith.Decimal:
		w.call(w.exactOrNull(n.op, t), n)
	case n.op == "%":
		w.text("skua_try_modulo(")
		w.asOrNull(n.left, t)
		w.text(",")
		w.asOrNull(n.right, t)
		w.text(")")
	case n.op == "/":
		w.asOrNull(n.left, t)
		w.text("/ nullif(")
		w.asOrNull(n.right, t)
		w.text(", 0)")
	case !t.Whole():
		w.asOrNull(n.left, t)
		w.text(n.op)
		w.asOrNull(n.right, t)
	default:
		wide := map[bool]string{false: "AS BIGINT)", true: "AS HUGEINT)"}[t.Kind == arith.Bigint]
		w.text("TRY_CAST(CAST(")
		w.asOrNull(n.left, t)
		w.text(wide + n.op + " CAST(")
		w.asOrNull(n.right, t)
		w.text(wide + " AS " + spelled(t).Text + ")")
	}
}

// asOrNull writes an operand in a type. A text that is no number is NULL.
func (w *arithmeticWriter) asOrNull(n *node, t arith.Type) {
	target, ok := castTargets[spelled(arith.Of(t.Kind)).Text]
	if w.typeOf(n).Kind != arith.String || !ok {
		w.as(n, arith.Of(t.Kind))
		return
	}
	w.text(CastFunction(target.function, true) + "(")
	w.node(n)
	w.text(", " + QuoteText(w.zone) + ")")
}
