package dialect

import (
	"github.com/skua-data/skua/engine/arith"
	"github.com/skua-data/skua/engine/syntax"
)

// unifiedCase writes CASE, whose values meet in one type; false: something else comes, or values that are alike.
func (r *rewriter) unifiedCase() bool {
	if !r.Spark || !r.is("CASE") || r.at(r.next+1).Is(".") || r.next > 0 && r.at(r.next-1).Is(".") {
		return false
	}
	from, end := r.next, r.primaryEnd(r.next)
	if end < 0 || r.unbound(from, end) {
		return false
	}
	text := "CASE"
	var bounds, values [][2]int
	var asked []int
	for at := from + 1; at < end; {
		word := r.at(at - 1)
		next := r.caseWord(at, end)
		if next == at { // WHEN follows CASE
			text, at = text+" WHEN", at+1
			continue
		}
		if word.Is("THEN") || word.Is("ELSE") {
			asked, values = append(asked, len(bounds)), append(values, [2]int{at, next})
		}
		if bounds = append(bounds, [2]int{at, next}); len(bounds) > 2*maxCompared {
			return false
		}
		text += " $" + itoa(len(bounds)) + " " + r.at(next).Text
		at = next + 1
	}
	if len(values) < 2 || r.allAlike(values) {
		return false
	}
	operands := make([][]piece, len(bounds))
	for i, b := range bounds {
		operands[i] = r.between(b)
	}
	r.next = end
	if r.failed == nil {
		r.put(&coercion{text: text, operands: operands, asked: asked, zone: r.Zone.String(), rule: unifyRule("casewhen")}, from, end)
	}
	return true
}

// between writes what stands between two tokens.
func (r *rewriter) between(b [2]int) []piece {
	return r.capture(func() {
		r.next = b[0]
		for r.failed == nil && r.next < b[1] {
			r.operand(&scope{})
		}
	})
}

// caseWord gives the token of the word from one on by which a CASE goes on.
func (r *rewriter) caseWord(from, end int) int {
	for i := from; i < end-1; i++ {
		switch t := r.at(i); {
		case t.Is("(") || t.Is("[") || t.Is("{"):
			i = r.closing(i) - 1
		case t.Kind != syntax.Word || r.at(i-1).Is(".") || r.at(i+1).Is("."):
		case t.Is("CASE"):
			i = r.primaryEnd(i) - 1
		case oneOf(t, "WHEN", "THEN", "ELSE"):
			return i
		}
	}
	return end - 1
}

// joined writes texts behind each other; what is none is written as Spark writes it.
func (w *arithmeticWriter) joined(n *node) {
	if n.left.op == "||" {
		w.node(n.left)
	} else {
		w.asText(n.left)
	}
	w.text("||")
	w.asText(n.right)
}

func (w *arithmeticWriter) asText(n *node) {
	if kind := w.typeOf(n).Kind; n.op == "||" || kind == arith.String || kind == arith.Unknown {
		w.inner(n)
		return
	}
	w.text(CastFunction("text", false) + "(")
	w.node(n)
	w.text(", current_setting('TimeZone'))")
}
