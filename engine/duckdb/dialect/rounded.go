package dialect

import (
	"fmt"

	"github.com/skua-data/skua/engine/arith"
)

// wholeBits are how wide whole numbers are.
var wholeBits = map[arith.Kind]int{arith.Tinyint: 8, arith.Smallint: 16, arith.Int: 32, arith.Bigint: 64}

// rounded writes round and bround of floats, and of whole numbers that are rounded before their point.
func (w *arithmeticWriter) rounded(n *node, t arith.Type) {
	name := map[string]string{"round": "skua_rounded(", "bround": "skua_rounded_even("}[n.op]
	narrow := t.Kind != arith.Double && t.Kind != arith.Bigint
	if narrow {
		w.text("CAST(")
	}
	w.text(name)
	w.as(n.right, arith.Of(map[bool]arith.Kind{true: arith.Bigint, false: arith.Double}[t.Whole()]))
	w.text(fmt.Sprintf(", %d", n.digits))
	if t.Whole() {
		w.text(fmt.Sprintf(", %d", wholeBits[t.Kind]))
	}
	w.text(")")
	if narrow {
		w.text("AS " + spelled(t).Text + ")")
	}
}

// signum writes the sign of a number as a double, which has those of zeros and of what is no number.
func (w *arithmeticWriter) signum(of *node, t arith.Type) {
	if t.Kind == arith.Float || t.Kind == arith.Double || t.Kind == arith.String {
		w.text("skua_sign(")
		w.as(of, arith.Of(arith.Double))
		w.text(")")
		return
	}
	w.text("CAST(sign(")
	w.node(of)
	w.text(") AS DOUBLE)")
}
