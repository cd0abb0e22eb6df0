package parquet

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
)

// assemble gives a node's n slots of the rows loaded. Lengths are compared at every step: leaves of a damaged file may disagree.
func (c *column) assemble(n *kernels.Node, slots int) (arrow.Array, error) {
	var out arrow.Array
	var err error
	switch n.Kind {
	case kernels.Missing:
		return kernels.Nulls(c.reader.mem, n.Field.Type, slots), nil
	case kernels.Leaf:
		out, err = c.leaves[n.Leaf].array()
	case kernels.Struct:
		out, err = c.structs(n, slots)
	default:
		out, err = c.lists(n, slots)
	}
	if err != nil {
		return nil, err
	}
	if out.Len() != slots {
		length := out.Len()
		out.Release()
		return nil, fault.New(fault.Corrupt, "%d values where the levels have %d", length, slots)
	}
	return out, nil
}

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
		child, err := c.assemble(&n.Children[i], slots)
		if err != nil {
			return nil, err
		}
		child.Data().Retain()
		children = append(children, child.Data())
		child.Release()
	}
	d := array.NewData(n.Field.Type, slots, []*memory.Buffer{valid}, children, nulls, 0)
	defer d.Release()
	return array.MakeFromData(d), nil
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
	def, rep := c.leaves[n.Leaf].levels()
	valid := zeroed(c.reader.mem, bitutil.BytesForBits(int64(slots)))
	bits, at, nulls := valid.Bytes(), 0, 0
	for i, d := range def {
		if d < n.Ancestor || (rep != nil && rep[i] > n.Rep) {
			continue
		}
		if at == slots {
			valid.Release()
			return nil, 0, fault.New(fault.Corrupt, "levels with more than %d values", slots)
		}
		if d >= n.Def {
			bitutil.SetBit(bits, at)
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
	clear(b.Bytes())
	return b
}

// lists builds a list or a map.
func (c *column) lists(n *kernels.Node, slots int) (arrow.Array, error) {
	valid := zeroed(c.reader.mem, bitutil.BytesForBits(int64(slots)))
	defer valid.Release()
	offsets := zeroed(c.reader.mem, int64(slots+1)*4)
	defer offsets.Release()
	nulls, err := c.offsets(n, valid.Bytes(), arrow.Int32Traits.CastFromBytes(offsets.Bytes()))
	if err != nil {
		return nil, err
	}
	total := int(arrow.Int32Traits.CastFromBytes(offsets.Bytes())[slots])
	child, err := c.entries(n, total)
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
	def, rep := c.leaves[n.Leaf].levels()
	if len(rep) != len(def) {
		return 0, fault.New(fault.Corrupt, "a list with %d definition and %d repetition levels", len(def), len(rep))
	}
	slots, slot := len(offsets)-1, -1
	var total int64
	for i, d := range def {
		if d < n.Ancestor || rep[i] > n.Rep+1 {
			continue
		}
		if rep[i] <= n.Rep {
			if slot++; slot == slots {
				return 0, fault.New(fault.Corrupt, "levels with more than %d lists", slots)
			}
			if d >= n.Def {
				bitutil.SetBit(valid, slot)
			} else {
				nulls++
			}
		}
		if d > n.Def {
			total++
		}
		if slot < 0 || total > math.MaxInt32 {
			return 0, fault.New(fault.Corrupt, "a list of %d entries in %d slots", total, slot+1)
		}
		offsets[slot+1] = int32(total)
	}
	if slot+1 != slots {
		return 0, fault.New(fault.Corrupt, "levels with %d lists of %d", slot+1, slots)
	}
	return nulls, nil
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

func (c *column) data(n *kernels.Node, slots int) (arrow.ArrayData, error) {
	a, err := c.assemble(n, slots)
	if err != nil {
		return nil, err
	}
	defer a.Release()
	a.Data().Retain()
	return a.Data(), nil
}
