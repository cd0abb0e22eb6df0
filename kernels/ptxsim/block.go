package ptxsim

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
)

type block struct {
	run    *run
	index  int
	warps  []*warp
	shared []byte
	valid  []bool // byte belongs to a variable
	wrote  []bool
	shadow []cell
	epoch  uint32
	live   int // warps not at their end
	wait   int // warps at a barrier
}

func (r *run) newBlock(index int) *block {
	k, l := r.k, r.l
	n := k.sharedSize + l.Shared
	b := &block{run: r, index: index, shared: make([]byte, n), valid: make([]bool, n), wrote: make([]bool, n)}
	for i := range b.shared {
		b.shared[i] = poison
	}
	for _, v := range k.shared {
		off, size := v.offset, v.size
		if off < 0 {
			off, size = k.sharedSize, l.Shared
		}
		for i := off; i < off+size; i++ {
			b.valid[i] = true
		}
	}
	if !l.NoRaces {
		b.shadow = newShadow(n)
	}
	for id := range (l.Block + 31) / 32 {
		b.warps = append(b.warps, b.newWarp(id))
	}
	b.live = len(b.warps)
	return b
}

// step runs one warp of the block for a while, or lets the block pass a barrier.
func (b *block) step(rnd *rand.Rand) {
	if b.wait == b.live {
		b.pass()
		return
	}
	n := rnd.IntN(b.live - b.wait)
	for _, w := range b.warps {
		if w.state != ready {
			continue
		}
		if n > 0 {
			n--
			continue
		}
		before := w.steps
		w.run(int(50 + rnd.Uint32N(2000)))
		if s := b.run.steps.Add(w.steps - before); s > b.run.l.MaxSteps && !b.run.stop.Load() {
			b.run.fault(Hang, w, 0, &b.run.k.code[min(int(w.pc), len(b.run.k.code)-1)], fmt.Sprintf("no end after %d warp instructions", s))
			b.run.stop.Store(true)
		}
		return
	}
}

// pass lets all warps pass the barrier at which they wait.
func (b *block) pass() {
	id, threads, in := int64(-1), 0, &b.run.k.code[0]
	for _, w := range b.warps {
		threads += bits.OnesCount32(w.live)
		if w.state != atBarrier {
			continue
		}
		in = &b.run.k.code[w.pc]
		if id >= 0 && int64(w.barID) != id {
			b.run.fault(Divergence, w, 0, in, "warps wait at different barriers")
			b.run.stop.Store(true)
		}
		id = int64(w.barID)
	}
	if threads < b.run.l.Block && !b.run.l.AllowEnded {
		b.run.fault(Divergence, b.warps[0], 0, in, fmt.Sprintf("%d of %d threads ended before this barrier", b.run.l.Block-threads, b.run.l.Block))
	}
	for _, w := range b.warps {
		if w.state == atBarrier {
			w.release(w.blocked)
			w.state = ready
		}
	}
	b.wait = 0
	b.epoch++
}
