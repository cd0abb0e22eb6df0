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

// output is where a chunk's slots go.
type output struct {
	gather                        ptx.Gather
	values, valid, offsets, total device.Piece
	sums, sources, described      uint64
}

// decodeColumns decodes the wanted rows of some leaves.
func decodeColumns(ctx context.Context, b *batch) ([]*decoded, error) {
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
		if err := b.gatherColumn(c, outs[i]); err != nil {
			return false, err
		}
		texts = texts || c.leaf.form == cpu.TextForm
	}
	return texts, nil
}

// output makes room for a chunk's slots.
func (b *batch) output(i int) (*output, error) {
	c := b.chunks[i]
	o := &output{gather: b.gather(i)}
	var err error
	if c.leaf.column.MaxDefinitionLevel() > 0 {
		if o.valid, err = b.out(words(b.slots)); err != nil {
			return nil, err
		}
		o.gather.Valid = o.valid.Addr
	}
	if c.leaf.form == cpu.TextForm {
		err = b.textOutput(o)
	} else if o.values, err = b.out(c.leaf.backBytes(b.slots)); err == nil {
		o.gather.Out = o.values.Addr
	}
	if err != nil {
		return nil, err
	}
	o.described, err = b.in(ptx.Encode(nil, o.gather))
	return o, err
}

func (b *batch) textOutput(o *output) (err error) {
	n := tiles(b.slots)
	if o.offsets, err = b.out(4 * (b.slots + 1)); err != nil {
		return err
	}
	if o.total, err = b.out(8); err != nil {
		return err
	}
	if o.sums, err = b.scratch(8 * n); err != nil {
		return err
	}
	if o.sources, err = b.scratch(8 * b.slots); err != nil {
		return err
	}
	g := &o.gather
	g.Offsets, g.Total, g.Sums, g.Sources, g.Tiles = o.offsets.Addr, o.total.Addr, o.sums, o.sources, uint64(n)
	return nil
}

// gatherColumn queues what brings a chunk's values to their slots; of texts the offsets.
func (b *batch) gatherColumn(c *chunk, o *output) error {
	if c.leaf.form != cpu.TextForm {
		return b.launch(c.leaf.gatherKernel(), tiles(b.slots), o.described)
	}
	if err := b.launch(ptx.TextLengths, tiles(b.slots), o.described); err != nil {
		return err
	}
	if err := b.launch(ptx.TextScan, 1, o.described); err != nil {
		return err
	}
	return b.launch(ptx.TextOffsets, perThread(b.slots+1), o.described)
}

// copyTexts makes room for the bytes of texts, now that their size is known, and copies them.
func (b *batch) copyTexts(ctx context.Context, outs []*output) error {
	type copying struct {
		kernel    ptx.Kernel
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
		again = append(again, copying{ptx.TextCopy, described})
		if b.chunks[i].uses[ptx.DeltaText] {
			again = append(again, copying{ptx.TextJoin, described})
		}
	}
	if len(again) == 0 {
		return nil
	}
	if err := b.slot.Upload(); err != nil {
		return deviceError(err)
	}
	for _, c := range again {
		if err := b.launch(c.kernel, perThread(8*b.slots), c.described); err != nil {
			return err
		}
	}
	return b.finish(ctx)
}

func (b *batch) results(outs []*output) []*decoded {
	out := make([]*decoded, len(outs))
	for i, o := range outs {
		out[i] = &decoded{leaf: b.chunks[i].leaf, values: o.values.Bytes, offsets: o.offsets.Bytes}
		if b.nullsOf(i) > 0 {
			out[i].valid = o.valid.Bytes
		}
	}
	return out
}

// back is how many bytes came back.
func (d *decoded) back() int64 { return int64(len(d.valid) + len(d.values) + len(d.offsets)) }
