package dialect

import "github.com/skua-data/skua/engine/syntax"

// sparkBytes are Spark's functions of bytes, and those of texts that take bytes, too.
var sparkBytes = map[string]function{
	"encode": templated(2, "skua_encode($1, $2)"), "decode": {special: sparkDecodeCall}, "to_binary": templated(1, "skua_to_binary($1, 'hex', false)", 2, "skua_to_binary($1, $2, false)"),
	"try_to_binary": templated(1, "skua_to_binary($1, 'hex', true)", 2, "skua_to_binary($1, $2, true)"),
	"substring":     templated(3, "skua_sub($2, $3, $1)", 2, "skua_sub($2, 2147483647, $1)"), "substr": templated(3, "skua_sub($2, $3, $1)", 2, "skua_sub($2, 2147483647, $1)"),
	"left": templated(2, "skua_sub(1, skua_count($2), $1)"),
}

// sparkDecodeCall writes decode of bytes, or the choice of that name.
func sparkDecodeCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) != 2 {
		return decodeCall(r, bounds, pos)
	}
	r.template("skua_decode($1, $2)", pos, r.argumentPieces(bounds)...)
	return true
}
