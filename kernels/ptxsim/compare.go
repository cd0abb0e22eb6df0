package ptxsim

import "math/bits"

var comparisons = []string{"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"}

// setp compares, and combines the result with a predicate.
func (w *warp) setp(in *instr, m uint32) {
	a, b := &w.regs[in.a], &w.regs[in.b]
	var p uint32
	for x := m; x != 0; x &= x - 1 {
		i := bits.TrailingZeros32(x) & 31
		if compare(in, a[i], b[i]) {
			p |= 1 << i
		}
	}
	q := ^p
	if in.comb != "" {
		c := w.preds[in.pc]
		if in.pcNot {
			c = ^c
		}
		p, q = combine(in.comb, p, c), combine(in.comb, q, c)
	}
	w.setPred(in.pd, m, p)
	if in.pd2 >= 0 {
		w.setPred(in.pd2, m, q)
	}
}

func combine(how string, a, b uint32) uint32 {
	switch how {
	case "and":
		return a & b
	case "or":
		return a | b
	}
	return a ^ b
}

func compare(in *instr, a, b uint64) bool {
	var less, equal, nan bool
	switch {
	case in.kind == kF && in.bits == 32:
		u, v := f32(a), f32(b)
		less, equal, nan = u < v, u == v, u != u || v != v
	case in.kind == kF:
		u, v := f64(a), f64(b)
		less, equal, nan = u < v, u == v, u != u || v != v
	case in.kind == kS:
		u, v := sext(a, in.bits), sext(b, in.bits)
		less, equal = u < v, u == v
	default:
		u, v := a&mask64[in.bits], b&mask64[in.bits]
		less, equal = u < v, u == v
	}
	return holds(in.sub, less, equal, nan)
}

// holds says what a comparison is, of numbers that are in order, equal, or not comparable.
func holds(op string, less, equal, nan bool) bool {
	switch op {
	case "eq":
		return equal
	case "ne":
		return !equal && !nan
	case "lt", "lo":
		return less
	case "le", "ls":
		return less || equal
	case "gt", "hi":
		return !less && !equal && !nan
	case "ge", "hs":
		return !less && !nan
	case "equ":
		return equal || nan
	case "neu":
		return !equal
	case "ltu":
		return less || nan
	case "leu":
		return less || equal || nan
	case "gtu":
		return !less && !equal || nan
	case "geu":
		return !less || nan
	case "num":
		return !nan
	}
	return nan
}
