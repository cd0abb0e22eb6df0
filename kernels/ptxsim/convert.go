package ptxsim

import (
	"math"
	"math/bits"
)

func (w *warp) convert(in *instr, m uint32, d, a *reg) {
	if in.kind == kF || in.skind == kF {
		for x := m; x != 0; x &= x - 1 {
			i := bits.TrailingZeros32(x) & 31
			d[i] = floatConvert(in, a[i])
		}
		return
	}
	// Take the source's bits, extend by its sign, cut to the result's type, and extend that to the register.
	from, to, wide := mask64[in.sbits], mask64[in.bits], mask64[in.dbits]
	s, t := 64-in.sbits, 64-in.bits
	for x := m; x != 0; x &= x - 1 {
		i := bits.TrailingZeros32(x) & 31
		v := a[i] & from
		if in.skind == kS {
			v = uint64(int64(v<<s) >> s)
		}
		v &= to
		if in.kind == kS {
			v = uint64(int64(v<<t)>>t) & wide
		}
		d[i] = v
	}
}

// floatConvert converts from or to a floating point number.
func floatConvert(in *instr, a uint64) uint64 {
	switch {
	case in.skind == kF && in.sbits == 32:
		return fromFloat(in, round(in.sub, float64(f32(a))))
	case in.skind == kF:
		return fromFloat(in, round(in.sub, f64(a)))
	case in.skind == kS && in.bits == 32:
		return b32(float32(sext(a, in.sbits)))
	case in.skind == kS:
		return b64f(float64(sext(a, in.sbits)))
	case in.bits == 32:
		return b32(float32(a & mask64[in.sbits]))
	}
	return b64f(float64(a & mask64[in.sbits]))
}

func round(mode string, f float64) float64 {
	switch mode {
	case "rzi":
		return math.Trunc(f)
	case "rni":
		return math.RoundToEven(f)
	case "rmi":
		return math.Floor(f)
	case "rpi":
		return math.Ceil(f)
	}
	return f
}

// fromFloat gives a number in the result's type. Integers are clamped; NaN is 0, in 64 bits the least integer.
func fromFloat(in *instr, f float64) uint64 {
	top := math.Ldexp(1, int(in.bits))
	switch {
	case in.kind == kF && in.bits == 32:
		return b32(float32(f))
	case in.kind == kF:
		return b64f(f)
	case f != f && in.bits == 64:
		return 1 << 63
	case f != f:
		return 0
	case in.kind != kS && f < 0:
		return 0
	case in.kind != kS && f >= top:
		return mask64[in.bits]
	case in.kind != kS:
		return uint64(f)
	case f < -top/2:
		return 1 << (in.bits - 1)
	case f >= top/2:
		return mask64[in.bits-1]
	}
	return uint64(int64(f)) & mask64[in.dbits]
}
