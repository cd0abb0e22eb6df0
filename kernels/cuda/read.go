package cuda

import (
	"context"
	"encoding/binary"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/cuda/device"
	"github.com/skua-data/skua/kernels/cuda/ptx"
)

// window is the decoded rows of some columns, in the memory of a slot.
type window struct {
	sel     *kernels.Selection
	from, n int64 // survivors of it
	lease   *lease
}

func (w *window) covers(sel *kernels.Selection, from, n int64) bool {
	return w != nil && w.sel == sel && from >= w.from && from+n <= w.from+w.n
}

// decoded is a chunk's slots as they came back.
type decoded struct {
	leaf    *leaf
	valid   []byte // nil: no nulls
	values  []byte
	offsets []byte // of texts, 4 bytes each, one more than slots
}

// decodedNode is a column's slots, or those of what is inside of it.
type decodedNode struct {
	node           *kernels.Node
	leaf           *decoded // of a leaf
	valid, offsets []byte   // of lists, maps and structs; valid nil: no nulls
	children       []*decodedNode
}

// output is where a chunk's slots go.
type output struct {
	gather                        ptx.Gather
	slots                         int
	nulls                         device.Piece // their number
	values, valid, offsets, total device.Piece
	sums, sources, described      uint64
}

// decodeColumns decodes the wanted rows of a batch's columns.
func decodeColumns(ctx context.Context, b *batch) ([]*decodedNode, error) {
	outs, err := b.outputs()
	if err != nil {
		return nil, err
	}
	if err := b.begin(); err != nil {
		return nil, err
	}
	texts, err := b.queue(outs)
	if err != nil {
		return nil, err
	}
	if err := b.finish(ctx); err != nil {
		return nil, err
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	if err := b.gatherNested(ctx, outs); err != nil {
		return nil, err
	}
	if texts {
		if err := b.copyTexts(ctx, outs); err != nil {
			return nil, err
		}
	}
	return b.results(outs), nil
}

// outputs makes room for all chunks' slots.
func (b *batch) outputs() ([]*output, error) {
	outs := make([]*output, len(b.chunks))
	for i := range b.chunks {
		o, err := b.output(i)
		if err != nil {
			return nil, err
		}
		outs[i] = o
	}
	return outs, nil
}

// queue queues what decodes the chunks; it says whether texts are still to be copied.
func (b *batch) queue(outs []*output) (texts bool, err error) {
	for i, c := range b.chunks {
		if err := b.decode(c); err != nil {
			return false, err
		}
		if c.levels != nil {
			err = b.queueLevels(c)
		} else {
			err = b.gatherColumn(c, outs[i])
		}
		if err != nil {
			return false, err
		}
		texts = texts || c.leaf.form == cpu.TextForm
	}
	return texts, nil
}

// output makes room for a chunk's slots, or for what becomes known of its levels.
func (b *batch) output(i int) (*output, error) {
	c := b.chunks[i]
	o := &output{gather: b.gather(i), slots: b.slots, nulls: device.Piece{Addr: b.nulls.Addr + uint64(4*i), Bytes: b.nulls.Bytes[4*i : 4*i+4]}}
	if c.levels != nil {
		o.slots = 0
		return o, b.makeLevels(c)
	}
	return o, b.makeRoom(c, o)
}

// makeRoom makes room for the values of as many slots as an output has.
func (b *batch) makeRoom(c *chunk, o *output) (err error) {
	if c.leaf.column.MaxDefinitionLevel() > 0 {
		if o.valid, err = b.out(words(o.slots)); err != nil {
			return err
		}
		o.gather.Valid = o.valid.Addr
	}
	if c.leaf.form == cpu.TextForm {
		err = b.textOutput(o)
	} else if o.values, err = b.out(c.leaf.backBytes(o.slots)); err == nil {
		o.gather.Out = o.values.Addr
	}
	if err != nil {
		return err
	}
	o.described, err = b.in(ptx.Encode(nil, o.gather))
	return err
}

func (b *batch) textOutput(o *output) (err error) {
	n := tiles(o.slots)
	if o.offsets, err = b.out(4 * (o.slots + 1)); err != nil {
		return err
	}
	if o.total, err = b.out(8); err != nil {
		return err
	}
	if o.sums, err = b.scratch(8 * n); err != nil {
		return err
	}
	if o.sources, err = b.scratch(8 * o.slots); err != nil {
		return err
	}
	g := &o.gather
	g.Offsets, g.Total, g.Sums, g.Sources, g.Tiles = o.offsets.Addr, o.total.Addr, o.sums, o.sources, uint64(n)
	return nil
}

// gatherColumn queues what brings a chunk's values to their slots; of texts the offsets.
func (b *batch) gatherColumn(c *chunk, o *output) error {
	if c.leaf.form != cpu.TextForm {
		return b.launch(c.leaf.gatherKernel(), tiles(o.slots), o.described)
	}
	if err := b.launch(ptx.TextLengths, tiles(o.slots), o.described); err != nil {
		return err
	}
	if err := b.launch(ptx.TextScan, 1, o.described); err != nil {
		return err
	}
	return b.launch(ptx.TextOffsets, perThread(o.slots+1), o.described)
}

// copyTexts makes room for the bytes of texts, now that their size is known, and copies them.
func (b *batch) copyTexts(ctx context.Context, outs []*output) error {
	type copying struct {
		kernel    ptx.Kernel
		slots     int
		described uint64
	}
	var again []copying
	for i, o := range outs {
		if o.total.Addr == 0 {
			continue
		}
		size := binary.LittleEndian.Uint64(o.total.Bytes)
		if size > mostText {
			return leave{"more than 2 GiB of text"}
		}
		if size == 0 {
			continue
		}
		var err error
		if o.values, err = b.out(int(size)); err != nil {
			return err
		}
		g := o.gather
		g.Out, g.Capacity = o.values.Addr, size
		described, err := b.in(ptx.Encode(nil, g))
		if err != nil {
			return err
		}
		again = append(again, copying{ptx.TextCopy, o.slots, described})
		if b.chunks[i].uses[ptx.DeltaText] {
			again = append(again, copying{ptx.TextJoin, o.slots, described})
		}
	}
	if len(again) == 0 {
		return nil
	}
	if err := b.slot.Upload(); err != nil {
		return deviceError(err)
	}
	for _, c := range again {
		if err := b.launch(c.kernel, perThread(8*c.slots), c.described); err != nil {
			return err
		}
	}
	return b.finish(ctx)
}

// results gives the columns as they came back.
func (b *batch) results(outs []*output) []*decodedNode {
	leaves := make([]*decoded, len(outs))
	for i, o := range outs {
		leaves[i] = &decoded{leaf: b.chunks[i].leaf, values: o.values.Bytes, offsets: o.offsets.Bytes}
		switch {
		case o.slots == 0:
			leaves[i] = &decoded{leaf: b.chunks[i].leaf, offsets: make([]byte, 4)}
		case binary.LittleEndian.Uint32(o.nulls.Bytes) > 0:
			leaves[i].valid = o.valid.Bytes
		}
	}
	out := make([]*decodedNode, len(b.columns))
	for i, c := range b.columns {
		if c.root == nil {
			out[i] = &decodedNode{node: c.node, leaf: leaves[c.first]}
			continue
		}
		out[i] = c.root.result(leaves)
	}
	return out
}

// result gives a node as it came back.
func (p *placed) result(leaves []*decoded) *decodedNode {
	out := &decodedNode{node: p.node, offsets: p.offsets.Bytes}
	if p.node.Kind == kernels.Leaf {
		out.leaf = leaves[p.chunk]
	}
	if p.nulls.Bytes != nil && binary.LittleEndian.Uint32(p.nulls.Bytes) > 0 {
		out.valid = p.valid.Bytes
	}
	for _, child := range p.children {
		out.children = append(out.children, child.result(leaves))
	}
	return out
}

// back is how many bytes came back.
func (d *decodedNode) back() int64 {
	n := int64(len(d.valid) + len(d.offsets))
	if d.leaf != nil {
		n += int64(len(d.leaf.valid) + len(d.leaf.values) + len(d.leaf.offsets))
	}
	for _, child := range d.children {
		n += child.back()
	}
	return n
}
