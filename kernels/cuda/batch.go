package cuda

import (
	"context"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/cuda/device"
	"github.com/skua-data/skua/kernels/cuda/ptx"
)

// batch is rows of one or more chunks that go through a slot together.
type batch struct {
	slot   device.Slot
	rows   *kernels.Selection
	slots  int          // rows wanted
	rowOf  device.Piece // the row of each slot; none where they are consecutive
	nulls  device.Piece // a counter for each chunk
	chunks []*chunk
	ups    int64

	columns []batchColumn
}

// batchColumn is a column of a batch with the place of its first leaf's chunk.
type batchColumn struct {
	*column
	first int
	root  *placed // nil: the column is a leaf outside of anything
}

// chunk is the place of the chunk of one of the column's leaves, by its index in the file.
func (c *batchColumn) chunk(index int) int {
	return c.first + slices.IndexFunc(c.leaves, func(f *leaf) bool { return f.index == index })
}

// newColumnsBatch reads the pages of some columns that have wanted rows into a slot. There is at least one wanted row.
func newColumnsBatch(ctx context.Context, s *shared, slot device.Slot, rg *kernels.RowGroup, columns []*column, rows *kernels.Selection) (*batch, error) {
	var leaves []*leaf
	var all []batchColumn
	for _, c := range columns {
		of := batchColumn{column: c, first: len(leaves)}
		if c.node.Kind != kernels.Leaf {
			of.root = &placed{}
		}
		all, leaves = append(all, of), append(leaves, c.leaves...)
	}
	b, err := newBatch(ctx, s, slot, rg, leaves, rows)
	if err == nil {
		b.columns = all
	}
	return b, err
}

// newBatch reads the pages of some leaves that have wanted rows into a slot. There is at least one wanted row.
func newBatch(ctx context.Context, s *shared, slot device.Slot, rg *kernels.RowGroup, leaves []*leaf, rows *kernels.Selection) (*batch, error) {
	b := &batch{slot: slot, rows: rows, slots: int(rows.Count())}
	for _, f := range leaves {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		walk, err := s.config.Pages.OpenPages(rg, f.index)
		if err != nil {
			return nil, err
		}
		c, err := (&loader{slot: slot, runs: rows.Runs(), onChip: true}).load(walk, f)
		walk.Close()
		if err != nil {
			return nil, err
		}
		if f.nest != nil {
			c.levels = &levels{depths: make([]depth, len(f.nest.ancestors))}
		}
		b.chunks = append(b.chunks, c)
		b.ups += c.bytes
		s.stats.SkipPages.Add(c.skipped)
	}
	for i := range b.chunks {
		if err := b.describe(b.chunks[i]); err != nil {
			return nil, err
		}
	}
	return b, b.selectRows()
}

// in puts bytes into a piece that goes up.
func (b *batch) in(data []byte) (uint64, error) {
	p, ok := b.slot.In(len(data))
	if !ok {
		return 0, errFull
	}
	copy(p.Bytes, data)
	return p.Addr, nil
}

func (b *batch) scratch(n int) (uint64, error) {
	p, ok := b.slot.Scratch(n)
	if !ok {
		return 0, errFull
	}
	return p.Addr, nil
}

func (b *batch) out(n int) (device.Piece, error) {
	p, ok := b.slot.Out(n)
	if !ok {
		return p, errFull
	}
	return p, nil
}

// describe writes what the kernels have to know of a chunk.
func (b *batch) describe(c *chunk) (err error) {
	f, most := c.leaf, uint64(c.leaf.column.MaxDefinitionLevel())
	d := ptx.Column{Count: uint64(len(c.pages)), MaxDef: most, Threshold: most, Stored: uint64(f.stored), Boolean: one(f.form == cpu.BitForm), Dictionary: c.dictionary.Addr,
		Entries: uint64(c.entries), Spans: c.spans.Addr, Repeated: one(f.lists())}
	var pages []byte
	for _, p := range c.pages {
		pages = ptx.Encode(pages, p)
	}
	if d.Pages, err = b.in(pages); err != nil {
		return err
	}
	if d.States, err = b.scratch(len(c.pages) * ptx.StateBytes); err != nil {
		return err
	}
	if most > 0 {
		if d.Valid, err = b.scratch(int(c.words) * 4); err != nil {
			return err
		}
		if d.Rank, err = b.scratch(int(c.words) * 4); err != nil {
			return err
		}
	}
	if c.status, err = b.out(4 * len(c.pages)); err != nil {
		return err
	}
	c.column = d
	return b.describeColumn(c)
}

// describeColumn writes the chunk's column with the status that it has now.
func (b *batch) describeColumn(c *chunk) (err error) {
	c.column.Status = c.status.Addr
	c.columns, err = b.in(ptx.Encode(nil, c.column))
	return err
}

