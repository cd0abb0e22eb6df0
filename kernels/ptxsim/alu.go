package ptxsim

import "math/bits"

// mask64 has a word with the lowest bits set, by their number.
var mask64 = func() (t [256]uint64) {
	for i := 1; i <= 64; i++ {
		t[i] = ^uint64(0) >> (64 - i)
	}
	return
}()

// alu runs an instruction that touches only registers and predicates.
func (w *warp) alu(in *instr, m uint32) {
	switch in.op {
	case opSetp:
		w.setp(in, m)
	case opPredConst:
		w.setPred(in.pd, m, -in.imm)
	case opPredMov:
		w.setPred(in.pd, m, w.preds[in.pc])
	case opPredNot:
		w.setPred(in.pd, m, ^w.preds[in.a])
	case opPredAnd:
		w.setPred(in.pd, m, w.preds[in.a]&w.preds[in.b])
	case opPredOr:
		w.setPred(in.pd, m, w.preds[in.a]|w.preds[in.b])
	case opPredXor:
		w.setPred(in.pd, m, w.preds[in.a]^w.preds[in.b])
	case opFence:
	case opUnpack:
		w.unpack(in, m)
	default:
		w.register(in, m)
	}
}

func (w *warp) unpack(in *instr, m uint32) {
	size := in.bits / uint8(len(in.vec))
	a := w.regs[in.a]
	for n, d := range in.vec {
		for x := m; x != 0; x &= x - 1 {
			i := bits.TrailingZeros32(x) & 31
			w.regs[d][i] = a[i] >> (uint8(n) * size) & mask64[size]
		}
		w.def[d] |= m
	}
}

// noReg stands for an operand that an instruction lacks.
var noReg reg

func (w *warp) operand(r int32) *reg {
	if r < 0 {
		return &noReg
	}
	return &w.regs[r]
}

// register runs an instruction with a register as its result. The frequent ones are loops of their own.
func (w *warp) register(in *instr, m uint32) {
	d, a, b, c := &w.regs[in.d], w.operand(in.a), w.operand(in.b), w.operand(in.c)
	w.def[in.d] |= m
	switch {
	case in.op == opCvt:
		w.convert(in, m, d, a)
	case in.op == opSelp:
		w.selp(in, m, d, a, b)
	case in.op == opMov && m == ^uint32(0):
		*d = *a
	case in.op == opMov:
		for x := m; x != 0; x &= x - 1 {
			i := bits.TrailingZeros32(x) & 31
			d[i] = a[i]
		}
	case in.kind == kF:
		w.float(in, m, d, a, b, c)
	default:
		w.integer(in, m, d, a, b, c)
	}
}

func (w *warp) selp(in *instr, m uint32, d, a, b *reg) {
	p := w.preds[in.pc]
	for x := m; x != 0; x &= x - 1 {
		i := bits.TrailingZeros32(x) & 31
		if p>>i&1 != 0 {
			d[i] = a[i]
		} else {
			d[i] = b[i]
		}
	}
}

func (w *warp) setPred(p int32, m, v uint32) {
	w.preds[p] = w.preds[p]&^m | v&m
	w.pdef[p] |= m
}
