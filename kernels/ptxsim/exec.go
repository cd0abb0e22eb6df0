package ptxsim

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
)

// run executes up to n instructions, or until a barrier or the end.
func (w *warp) run(n int) {
	r := w.block.run
	for ; n > 0 && w.state == ready; n-- {
		if w.act == 0 {
			w.stuck()
			continue
		}
		if w.pc >= w.other {
			w.park()
			w.pick()
		}
		if int(w.pc) >= len(r.k.code) {
			w.exit(w.act)
			continue
		}
		w.execute(&r.k.code[w.pc])
		if r.stop.Load() && w.state == ready {
			w.end() // let the block end
		}
	}
}

// execute runs one instruction for the lanes whose guard holds.
func (w *warp) execute(in *instr) {
	w.steps++
	if !w.block.run.l.NoUnwritten {
		w.checkWritten(in)
	}
	m := w.act & w.guard(in)
	w.lanes += uint64(bits.OnesCount32(m))
	if m == 0 {
		w.pc++
		return
	}
	switch in.op {
	case opBra:
		w.branch(in, m)
	case opBrx:
		w.branchTable(in, m)
	case opRet:
		w.pc++
		w.park()
		w.exit(m)
	case opTrap:
		w.block.run.fault(Trap, w, bits.TrailingZeros32(m), in, "trap")
		w.block.run.stop.Store(true)
		w.pc++
		w.park()
		w.exit(m)
	case opBar:
		w.arrive(m)
	case opBarWarp, opShfl, opVote:
		if w.together(in, m) {
			w.pc++
		}
	case opLd, opSt, opAtom:
		w.memory(in, m)
		w.pc++
	default:
		w.alu(in, m)
		w.pc++
	}
}

func (w *warp) guard(in *instr) uint32 {
	switch {
	case in.guard < 0:
		return ^uint32(0)
	case in.guardNot:
		return ^w.preds[in.guard]
	}
	return w.preds[in.guard]
}

func (w *warp) branch(in *instr, m uint32) {
	if m == w.act {
		w.pc = in.target
		if w.other != math.MaxInt32 {
			w.park()
			w.pick()
		}
		return
	}
	for x := m; x != 0; x &= x - 1 {
		w.pcs[bits.TrailingZeros32(x)] = in.target
	}
	w.pc++
	w.act &^= m
	w.park()
	w.pick()
}

func (w *warp) branchTable(in *instr, m uint32) {
	w.pc++
	w.park()
	for x := m; x != 0; x &= x - 1 {
		i := bits.TrailingZeros32(x)
		t := w.regs[in.a][i]
		if t >= uint64(len(in.vec)) {
			w.block.run.fault(OutOfBounds, w, i, in, fmt.Sprintf("branch table index %d of %d", t, len(in.vec)))
			t = 0
		}
		w.pcs[i] = in.vec[t]
	}
	w.pick()
}

// arrive makes lanes wait at a barrier of the block.
func (w *warp) arrive(m uint32) {
	w.park()
	for x := w.act &^ m; x != 0; x &= x - 1 {
		w.pcs[bits.TrailingZeros32(x)]++
	}
	w.blocked |= m
	w.pick()
}

// stuck is called when no lane can run: either all wait at one barrier, or the lanes that a warp operation waits for have ended, or they
// never come.
func (w *warp) stuck() {
	r := w.block.run
	if w.live == 0 {
		w.end()
		return
	}
	first := bits.TrailingZeros32(w.blocked)
	pc := w.pcs[first]
	same := w.waitingAt(pc)
	in := &r.k.code[pc]
	if same == w.live && in.op == opBar {
		w.state, w.barID, w.pc = atBarrier, in.imm, pc
		w.block.wait++
		return
	}
	if in.op != opBar {
		if need := uint32(w.regs[in.a][first]) & w.live; need&^same == 0 { // the others have ended
			w.blocked &^= same
			w.act, w.pc, w.other = same, pc, math.MaxInt32
			return
		}
	}
	r.fault(Divergence, w, first, in, "lanes wait for each other at "+w.places())
	r.stop.Store(true)
	w.end()
}

// waitingAt gives the blocked lanes at an instruction.
func (w *warp) waitingAt(pc int32) (m uint32) {
	for x := w.blocked; x != 0; x &= x - 1 {
		if i := bits.TrailingZeros32(x); w.pcs[i] == pc {
			m |= 1 << i
		}
	}
	return m
}

// places lists where lanes are.
func (w *warp) places() string {
	var at []string
	for x := w.live; x != 0; x &= x - 1 {
		in := &w.block.run.k.code[w.pcs[bits.TrailingZeros32(x)]]
		s := fmt.Sprintf("line %d", in.line)
		if in.source != "" {
			s = in.source
		}
		if len(at) == 0 || at[len(at)-1] != s {
			at = append(at, s)
		}
	}
	return strings.Join(at, ", ")
}

// checkWritten looks for registers and predicates that nobody wrote in a lane that reads them.
func (w *warp) checkWritten(in *instr) {
	m := w.act
	for _, p := range in.psrc {
		if w.pdef[p]&m != m {
			w.block.run.fault(Unwritten, w, bits.TrailingZeros32(m&^w.pdef[p]), in, "predicate never written")
			w.pdef[p] |= m
		}
	}
	m &= w.guard(in)
	if in.op == opMov || in.op == opSelp {
		return // a value that is selected or moved without being used is no fault
	}
	for _, s := range in.srcs {
		if w.def[s]&m != m {
			w.block.run.fault(Unwritten, w, bits.TrailingZeros32(m&^w.def[s]), in, "register "+w.block.run.k.regName[s]+" never written")
			w.def[s] |= m
		}
	}
}