func one(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// selectRows makes room for the list of wanted rows, where they are not consecutive, and for the counters of nulls.
func (b *batch) selectRows() (err error) {
	if b.nulls, err = b.out(4 * len(b.chunks)); err != nil || len(b.rows.Runs()) == 1 {
		return err
	}
	p, ok := b.slot.Scratch(4 * b.slots)
	if !ok {
		return errFull
	}
	b.rowOf = p
	return nil
}

// begin queues the upload, and the list of rows.
func (b *batch) begin() error {
	var bitmap, before uint64
	last := b.rows.Runs()[len(b.rows.Runs())-1].To
	if b.rowOf.Addr != 0 {
		set, counts := bitmapOf(b.rows.Runs(), last)
		var err error
		if bitmap, err = b.in(set); err != nil {
			return err
		}
		if before, err = b.in(counts); err != nil {
			return err
		}
	}
	for _, c := range b.chunks {
		if c.levels == nil {
			continue
		}
		if err := b.describeLevels(c, bitmap, before); err != nil {
			return err
		}
	}
	if err := b.slot.Upload(); err != nil {
		return deviceError(err)
	}
	if err := b.slot.Zero(b.nulls); err != nil {
		return deviceError(err)
	}
	if b.rowOf.Addr == 0 {
		return nil
	}
	return b.launch(ptx.SelectRows, perThread(int(last)), bitmap, before, uint64(last), b.rowOf.Addr, uint64(b.slots))
}

// bitmapOf sets the bits of rows in front of last, and counts those in front of each word.
func bitmapOf(runs []kernels.Run, last int64) (set, before []byte) {
	n := int((last + 31) / 32)
	w := make([]uint32, n)
	for _, r := range runs {
		for row := r.From; row < r.To; {
			k := min(r.To-row, 32-row%32)
			w[row/32] |= uint32((uint64(1)<<k - 1) << (row % 32))
			row += k
		}
	}
	set, before = make([]byte, 4*n), make([]byte, 4*n)
	sum := 0
	for i, v := range w {
		binary.LittleEndian.PutUint32(set[4*i:], v)
		binary.LittleEndian.PutUint32(before[4*i:], uint32(sum))
		sum += bits.OnesCount32(v)
	}
	return set, before
}

func (b *batch) launch(k ptx.Kernel, blocks int, args ...uint64) error {
	return deviceError(b.slot.Launch(k.Name, blocks, k.Threads, args...))
}

// perThread gives the blocks of 128 threads for n of them, tiles those for n slots.
func perThread(n int) int { return (n + 127) / 128 }
func tiles(n int) int     { return (n + ptx.TileSlots - 1) / ptx.TileSlots }

// decode queues what makes dense values of a chunk's pages.
func (b *batch) decode(c *chunk) error {
	if err := b.slot.Zero(c.status); err != nil {
		return deviceError(err)
	}
	n, column := len(c.pages), c.columns
	steps := []struct {
		kernel ptx.Kernel
		blocks int
		wanted bool
	}{
		{ptx.Unpack, n, c.packed},
		{ptx.OpenPages, perThread(n), true},
		{ptx.Levels, n, c.leaf.column.MaxDefinitionLevel() > 0 && c.levels == nil},
		{ptx.ListLevels, n, c.levels != nil},
		{ptx.Indices, n, c.uses[ptx.Dictionary] || c.uses[ptx.RLE]},
		{ptx.Deltas, n, c.uses[ptx.Delta]},
		{ptx.TextWalk, n, c.leaf.form == cpu.TextForm && c.uses[ptx.Plain]},
		{ptx.TextDeltas, n, c.uses[ptx.DeltaLength] || c.uses[ptx.DeltaText]},
	}
	for _, s := range steps {
		if !s.wanted {
			continue
		}
		of := column
		if s.kernel == ptx.ListLevels {
			of = c.levels.described
		}
		if err := b.launch(s.kernel, s.blocks, of); err != nil {
			return err
		}
	}
	return nil
}

// gather describes the wanted slots of a chunk.
func (b *batch) gather(i int) ptx.Gather {
	c := b.chunks[i]
	g := ptx.Gather{Column: c.columns, RowOf: b.rowOf.Addr, Slots: uint64(b.slots), Conversion: c.leaf.conversion, Nulls: b.nulls.Addr + uint64(4*i)}
	if b.rowOf.Addr == 0 {
		g.First = uint64(b.rows.Runs()[0].From)
	}
	return g
}

// finish waits for what was queued.
func (b *batch) finish(ctx context.Context) error {
	if err := b.slot.Download(); err != nil {
		return deviceError(err)
	}
	return deviceError(b.slot.Wait(ctx))
}

// check says which chunk's page a kernel refused.
func (b *batch) check() error {
	for _, c := range b.chunks {
		for i := range c.pages {
			if status := binary.LittleEndian.Uint32(c.status.Bytes[4*i:]); status != 0 {
				return leave{ptx.Reason(status)}
			}
		}
	}
	return nil
}

// mostText is how many bytes the texts of an array may have.
const mostText = math.MaxInt32
