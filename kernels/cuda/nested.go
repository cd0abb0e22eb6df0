package cuda

import (
	"context"
	"encoding/binary"
	"errors"
	"math"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/cuda/device"
	"github.com/skua-data/skua/kernels/cuda/ptx"
)

// levels are what a batch has of a chunk whose leaf is inside of something. How many slots there are at each depth is known only after its levels
// are decoded, so that slots and values are made in a second turn.
type levels struct {
	described uint64 // where the kernels find it
	depths    []depth
}

// depth is what becomes known of the slots at one depth.
type depth struct {
	total   device.Piece
	entryOf uint64
	slots   int // of the wanted rows, after the first turn
}

// loadAll reads all pages of a chunk that is inside of something: those of version 1 do not say which rows they have.
func (l *loader) loadAll(walk *cpu.Pages, c *chunk) error {
	for {
		h, more, err := walk.Next()
		switch {
		case err != nil:
			return err
		case !more && len(c.pages) == 0:
			return leave{"the chunk has no pages"}
		case !more:
			return nil
		case h.Dictionary:
			err = l.loadDictionary(walk, c, &h)
		case h.Values == 0:
			return leave{"a page of a nested column without an entry"}
		default:
			err = l.loadPage(walk, c, &h, int64(c.words)*32)
		}
		if errors.Is(err, errFull) {
			return leave{"a chunk of a nested column that is larger than a slot"}
		}
		if err != nil {
			return err
		}
	}
}

// makeLevels makes room for what becomes known of a chunk's depths.
func (b *batch) makeLevels(c *chunk) (err error) {
	for i := range c.levels.depths {
		if c.levels.depths[i].total, err = b.out(8); err != nil {
			return err
		}
	}
	return nil
}

// describeLevels writes what the kernels have to know of a chunk's levels; bitmap and selected tell the wanted rows where they are not consecutive.
func (b *batch) describeLevels(c *chunk, bitmap, selected uint64) (err error) {
	runs, words := b.rows.Runs(), 4*int(c.words)
	n := ptx.Nest{Column: c.columns, MaxRep: uint64(len(c.levels.depths) - 1), Bitmap: bitmap, Selected: selected,
		First: uint64(runs[0].From), Last: uint64(runs[len(runs)-1].To)}
	room := func(to *uint64, size int) {
		if err == nil {
			*to, err = b.scratch(size)
		}
	}
	room(&n.RowCounts, ptx.PageCount*len(c.pages))
	room(&n.Starts, words)
	room(&n.Rows, words)
	room(&n.Broken, 8)
	if n.MaxRep > 0 {
		room(&n.Reps, 8*words)
	}
	if c.column.MaxDef > 0 {
		room(&n.Defs, 8*words)
	}
	var depths []byte
	for i := range c.levels.depths {
		d := ptx.Depth{Ancestor: uint64(c.leaf.nest.ancestors[i]), Total: c.levels.depths[i].total.Addr}
		room(&d.Wanted, words)
		room(&d.Before, words)
		room(&d.Counts, ptx.PageCount*len(c.pages))
		room(&d.EntryOf, 4*c.entriesAt(i, b.slots))
		c.levels.depths[i].entryOf = d.EntryOf
		depths = ptx.Encode(depths, d)
	}
	if err != nil {
		return err
	}
	if n.Depths, err = b.in(depths); err != nil {
		return err
	}
	c.levels.described, err = b.in(ptx.Encode(nil, n))
	return err
}

// entriesAt is how many slots a depth may have: as many as rows are wanted, or as there are entries.
func (c *chunk) entriesAt(depth, rows int) int {
	if depth == 0 {
		return rows
	}
	n := 0
	for _, p := range c.pages {
		n += int(p.Rows)
	}
	return n
}

// queueLevels queues what finds the wanted slots of every depth.
func (b *batch) queueLevels(c *chunk) error {
	n, l := len(c.pages), c.levels.described
	if err := b.launch(ptx.ListBases, 1, l, 0); err != nil {
		return err
	}
	if err := b.launch(ptx.ListWanted, n, l); err != nil {
		return err
	}
	for i := range c.levels.depths {
		if err := b.launch(ptx.ListBases, 1, l, uint64(1+i)); err != nil {
			return err
		}
	}
	return b.launch(ptx.ListEntries, n, l)
}

