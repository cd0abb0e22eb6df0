//go:build cgo

package duckdb

import (
	"math"

	"github.com/skua-data/skua/fault"
)

// mathFunctions are Spark's functions of numbers where the engine's have other values: logarithms of what has none are NULL.
var mathFunctions = []scalar{
	logarithm("skua_ln", 0, strictLog), logarithm("skua_log10", 0, strictLog10),
	logarithm("skua_log2", 0, func(x float64) float64 { return strictLog(x) / math.Ln2 }),
	logarithm("skua_log1p", -1, math.Log1p),
	rowFunction("skua_log", []int{typeDouble, typeDouble}, typeDouble, func(r *row) error {
		if base, x := r.float(0), r.float(1); !(base <= 0) && !(x <= 0) {
			r.give(strictLog(x) / strictLog(base))
		}
		return nil
	}),
	real("skua_exp", strictExp), real("skua_expm1", math.Expm1), real("skua_sqrt", math.Sqrt), real("skua_rint", math.RoundToEven),
	real("skua_sinh", strictSinh), real("skua_cosh", strictCosh), real("skua_tanh", strictTanh), real("skua_asin", strictAsin), real("skua_acos", strictAcos), real("skua_atan", strictAtan),
	real("skua_atanh", func(x float64) float64 { return 0.5 * (math.Log1p(x) - math.Log1p(-x)) }),
	real("skua_acosh", func(x float64) float64 { return strictLog(x + math.Sqrt(float64(x*x)-1)) }),
	real("skua_asinh", func(x float64) float64 {
		if math.IsInf(x, -1) {
			return x
		}
		return strictLog(x + math.Sqrt(float64(x*x)+1))
	}),
	real("skua_sign", func(x float64) float64 {
		if x == 0 || math.IsNaN(x) {
			return x
		}
		return math.Copysign(1, x)
	}),
	rowFunction("skua_power", []int{typeDouble, typeDouble}, typeDouble, func(r *row) error { r.give(strictPow(r.float(0), r.float(1))); return nil }),
	// Adding 0 makes 0.0 of -0.0.
	rowFunction("skua_atan2", []int{typeDouble, typeDouble}, typeDouble, func(r *row) error { r.give(strictAtan2(r.float(0)+0, r.float(1)+0)); return nil }),
	rowFunction("skua_hypot", []int{typeDouble, typeDouble}, typeDouble, func(r *row) error { r.give(strictHypot(r.float(0), r.float(1))); return nil }),
	rowFunction("skua_cbrt", []int{typeDouble}, typeDouble, func(r *row) error { r.give(cubeRoot(r.float(0))); return nil }),
	rowFunction("skua_bit", []int{typeBigint, typeInteger, typeInteger}, typeInteger, func(r *row) error {
		at, bits := r.whole(1), r.whole(2)
		if at < 0 || at >= bits {
			return fault.New(fault.Invalid, "The value of parameter(s) `pos` in `bit_get` is invalid: expects an integer value in [0, %d), but got %d.", bits, at).
				With("INVALID_PARAMETER_VALUE.BIT_POSITION_RANGE", "22023")
		}
		r.give(r.whole(0) >> at & 1)
		return nil
	}),
	rowFunction("skua_shift_unsigned", []int{typeInteger, typeInteger}, typeInteger, func(r *row) error {
		r.give(int64(int32(uint32(r.whole(0)) >> (uint(r.whole(1)) & 31))))
		return nil
	}),
	rowFunction("skua_shift_unsigned", []int{typeBigint, typeInteger}, typeBigint, func(r *row) error {
		r.give(int64(uint64(r.whole(0)) >> (uint(r.whole(1)) & 63)))
		return nil
	}),
	rowFunction("skua_width_bucket", []int{typeDouble, typeDouble, typeDouble, typeBigint}, typeBigint, widthBucketCall),
}

// real makes a function of one number.
func real(name string, of func(float64) float64) scalar {
	return rowFunction(name, []int{typeDouble}, typeDouble, func(r *row) error { r.give(of(r.float(0))); return nil })
}

// logarithm is NULL at its bound and below.
func logarithm(name string, bound float64, of func(float64) float64) scalar {
	return rowFunction(name, []int{typeDouble}, typeDouble, func(r *row) error {
		if x := r.float(0); !(x <= bound) {
			r.give(of(x))
		}
		return nil
	})
}

func widthBucketCall(r *row) error {
	x, low, high, n := r.float(0), r.float(1), r.float(2), r.whole(3)
	if n <= 0 || n == math.MaxInt64 || math.IsNaN(x) || low == high || math.IsNaN(low) || math.IsInf(low, 0) || math.IsNaN(high) || math.IsInf(high, 0) {
		return nil
	}
	lower, upper := min(low, high), max(low, high)
	switch {
	case low < high && x < lower, low > high && x > upper:
		r.give(int64(0))
	case low < high && x >= upper, low > high && x <= lower:
		r.give(n + 1)
	case low < high:
		r.give(int64(float64(n)*(x-lower)/(upper-lower)) + 1)
	default:
		r.give(int64(float64(n)*(upper-x)/(upper-lower)) + 1)
	}
	return nil
}

// cubeRoot is what Java's cbrt gives, to the last digit: a guess of a fifth of the digits, which is made better once by a quotient of polynomials and once by Newton.
func cubeRoot(v float64) float64 {
	x := math.Abs(v)
	if x == 0 || x < 0x1p-1022 || math.IsInf(x, 0) || math.IsNaN(x) {
		return math.Cbrt(v)
	}
	upper := func(f float64) uint64 { return math.Float64bits(f) >> 32 }
	t := math.Float64frombits((upper(x)/3 + 715094163) << 32)
	r := t * t / x
	s := 19./35 + float64(r*t)
	t *= 5./14 + 45./28/(float64(s+99./70)-864./1225/s)
	t = math.Float64frombits((upper(t) + 1) << 32)
	r = x / (t * t)
	t += float64(t * ((r - t) / (float64(t+t) + r)))
	return math.Copysign(t, v)
}
