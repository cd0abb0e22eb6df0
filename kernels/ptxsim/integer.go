package ptxsim

import "math/bits"

func sext(v uint64, bits uint8) int64 { s := 64 - bits; return int64(v<<s) >> s }

// integer runs the frequent integer operations over the lanes of m, and the others lane by lane.
func (w *warp) integer(in *instr, m uint32, d, a, b, c *reg) {
	mk := mask64[in.bits]
	switch in.op {
	case opAdd:
		if m == ^uint32(0) {
			for i := range d {
				d[i] = (a[i] + b[i]) & mk
			}
			return
		}
		for x := m; x != 0; x &= x - 1 {
			i := bits.TrailingZeros32(x) & 31
			d[i] = (a[i] + b[i]) & mk
		}
	case opSub:
		for x := m; x != 0; x &= x - 1 {
			i := bits.TrailingZeros32(x) & 31
			d[i] = (a[i] - b[i]) & mk
		}
	case opAnd:
		for x := m; x != 0; x &= x - 1 {
			i := bits.TrailingZeros32(x) & 31
			d[i] = a[i] & b[i]
		}
	case opOr:
		for x := m; x != 0; x &= x - 1 {
			i := bits.TrailingZeros32(x) & 31
			d[i] = a[i] | b[i]
		}
	case opXor:
		for x := m; x != 0; x &= x - 1 {
			i := bits.TrailingZeros32(x) & 31
			d[i] = a[i] ^ b[i]
		}
	case opShl:
		for x := m; x != 0; x &= x - 1 {
			i := bits.TrailingZeros32(x) & 31
			d[i] = a[i] << b[i] & mk
		}
	case opMulLo, opMadLo:
		for x := m; x != 0; x &= x - 1 {
			i := bits.TrailingZeros32(x) & 31
			d[i] = (a[i]*b[i] + c[i]) & mk
		}
	case opCvta, opCvtaTo:
		base := windowOf(in)
		for x := m; x != 0; x &= x - 1 {
			i := bits.TrailingZeros32(x) & 31
			d[i] = a[i] + base
		}
	default:
		for x := m; x != 0; x &= x - 1 {
			i := bits.TrailingZeros32(x) & 31
			d[i] = w.rare(in, i, m, a[i], b[i], c[i])
		}
	}
}

// windowOf gives what to add to an address to bring it into the generic space, or back.
func windowOf(in *instr) uint64 {
	var base uint64
	switch in.sp {
	case spShared:
		base = sharedBase
	case spLocal:
		base = localBase
	}
	if in.op == opCvtaTo {
		return -base
	}
	return base
}

// rare computes one lane of the less frequent operations.
func (w *warp) rare(in *instr, lane int, m uint32, a, b, c uint64) uint64 {
	n := in.bits
	mk := mask64[n]
	signed := in.kind == kS
	switch in.op {
	case opShr:
		if signed {
			return uint64(sext(a, n)>>b) & mk
		}
		return a >> b
	case opMulWide, opMadWide:
		v := a & mk * (b & mk)
		if signed {
			v = uint64(sext(a, n) * sext(b, n))
		}
		return (v + c) & mask64[min(2*n, 64)]
	case opMulHi, opMadHi:
		return (mulHi(a, b, n, signed) + c) & mk
	case opDiv, opRem:
		if b&mk == 0 {
			w.block.run.fault(Trap, w, lane, in, "division by zero")
			return mk
		}
		return divide(in.op == opRem, signed, a, b, n) & mk
	case opMin, opMax:
		less := a < b
		if signed {
			less = sext(a, n) < sext(b, n)
		}
		return pick(less == (in.op == opMin), a, b)
	case opAbs:
		return pick(sext(a, n) < 0, -a&mk, a)
	case opNeg:
		return -a & mk
	case opNot:
		return ^a & mk
	case opPack:
		return w.pack(in, lane)
	case opActive:
		return uint64(m)
	case opBfi:
		return insertField(a, b, c, w.regs[in.vec[0]][lane], n)
	}
	return bitOp(in, a, b, c) & mk
}

func mulHi(a, b uint64, n uint8, signed bool) uint64 {
	switch {
	case n == 64 && signed:
		hi, _ := bits.Mul64(a, b)
		if int64(a) < 0 {
			hi -= b
		}
		if int64(b) < 0 {
			hi -= a
		}
		return hi
	case n == 64:
		hi, _ := bits.Mul64(a, b)
		return hi
	case signed:
		return uint64(sext(a, n) * sext(b, n) >> n)
	}
	return a * b >> n
}

func divide(rest, signed bool, a, b uint64, n uint8) uint64 {
	switch {
	case signed && sext(b, n) == -1: // the least value divided so does not fit
		return pick(rest, 0, -a)
	case signed && rest:
		return uint64(sext(a, n) % sext(b, n))
	case signed:
		return uint64(sext(a, n) / sext(b, n))
	case rest:
		return a % b
	}
	return a / b
}

func (w *warp) pack(in *instr, lane int) (out uint64) {
	size := in.bits / uint8(len(in.vec))
	for k, r := range in.vec {
		out |= (w.regs[r][lane] & mask64[size]) << (uint8(k) * size)
	}
	return out
}