// readTotals takes the numbers of slots that came back.
func (c *chunk) readTotals(rows int) error {
	for i := range c.levels.depths {
		d := &c.levels.depths[i]
		total := binary.LittleEndian.Uint64(d.total.Bytes)
		if total > math.MaxInt32 {
			return leave{"more than 2 billion entries of lists"}
		}
		if d.slots = int(total); i == 0 && d.slots != rows {
			return leave{"a row that is not there"}
		}
	}
	return nil
}

// placed is a node of a wanted column with where its slots go.
type placed struct {
	node           *kernels.Node
	chunk          int // a leaf: where its values are
	slots          int
	nulls          device.Piece // of lists, maps and structs
	valid, offsets device.Piece
	described      uint64
	children       []*placed
}

// agreement is two leaves of a list whose offsets have to be the same.
type agreement struct {
	first, second, described uint64
	offsets                  int
	column                   uint64
}

// placing is the second turn of a batch.
type placing struct {
	batch      *batch
	outs       []*output
	nodes      []*placed // with slots to make
	agreements []agreement
	leaves     []int // chunks whose values are to be gathered
}

// gatherNested makes the slots and values of all nested columns, now that their numbers are known.
func (b *batch) gatherNested(ctx context.Context, outs []*output) error {
	p := &placing{batch: b, outs: outs}
	for i := range b.columns {
		if b.columns[i].root == nil {
			continue
		}
		for at := b.columns[i].first; at < b.columns[i].first+len(b.columns[i].leaves); at++ {
			if err := b.chunks[at].readTotals(b.slots); err != nil {
				return err
			}
			if err := b.chunks[at].renew(b); err != nil {
				return err
			}
		}
		root, err := p.place(&b.columns[i], b.columns[i].node, b.slots)
		if err != nil {
			return err
		}
		*b.columns[i].root = *root
	}
	if len(p.nodes)+len(p.leaves) == 0 {
		return nil
	}
	if err := p.queue(); err != nil {
		return err
	}
	if err := b.finish(ctx); err != nil {
		return err
	}
	if err := b.check(); err != nil {
		return err
	}
	return p.checkKeys()
}

// renew gives a chunk a status of its own for what the kernels refuse from now on.
func (c *chunk) renew(b *batch) (err error) {
	if c.status, err = b.out(4 * len(c.pages)); err != nil {
		return err
	}
	return b.describeColumn(c)
}

// place makes room for a node's slots and all below it.
func (p *placing) place(of *batchColumn, n *kernels.Node, slots int) (*placed, error) {
	out := &placed{node: n, slots: slots}
	if n.Kind == kernels.Missing {
		return out, nil
	}
	out.chunk = of.chunk(n.Leaf)
	c := p.batch.chunks[out.chunk]
	if c.levels.depths[n.Rep].slots != slots {
		return nil, leave{"leaves of a list with other numbers of entries"}
	}
	if n.Kind == kernels.Leaf {
		if slots > 0 {
			p.leaves = append(p.leaves, out.chunk)
			return out, p.batch.valueOutput(c, p.outs[out.chunk])
		}
		return out, nil
	}
	if err := p.makeSlots(out, c); err != nil {
		return nil, err
	}
	inner := slots
	if n.Kind != kernels.Struct {
		inner = c.levels.depths[n.Rep+1].slots
		if err := p.agree(of, out); err != nil {
			return nil, err
		}
	}
	for i := range n.Children {
		child, err := p.place(of, &n.Children[i], inner)
		if err != nil {
			return nil, err
		}
		out.children = append(out.children, child)
	}
	return out, nil
}

