package dialect

import "github.com/skua-data/skua/engine/syntax"

// sparkNumbers are Spark's functions of numbers.
var sparkNumbers = map[string]function{
	"ln": templated(1, "skua_ln($1)"), "log": templated(1, "skua_ln($1)", 2, "skua_log($1, $2)"), "log2": templated(1, "skua_log2($1)"), "log10": templated(1, "skua_log10($1)"),
	"log1p": templated(1, "skua_log1p($1)"), "expm1": templated(1, "skua_expm1($1)"), "sqrt": templated(1, "skua_sqrt($1)"), "rint": templated(1, "skua_rint($1)"),
	"acosh": templated(1, "skua_acosh($1)"), "asinh": templated(1, "skua_asinh($1)"), "atan2": templated(2, "skua_atan2($1, $2)"), "atanh": templated(1, "skua_atanh($1)"), "hypot": templated(2, "skua_hypot($1, $2)"), "cbrt": templated(1, "skua_cbrt($1)"),
	"sin": finite("sin"), "cos": finite("cos"), "tan": finite("tan"), "cot": templated(1, "skua_cot($1)"), "sec": templated(1, "(1 / skua_cos($1))"), "csc": templated(1, "skua_csc($1)"),
	"asin": finite("asin"), "acos": finite("acos"), "atan": finite("atan"), "sinh": finite("sinh"), "cosh": finite("cosh"), "tanh": finite("tanh"), "exp": finite("exp"),
	"pow": templated(2, "skua_power($1, $2)"), "power": templated(2, "skua_power($1, $2)"),
	"factorial": templated(1, "skua_factorial($1)"), "bit_count": templated(1, "CAST(bit_count(CAST($1 AS BIGINT)) AS INTEGER)"),
	"bit_get": templated(2, "skua_bit_at($1, $2)"), "getbit": templated(2, "skua_bit_at($1, $2)"), "shiftrightunsigned": templated(2, "skua_shift_unsigned($1, CAST($2 AS INTEGER))"),
	"width_bucket": templated(4, "skua_width_bucket($1, $2, $3, CAST($4 AS BIGINT))"), "rand": {special: randomCall}, "random": {special: randomCall},
}

func finite(name string) function { return templated(1, "skua_"+name+"($1)") }

// randomCall writes rand(); with a seed Spark's numbers hang on how its rows are parted, which nobody knows here.
func randomCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) > 0 {
		return r.refused(pos, "rand with a seed is not supported: which number a row has hangs on the partitions of Spark")
	}
	r.next += 2
	r.emitAt("random()", pos)
	return true
}
