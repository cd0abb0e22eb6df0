package cuda

import (
	"context"
	"encoding/binary"
	"errors"
	"math"

	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/cuda/device"
	"github.com/skua-data/skua/kernels/cuda/ptx"
)

// lists is what a batch has of a chunk whose values are elements of lists. Which entries of its pages are elements of wanted rows is known only
// after its levels are decoded, so that elements are gathered in a second turn.
type lists struct {
	described             uint64 // where the kernels find it
	offsets, valid, total device.Piece
	elementOf             uint64
	elements              int
}

// loadLists reads all pages of a chunk of lists: those of version 1 do not say which rows they have.
func (l *loader) loadLists(walk *cpu.Pages, c *chunk) error {
	for {
		h, more, err := walk.Next()
		if err != nil || !more {
			return err
		}
		switch {
		case h.Dictionary:
			err = l.loadDictionary(walk, c, &h)
		case h.Values == 0:
			return leave{"a page of lists without an entry"}
		default:
			err = l.loadPage(walk, c, &h, int64(c.words)*32)
		}
		if errors.Is(err, errFull) {
			return leave{"a chunk of lists that is larger than a slot"}
		}
		if err != nil {
			return err
		}
	}
}

// listOutput makes room for what comes back of a chunk's lists, their elements aside.
func (b *batch) listOutput(c *chunk) (err error) {
	l := c.lists
	if l.offsets, err = b.out(4 * (b.slots + 1)); err != nil {
		return err
	}
	if c.leaf.list.Nullable() {
		if l.valid, err = b.out(words(b.slots)); err != nil {
			return err
		}
	}
	l.total, err = b.out(8)
	return err
}

// describeLists writes what the kernels have to know of a chunk's lists; bitmap and selected tell the wanted rows where they are not
// consecutive.
func (b *batch) describeLists(i int, bitmap, selected uint64) (err error) {
	c := b.chunks[i]
	runs := b.rows.Runs()
	d := ptx.List{Column: c.columns, Expected: uint64(c.leaf.rows), Threshold: uint64(c.leaf.list.Def), Bitmap: bitmap, Selected: selected, First: uint64(runs[0].From),
		Last: uint64(runs[len(runs)-1].To), Slots: uint64(b.slots), Offsets: c.lists.offsets.Addr, Valid: c.lists.valid.Addr, Nulls: b.nulls.Addr + uint64(4*i),
		Total: c.lists.total.Addr}
	entries := 0
	for _, p := range c.pages {
		entries += int(p.Rows)
	}
	for to, size := range map[*uint64]int{&d.Pages: ptx.PageLists * len(c.pages), &d.EntryOf: 4 * b.slots, &d.ElementOf: 4 * entries, &d.Broken: 8,
		&d.Starts: 4 * int(c.words), &d.Elements: 4 * int(c.words), &d.Lists: 4 * int(c.words), &d.Rows: 4 * int(c.words), &d.Wanted: 4 * int(c.words), &d.Before: 4 * int(c.words)} {
		if *to, err = b.scratch(size); err != nil {
			return err
		}
	}
	c.lists.elementOf = d.ElementOf
	c.lists.described, err = b.in(ptx.Encode(nil, d))
	return err
}

// queueLists queues what finds the wanted lists and their elements.
func (b *batch) queueLists(c *chunk) error {
	n, l := len(c.pages), c.lists.described
	if err := b.launch(ptx.ListBases, 1, l, 0); err != nil {
		return err
	}
	if err := b.launch(ptx.ListWanted, n, l); err != nil {
		return err
	}
	if err := b.launch(ptx.ListBases, 1, l, 1); err != nil {
		return err
	}
	if err := b.launch(ptx.ListSlots, perThread(b.slots+1), l); err != nil {
		return err
	}
	return b.launch(ptx.ListElements, n, l)
}

// gatherElements gathers the elements of all lists, now that their number is known.
func (b *batch) gatherElements(ctx context.Context, outs []*output) error {
	var todo []int
	for i, c := range b.chunks {
		if c.lists == nil {
			continue
		}
		n := binary.LittleEndian.Uint64(c.lists.total.Bytes)
		if n > math.MaxInt32 {
			return leave{"more than 2 billion elements"}
		}
		if c.lists.elements = int(n); n == 0 {
			continue
		}
		todo = append(todo, i)
		if err := b.elementOutput(c, outs[i]); err != nil {
			return err
		}
	}
	if len(todo) == 0 {
		return nil
	}
	if err := b.slot.Upload(); err != nil {
		return deviceError(err)
	}
	for _, i := range todo {
		if err := b.slot.Zero(outs[i].nulls); err != nil {
			return deviceError(err)
		}
		if err := b.slot.Zero(b.chunks[i].status); err != nil {
			return deviceError(err)
		}
		if err := b.gatherColumn(b.chunks[i], outs[i]); err != nil {
			return err
		}
	}
	if err := b.finish(ctx); err != nil {
		return err
	}
	return b.check()
}

// elementOutput makes room for a chunk's elements. What the kernels refuse from now on comes back in a status of its own.
func (b *batch) elementOutput(c *chunk, o *output) (err error) {
	if c.status, err = b.out(4 * len(c.pages)); err != nil {
		return err
	}
	if err := b.describeColumn(c); err != nil {
		return err
	}
	if o.nulls, err = b.out(4); err != nil {
		return err
	}
	o.slots = c.lists.elements
	o.gather = ptx.Gather{Column: c.columns, RowOf: c.lists.elementOf, Slots: uint64(o.slots), Conversion: c.leaf.conversion, Nulls: o.nulls.Addr}
	return b.makeRoom(c, o)
}