// makeSlots makes room for a list's, a map's or a struct's own slots.
func (p *placing) makeSlots(out *placed, c *chunk) (err error) {
	b, n := p.batch, out.node
	if n.Kind == kernels.Struct && !n.Nullable() {
		return nil
	}
	if out.nulls, err = b.out(4); err != nil {
		return err
	}
	d := ptx.Slots{Nest: c.levels.described, Depth: uint64(n.Rep), Slots: uint64(out.slots), Threshold: uint64(n.Def), Nulls: out.nulls.Addr}
	if n.Kind != kernels.Struct {
		if out.offsets, err = b.out(4 * (out.slots + 1)); err != nil {
			return err
		}
		d.Offsets = out.offsets.Addr
	}
	if n.Nullable() {
		if out.valid, err = b.out(words(out.slots)); err != nil {
			return err
		}
		d.Valid = out.valid.Addr
	}
	if out.described, err = b.in(ptx.Encode(nil, d)); err == nil {
		p.nodes = append(p.nodes, out)
	}
	return err
}

// agree notes that all leaves below a list or a map are to have its offsets.
func (p *placing) agree(of *batchColumn, list *placed) error {
	b, n := p.batch, list.node
	for _, index := range leavesBelow(n) {
		if index == n.Leaf {
			continue
		}
		c := b.chunks[of.chunk(index)]
		if c.levels.depths[n.Rep].slots != list.slots {
			return leave{"leaves of a list with other numbers of entries"}
		}
		offsets, err := b.scratch(4 * (list.slots + 1))
		if err != nil {
			return err
		}
		described, err := b.in(ptx.Encode(nil, ptx.Slots{Nest: c.levels.described, Depth: uint64(n.Rep), Slots: uint64(list.slots), Offsets: offsets, Nulls: list.nulls.Addr}))
		if err != nil {
			return err
		}
		p.agreements = append(p.agreements, agreement{list.offsets.Addr, offsets, described, list.slots + 1, c.columns})
	}
	return nil
}

// queue queues the kernels of the second turn.
func (p *placing) queue() error {
	b := p.batch
	if err := b.slot.Upload(); err != nil {
		return deviceError(err)
	}
	zero := func(pieces ...device.Piece) error {
		for _, piece := range pieces {
			if err := b.slot.Zero(piece); err != nil {
				return deviceError(err)
			}
		}
		return nil
	}
	for _, c := range b.chunks {
		if c.levels == nil {
			continue
		}
		if err := zero(c.status); err != nil {
			return err
		}
	}
	for _, n := range p.nodes {
		if err := zero(n.nulls); err != nil {
			return err
		}
		if err := b.launch(ptx.ListSlots, perThread(n.slots+1), n.described); err != nil {
			return err
		}
	}
	for _, a := range p.agreements {
		if err := b.launch(ptx.ListSlots, perThread(a.offsets), a.described); err != nil {
			return err
		}
		if err := b.launch(ptx.ListAgree, perThread(a.offsets), a.first, a.second, uint64(a.offsets), a.column); err != nil {
			return err
		}
	}
	for _, i := range p.leaves {
		if err := zero(p.outs[i].nulls); err != nil {
			return err
		}
		if err := b.gatherColumn(b.chunks[i], p.outs[i]); err != nil {
			return err
		}
	}
	return nil
}

// valueOutput makes room for a chunk's values.
func (b *batch) valueOutput(c *chunk, o *output) (err error) {
	if o.nulls, err = b.out(4); err != nil {
		return err
	}
	deepest := c.levels.depths[len(c.levels.depths)-1]
	o.slots = deepest.slots
	o.gather = ptx.Gather{Column: c.columns, RowOf: deepest.entryOf, Slots: uint64(o.slots), Conversion: c.leaf.conversion, Nulls: o.nulls.Addr}
	return b.makeRoom(c, o)
}

// checkKeys leaves maps to the CPU of which a key is null.
func (p *placing) checkKeys() error {
	for _, n := range p.nodes {
		if n.node.Kind != kernels.Map || n.children[0].slots == 0 {
			continue
		}
		if binary.LittleEndian.Uint32(p.outs[n.children[0].chunk].nulls.Bytes) > 0 {
			return leave{"a map with a null key"}
		}
	}
	return nil
}
