package ptxsim

import "fmt"

// place is where an access goes after all checks of its address.
type place struct {
	data   []byte // the bytes
	wrote  []bool // nil: all written
	shadow []cell // nil: no race check
}

// locate checks an address and finds its bytes.
func (w *warp) locate(in *instr, lane int, addr, n uint64, p *place) bool {
	sp, off := resolve(in.sp, addr)
	switch sp {
	case spShared:
		return w.locateShared(in, lane, off, n, p)
	case spLocal:
		return w.locateLocal(in, lane, off, n, p)
	}
	r := w.block.run
	g := w.last
	if g == nil || addr < g.addr || addr-g.addr+n > uint64(len(g.data)) {
		g = r.d.find(addr)
		if g == nil || addr-g.addr+n > uint64(len(g.data)) {
			r.fault(OutOfBounds, w, lane, in, r.d.describe(addr))
			return false
		}
		w.last = g
	}
	o := addr - g.addr
	if g.readOnly && in.op != opLd {
		r.fault(OutOfBounds, w, lane, in, "write to read-only "+r.d.describe(addr))
		return false
	}
	p.data, p.wrote, p.shadow = g.data[o:o+n], nil, nil
	if g.written != nil {
		p.wrote = g.written[o : o+n]
	}
	if r.races && !g.readOnly && o/shadowBytes == (o+n-1)/shadowBytes {
		p.shadow = g.cells(o, n, r.launch)
	}
	return true
}

// resolve brings a generic address into its space.
func resolve(sp spaceKind, addr uint64) (spaceKind, uint64) {
	switch {
	case sp != spGeneric:
	case addr >= sharedBase && addr < sharedBase+windowSize:
		return spShared, addr - sharedBase
	case addr >= localBase && addr < localBase+windowSize:
		return spLocal, addr - localBase
	}
	return sp, addr
}

func (w *warp) locateShared(in *instr, lane int, off, n uint64, p *place) bool {
	b := w.block
	if off+n > uint64(len(b.shared)) || off+n < off {
		b.run.fault(OutOfBounds, w, lane, in, fmt.Sprintf("shared+%d (of %d bytes)", off, len(b.shared)))
		return false
	}
	for _, ok := range b.valid[off : off+n] {
		if !ok {
			b.run.fault(OutOfBounds, w, lane, in, b.run.sharedName(off)+", behind a variable")
			return false
		}
	}
	p.data, p.wrote, p.shadow = b.shared[off:off+n], b.wrote[off:off+n], nil
	if b.shadow != nil {
		p.shadow = b.shadow[off : off+n]
	}
	return true
}

func (w *warp) locateLocal(in *instr, lane int, off, n uint64, p *place) bool {
	size := uint64(w.block.run.k.localSize)
	if off+n > size || off+n < off {
		w.block.run.fault(OutOfBounds, w, lane, in, fmt.Sprintf("local+%d (of %d bytes)", off, size))
		return false
	}
	off += size * uint64(lane)
	p.data, p.wrote, p.shadow = w.local[off:off+n], w.lwrote[off:off+n], nil
	return true
}

// sharedName names a byte of shared memory.
func (r *run) sharedName(off uint64) string {
	best := fmt.Sprintf("shared+%d", off)
	for _, v := range r.k.shared {
		o := v.offset
		if o < 0 {
			o = r.k.sharedSize
		}
		if uint64(o) <= off {
			best = fmt.Sprintf("shared %s+%d", v.name, off-uint64(o))
		}
	}
	return best
}

// where names the byte at an address.
func (w *warp) where(in *instr, addr uint64) string {
	switch sp, off := resolve(in.sp, addr); sp {
	case spShared:
		return w.block.run.sharedName(off)
	case spLocal:
		return fmt.Sprintf("local+%d", off)
	}
	return w.block.run.d.describe(addr)
}
