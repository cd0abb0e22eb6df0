package ptxsim

import (
	"fmt"
	"math/bits"
)

// together runs a warp operation when all lanes of its mask are there; else it makes the lanes wait and returns false.
func (w *warp) together(in *instr, m uint32) bool {
	m, ok := w.gather(in, m)
	if !ok {
		return false
	}
	switch in.op {
	case opBarWarp:
		w.joinClocks(m)
	case opVote:
		w.vote(in, m)
	default:
		w.shuffle(in, m)
	}
	return true
}

// gather gives the lanes that take part, once all of the mask have come.
func (w *warp) gather(in *instr, m uint32) (uint32, bool) {
	r := w.block.run
	first := bits.TrailingZeros32(m)
	need := uint32(w.regs[in.a][first])
	for x := m; x != 0; x &= x - 1 {
		i := bits.TrailingZeros32(x)
		if v := uint32(w.regs[in.a][i]); v>>i&1 == 0 || v != uint32(w.regs[in.a][first]) {
			r.fault(Divergence, w, i, in, fmt.Sprintf("lane is not in its mask %#x, or masks differ", v))
			need |= 1 << i
		}
	}
	need &= w.live
	if need&^m == 0 {
		return m, true
	}
	if m != w.act { // a guard: the other lanes go on
		r.fault(Divergence, w, first, in, "guard holds back lanes of the mask")
		r.stop.Store(true)
		return m, true
	}
	join := m | w.waitingAt(w.pc)
	if need&^join != 0 {
		w.park()
		w.blocked |= m
		w.steps--
		w.pick()
		return m, false
	}
	w.blocked &^= join
	w.act = join
	return join, true
}

// joinClocks orders what the lanes did before with what they do after.
func (w *warp) joinClocks(m uint32) {
	var top [32]uint32
	for x := m; x != 0; x &= x - 1 {
		c := &w.clock[bits.TrailingZeros32(x)]
		for j := range top {
			top[j] = max(top[j], c[j])
		}
	}
	for x := m; x != 0; x &= x - 1 {
		i := bits.TrailingZeros32(x)
		w.clock[i] = top
		w.clock[i][i]++
	}
}

func (w *warp) vote(in *instr, m uint32) {
	p := w.preds[in.pc]
	if in.pcNot {
		p = ^p
	}
	p &= m
	if in.sub == "ballot" {
		for x := m; x != 0; x &= x - 1 {
			w.regs[in.d][bits.TrailingZeros32(x)] = uint64(p)
		}
		w.def[in.d] |= m
		return
	}
	yes := p != 0 // any
	switch in.sub {
	case "all":
		yes = p == m
	case "uni":
		yes = p == 0 || p == m
	}
	w.setPred(in.pd, m, uint32(-int32(pick(yes, 1, 0))))
}

func (w *warp) shuffle(in *instr, m uint32) {
	val, lane, clamp := &w.regs[in.vec[0]], &w.regs[in.vec[1]], &w.regs[in.vec[2]]
	var out reg
	var inside uint32
	for x := m; x != 0; x &= x - 1 {
		i := bits.TrailingZeros32(x)
		j, ok := shuffleSource(in.sub, i, int(lane[i]&31), int(clamp[i]&31), int(clamp[i]>>8&31))
		if ok {
			inside |= 1 << i
		}
		if m>>j&1 == 0 {
			w.block.run.fault(Divergence, w, i, in, fmt.Sprintf("reads lane %d, which does not take part", j))
			j = i
		}
		out[i] = val[j]
	}
	for x := m; x != 0; x &= x - 1 {
		i := bits.TrailingZeros32(x)
		w.regs[in.d][i] = out[i]
	}
	w.def[in.d] |= m
	if in.pd >= 0 {
		w.setPred(in.pd, m, inside)
	}
}

// shuffleSource gives the lane that lane i reads, itself where the one it means lies outside of its segment.
func shuffleSource(mode string, i, b, clamp, segment int) (int, bool) {
	top := i&segment | clamp&^segment
	j, ok := i, false
	switch mode {
	case "up":
		j = i - b
		ok = j >= top
	case "down":
		j = i + b
		ok = j <= top
	case "bfly":
		j = i ^ b
		ok = j <= top
	default:
		j = i&segment | b&^segment
		ok = j <= top
	}
	if !ok {
		return i, false
	}
	return j, true
}
