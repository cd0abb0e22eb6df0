package dialect

import (
	"math"
	"strconv"
	"strings"

	"github.com/skua-data/skua/engine/arith"
	"github.com/skua-data/skua/engine/syntax"
)

// numberCalls are the functions that are operators by another name, or follow the types of their arguments as operators do, with the numbers of arguments that they
// have.
var numberCalls = map[string]struct {
	op          string
	least, most int
	tried       bool
}{
	"mod": {"%", 2, 2, false}, "div": {"DIV", 2, 2, false}, "pmod": {"pmod", 2, 2, false}, "negative": {"-", 1, 1, false}, "positive": {"+", 1, 1, false}, "abs": {"abs", 1, 1, false}, "sign": {"sign", 1, 1, false}, "signum": {"sign", 1, 1, false},
	"shiftleft": {"<<", 2, 2, false}, "shiftright": {">>", 2, 2, false}, "shiftrightunsigned": {">>>", 2, 2, false},
	"round": {"round", 1, 2, false}, "bround": {"bround", 1, 2, false}, "ceil": {"ceil", 1, 2, false}, "ceiling": {"ceil", 1, 2, false}, "floor": {"floor", 1, 2, false},
	"try_add": {"+", 2, 2, true}, "try_subtract": {"-", 2, 2, true}, "try_multiply": {"*", 2, 2, true}, "try_divide": {"/", 2, 2, true}, "try_mod": {"%", 2, 2, true},
}

// called reads a call of one of them; nil: something else comes next.
func (p *operators) called() *node {
	from := p.next
	name := p.r.at(from)
	f, ok := numberCalls[strings.ToLower(name.Text)]
	if !ok || name.Kind != syntax.Word || !p.r.at(from+1).Is("(") || p.r.odbc {
		return nil
	}
	end := p.r.closing(from + 1)
	if end < 0 || p.r.postfix(end) || oneOf(p.r.at(end), "OVER", "FILTER") {
		return nil
	}
	var arguments []*node
	nodes, more, before := p.nodes, p.more, from+2
	for before < end {
		inner := &operators{r: p.r, next: before, nodes: p.nodes, depth: p.depth}
		n := inner.value(0)
		if n == nil || !p.r.at(inner.next).Is(",") && inner.next != end-1 || len(arguments) == f.most {
			p.nodes, p.more = nodes, more
			return nil
		}
		p.nodes, before = inner.nodes, inner.next+1
		arguments = append(arguments, n)
	}
	out := &node{op: f.op, from: from, tried: f.tried}
	rounds := f.most > f.least
	switch {
	case len(arguments) < f.least, rounds && len(arguments) == 2 && !p.r.wholeLiteral(arguments[1], &out.digits):
		p.nodes, p.more = nodes, more
		return nil
	case f.most == 2 && !rounds:
		out.left, out.right = arguments[0], arguments[1]
	default:
		out.right = arguments[0]
		out.rounds, out.bare = rounds, len(arguments) == 1
	}
	p.next = end
	out = p.node(out)
	p.more = true
	return out
}

// wholeLiteral reads a whole number that is written as one.
func (r *rewriter) wholeLiteral(n *node, out *int) bool {
	text := ""
	for i := n.from; i < n.to; i++ {
		text += r.at(i).Text
	}
	value, err := strconv.Atoi(text)
	*out = value
	return err == nil && value >= math.MinInt32 && value <= math.MaxInt32
}

// function gives the type of a function of one argument.
func (n *node) function(t arith.Type) (arith.Type, error) {
	switch {
	case (n.op == "ceil" || n.op == "floor") && n.bare:
		return arith.Ceiling(t)
	case n.rounds:
		return arith.Rounding(n.op, t, n.digits)
	}
	return arith.Unary(n.op, t)
}

// functionOf writes a function of one argument.
func (w *arithmeticWriter) functionOf(n *node, t arith.Type) {
	of := w.typeOf(n.right)
	switch {
	case of.Kind == arith.Void:
		w.text("CAST(NULL AS " + spelled(t).Text + ")")
	case n.op == "sign":
		w.signum(n.right, of)
	case n.op == "abs":
		w.text("CAST(abs(") // which has no type of its own where the engine knows that it is NULL
		w.as(n.right, t)
		w.text(") AS " + spelled(t).Text + ")")
	case t.Kind == arith.Decimal:
		w.text(w.exact(n.op, t) + "(")
		w.as(n.right, arith.Ceiled(of))
		w.text(", " + strconv.Itoa(n.digits) + ")")
	case t.Kind == arith.Bigint && n.bare && (n.op == "ceil" || n.op == "floor"):
		w.wholly(n, of)
	case t.Whole() && n.digits >= 0:
		w.as(n.right, t)
	default:
		w.rounded(n, t)
	}
}

// wholly writes ceil and floor of what is no decimal.
func (w *arithmeticWriter) wholly(n *node, of arith.Type) {
	if of.Whole() {
		w.as(n.right, arith.Of(arith.Bigint))
		return
	}
	w.text("skua_to_long(" + n.op + "(")
	w.as(n.right, arith.Of(arith.Double))
	w.text("))")
}
