package cpu

import (
	"bytes"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
)

func (c *column) structs(n *kernels.Node, slots int) (arrow.Array, error) {
	valid, nulls, err := c.validity(n, slots)
	if err != nil {
		return nil, err
	}
	defer release(valid)
	children := make([]arrow.ArrayData, 0, len(n.Children))
	defer func() {
		for _, d := range children {
			d.Release()
		}
	}()
	for i := range n.Children {
		child, err := c.data(&n.Children[i], slots)
		if err != nil {
			return nil, err
		}
		children = append(children, child)
	}
	d := array.NewData(n.Field.Type, slots, []*memory.Buffer{valid}, children, nulls, 0)
	defer d.Release()
	return array.MakeFromData(d), nil
}

// data is assemble for what goes inside of something.
func (c *column) data(n *kernels.Node, slots int) (arrow.ArrayData, error) {
	a, err := c.assemble(n, slots)
	if err != nil {
		return nil, err
	}
	defer a.Release()
	a.Data().Retain()
	return a.Data(), nil
}

func release(b *memory.Buffer) {
	if b != nil {
		b.Release()
	}
}

// validity reads a struct's nulls from the levels of one of its leaves; nil where it has none.
func (c *column) validity(n *kernels.Node, slots int) (*memory.Buffer, int, error) {
	if !n.Nullable() {
		return nil, 0, nil
	}
	v := c.leaves[n.Leaf].levels
	if len(v.rep) == 0 && n.Ancestor == 0 && len(v.def) == slots && bytes.Count(v.def, []byte{v.maxDef}) == slots {
		return nil, 0, nil
	}
	valid := zeroed(c.reader.mem, bitutil.BytesForBits(int64(slots)))
	bits, at, nulls := valid.Bytes(), 0, 0
	for i, d := range v.def {
		if int16(d) < n.Ancestor || len(v.rep) > 0 && int16(v.rep[i]) > n.Rep {
			continue
		}
		if at == slots {
			valid.Release()
			return nil, 0, fault.New(fault.Corrupt, "levels with more than %d values", slots)
		}
		if int16(d) >= n.Def {
			bits[at>>3] |= 1 << (at & 7)
		} else {
			nulls++
		}
		at++
	}
	if at != slots {
		valid.Release()
		return nil, 0, fault.New(fault.Corrupt, "levels with %d values of %d", at, slots)
	}
	if nulls == 0 {
		valid.Release()
		return nil, 0, nil
	}
	return valid, nulls, nil
}

func zeroed(mem memory.Allocator, size int64) *memory.Buffer {
	b := memory.NewResizableBuffer(mem)
	b.Resize(int(size))
	clear(b.Buf())
	return b
}

// lists builds a list or a map.
func (c *column) lists(n *kernels.Node, slots int) (arrow.Array, error) {
	valid := zeroed(c.reader.mem, bitutil.BytesForBits(int64(slots)))
	defer valid.Release()
	offsets := zeroed(c.reader.mem, int64(slots+1)*4)
	defer offsets.Release()
	ends := arrow.Int32Traits.CastFromBytes(offsets.Bytes())
	nulls, err := c.offsets(n, valid.Bytes(), ends)
	if err != nil {
		return nil, err
	}
	child, err := c.entries(n, int(ends[slots]))
	if err != nil {
		return nil, err
	}
	defer child.Release()
	buffers := []*memory.Buffer{valid, offsets}
	if nulls == 0 {
		buffers[0] = nil
	}
	d := array.NewData(n.Field.Type, slots, buffers, []arrow.ArrayData{child}, nulls, 0)
	defer d.Release()
	return array.MakeFromData(d), nil
}

// offsets fills the validity and the offsets of a list's slots and counts its nulls.
func (c *column) offsets(n *kernels.Node, valid []byte, offsets []int32) (nulls int, err error) {
	v := c.leaves[n.Leaf].levels
	if len(v.rep) != len(v.def) {
		return 0, fault.New(fault.Corrupt, "a list with %d definition and %d repetition levels", len(v.def), len(v.rep))
	}
	if len(v.def) > math.MaxInt32 {
		return 0, fault.New(fault.Exhausted, "a batch with %d entries in lists", len(v.def))
	}
	slots, slot, total := len(offsets)-1, -1, int32(0)
	ancestor, present, own := uint8(n.Ancestor), uint8(n.Def), uint8(n.Rep)
	rep := v.rep
	for i, d := range v.def {
		if d < ancestor || rep[i] > own+1 {
			continue
		}
		// Lists are as long as they like: no branch can be foretold, so there are none.
		begins, there, entry := one(rep[i] <= own), one(d >= present), one(d > present)
		slot += begins
		if uint(slot) >= uint(slots) {
			return 0, fault.New(fault.Corrupt, "levels with more than %d lists, or an entry in front of them", slots)
		}
		valid[slot>>3] |= byte(begins&there) << (slot & 7)
		nulls += begins &^ there
		total += int32(entry)
		offsets[slot+1] = total
	}
	if slot+1 != slots {
		return 0, fault.New(fault.Corrupt, "levels with %d lists of %d", slot+1, slots)
	}
	return nulls, nil
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// entries builds what is inside a list, or the pairs of a map.
func (c *column) entries(n *kernels.Node, total int) (arrow.ArrayData, error) {
	if n.Kind == kernels.List {
		return c.data(&n.Children[0], total)
	}
	key, err := c.data(&n.Children[0], total)
	if err != nil {
		return nil, err
	}
	defer key.Release()
	if key.NullN() > 0 {
		return nil, fault.New(fault.Corrupt, "a map has %d null keys", key.NullN())
	}
	value, err := c.data(&n.Children[1], total)
	if err != nil {
		return nil, err
	}
	defer value.Release()
	pair := n.Field.Type.(*arrow.MapType).Elem()
	return array.NewData(pair, total, []*memory.Buffer{nil}, []arrow.ArrayData{key, value}, 0, 0), nil
}
