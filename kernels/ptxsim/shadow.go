package ptxsim

// access is who touched a byte and when.
type access struct {
	block  int32  // -1: nobody
	epoch  uint32 // barriers its block had passed
	clock  uint32 // warp synchronisations its lane had passed
	thread uint16
	line   uint16 // of the PTX
	strong bool
}

// cell holds what is needed to see races on one byte: the last write and up to two reads after it that nothing orders.
type cell struct{ w, r, r2 access }

var nobody = access{block: -1}

// shadowBytes is how many bytes a page of cells is for. No access crosses pages, since it is aligned to its size.
const shadowBytes = 256

// shadowPage holds the cells of some bytes of global memory for one launch.
type shadowPage struct {
	launch uint64
	cells  [shadowBytes]cell
}

func clearCells(s []cell) {
	for i := range s {
		s[i] = cell{nobody, nobody, nobody}
	}
}

func newShadow(n int) []cell {
	s := make([]cell, n)
	clearCells(s)
	return s
}

// cells gives those of n bytes of a buffer, as no access of an earlier launch left them.
func (b *Buffer) cells(at, n, launch uint64) []cell {
	if b.shadow == nil {
		b.shadow = make([]*shadowPage, len(b.data)/shadowBytes+1)
	}
	p := b.shadow[at/shadowBytes]
	if p == nil {
		p = &shadowPage{}
		b.shadow[at/shadowBytes] = p
	}
	if p.launch != launch {
		clearCells(p.cells[:])
		p.launch = launch
	}
	return p.cells[at%shadowBytes:][:n]
}

// ordered tells whether old happened before what lane of warp w does now.
func ordered(old *access, w *warp, lane int) bool {
	if old.block != int32(w.block.index) {
		return old.block < 0
	}
	if old.epoch != w.block.epoch {
		return true
	}
	if int(old.thread)>>5 != w.id {
		return false
	}
	ol := int(old.thread) & 31
	return ol == lane || w.clock[lane][ol] >= old.clock
}

// touch records an access to a byte and returns the one it races with, if any.
func touch(c *cell, w *warp, lane int, write, strong bool, line int) (*access, string) {
	if !ordered(&c.w, w, lane) && !(strong && c.w.strong) {
		old := c.w
		if write {
			return &old, "write after write"
		}
		return &old, "read after write"
	}
	me := access{int32(w.block.index), w.block.epoch, w.clock[lane][lane], uint16(w.id<<5 | lane), uint16(min(line, 65535)), strong}
	if !write {
		c.read(me, w, lane)
		return nil, ""
	}
	for _, r := range []*access{&c.r, &c.r2} {
		if !ordered(r, w, lane) && !(strong && r.strong) {
			old := *r
			return &old, "write after read"
		}
	}
	c.w, c.r, c.r2 = me, nobody, nobody
	return nil, ""
}

// read keeps a read; of three concurrent ones two, one of them from elsewhere.
func (c *cell) read(me access, w *warp, lane int) {
	if ordered(&c.r, w, lane) {
		c.r = me
		if ordered(&c.r2, w, lane) {
			c.r2 = nobody
		}
		return
	}
	if ordered(&c.r2, w, lane) || c.r.block != me.block || c.r.thread>>5 != me.thread>>5 {
		c.r2 = c.r
	}
	c.r = me
}
