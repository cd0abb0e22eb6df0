package ptxsim

import (
	"math"
	"math/bits"
	"strings"
)

type reg = [32]uint64

// States of a warp.
const (
	ready uint8 = iota
	atBarrier
	ended
)

type warp struct {
	block   *block
	id      int
	regs    []reg
	preds   []uint32
	def     []uint32 // lanes that wrote a register
	pdef    []uint32
	pcs     [32]int32
	live    uint32
	blocked uint32 // lanes waiting for others at a barrier or warp operation
	act     uint32
	pc      int32
	other   int32 // lowest counter of the lanes that do not run
	state   uint8
	barID   uint32
	clock   [32][32]uint32
	local   []byte
	lwrote  []bool
	last    *Buffer

	steps, lanes                  uint64
	globalAccesses, globalSectors uint64
}

func (b *block) newWarp(id int) *warp {
	k := b.run.k
	n := len(k.width)
	w := &warp{block: b, id: id, regs: make([]reg, n), preds: make([]uint32, k.npreds), def: make([]uint32, n), pdef: make([]uint32, k.npreds)}
	w.live = uint32(1<<min(32, b.run.l.Block-32*id) - 1)
	w.act, w.other = w.live, math.MaxInt32
	if k.localSize > 0 {
		w.local, w.lwrote = make([]byte, 32*k.localSize), make([]bool, 32*k.localSize)
	}
	for i := range w.clock {
		w.clock[i][i] = 1
	}
	for _, c := range k.consts {
		v := c.value
		switch {
		case c.ref == dynamicShared:
			v = uint64(k.sharedSize)
		case c.ref != "":
			v = b.run.vars[c.ref]
		}
		w.fill(c.reg, func(int) uint64 { return v })
	}
	for _, s := range k.specials {
		w.fill(s.reg, func(i int) uint64 { return w.special(s.name, i) })
	}
	return w
}

func (w *warp) fill(r int32, f func(lane int) uint64) {
	for i := range 32 {
		w.regs[r][i] = f(i)
	}
	w.def[r] = ^uint32(0)
}

// special gives a special register. Grids and blocks have one dimension.
func (w *warp) special(name string, lane int) uint64 {
	l := w.block.run.l
	switch name {
	case "%tid.x":
		return uint64(32*w.id + lane)
	case "%ntid.x":
		return uint64(l.Block)
	case "%ctaid.x":
		return uint64(w.block.index)
	case "%nctaid.x":
		return uint64(l.Grid)
	case "%laneid":
		return uint64(lane)
	case "%warpid":
		return uint64(w.id)
	case "%lanemask_lt":
		return uint64(uint32(1)<<lane - 1)
	case "%lanemask_le":
		return uint64(uint32(2)<<lane - 1)
	case "%lanemask_eq":
		return uint64(uint32(1) << lane)
	case "%lanemask_gt":
		return uint64(^(uint32(2)<<lane - 1))
	case "%lanemask_ge":
		return uint64(^(uint32(1)<<lane - 1))
	case "WARP_SZ":
		return 32
	}
	return pick(strings.HasPrefix(name, "%n"), 1, 0)
}

// release makes lanes that waited at w.pcs continue behind their instruction.
func (w *warp) release(m uint32) {
	for x := m; x != 0; x &= x - 1 {
		w.pcs[bits.TrailingZeros32(x)]++
	}
	w.blocked &^= m
	w.pick()
}

// pick chooses the lanes with the lowest counter among those that can run.
func (w *warp) pick() {
	low, other := int32(math.MaxInt32), int32(math.MaxInt32)
	var m uint32
	for x := w.live &^ w.blocked; x != 0; x &= x - 1 {
		i := bits.TrailingZeros32(x)
		switch p := w.pcs[i]; {
		case p < low:
			other, low, m = low, p, 1<<i
		case p == low:
			m |= 1 << i
		case p < other:
			other = p
		}
	}
	w.act, w.pc, w.other = m, low, other
}

// park stores the counter of the running lanes.
func (w *warp) park() {
	for x := w.act; x != 0; x &= x - 1 {
		w.pcs[bits.TrailingZeros32(x)] = w.pc
	}
}

// exit ends lanes.
func (w *warp) exit(m uint32) {
	w.live &^= m
	w.pick()
	if w.live == 0 {
		w.end()
	}
}

func (w *warp) end() {
	w.state = ended
	w.block.live--
}
