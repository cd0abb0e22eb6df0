// Package nested builds the arrays of structs, lists and maps from what a decoder read of their leaves: the slots of each, and its levels. It decodes
// nothing itself, so that decoders which are oracles of each other for pages, levels and encodings can share it.
package nested

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
)

// Level is a definition or repetition level as a decoder keeps it.
type Level interface{ uint8 | int16 }

// Leaves gives what was read of a file's leaves, which are known by their index in its schema.
type Leaves[L Level] interface {
	// Array gives a leaf's slots: one wherever the nearest list or map around it has an entry. The caller releases it.
	Array(leaf int) (arrow.Array, error)
	// Levels gives a leaf's levels, lent until the next rows are read. rep is empty outside of lists.
	Levels(leaf int) (def, rep []L)
}

// Assembler builds arrays.
type Assembler[L Level] struct {
	Leaves  Leaves[L]
	Memory  memory.Allocator // may give memory that holds anything
	Cleared memory.Allocator // gives zeroed memory
}

// Assemble gives a node's slots of the rows that the leaves have. Lengths are compared at every step: leaves of a damaged file may disagree.
// The caller releases the array.
func (a *Assembler[L]) Assemble(n *kernels.Node, slots int) (arrow.Array, error) {
	var out arrow.Array
	var err error
	switch n.Kind {
	case kernels.Missing:
		return kernels.Nulls(a.Cleared, n.Field.Type, slots), nil
	case kernels.Leaf:
		out, err = a.Leaves.Array(n.Leaf)
	case kernels.Struct:
		out, err = a.structs(n, slots)
	default:
		out, err = a.lists(n, slots)
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

// data is Assemble for what goes inside of something.
func (a *Assembler[L]) data(n *kernels.Node, slots int) (arrow.ArrayData, error) {
	out, err := a.Assemble(n, slots)
	if err != nil {
		return nil, err
	}
	defer out.Release()
	out.Data().Retain()
	return out.Data(), nil
}

func (a *Assembler[L]) structs(n *kernels.Node, slots int) (arrow.Array, error) {
	valid, nulls, err := a.validity(n, slots)
	if err != nil {
		return nil, err
	}
	if valid != nil {
		defer valid.Release()
	}
	children := make([]arrow.ArrayData, 0, len(n.Children))
	defer func() {
		for _, d := range children {
			d.Release()
		}
	}()
	for i := range n.Children {
		child, err := a.data(&n.Children[i], slots)
		if err != nil {
			return nil, err
		}
		children = append(children, child)
	}
	return Array(n.Field.Type, slots, []*memory.Buffer{valid}, children, nulls), nil
}

// Array makes an array of buffers and children, which stay the caller's.
func Array(t arrow.DataType, slots int, buffers []*memory.Buffer, children []arrow.ArrayData, nulls int) arrow.Array {
	d := array.NewData(t, slots, buffers, children, nulls, 0)
	defer d.Release()
	return array.MakeFromData(d)
}

// lists builds a list or a map.
func (a *Assembler[L]) lists(n *kernels.Node, slots int) (arrow.Array, error) {
	valid := a.zeroed(bitutil.BytesForBits(int64(slots)))
	defer valid.Release()
	offsets := a.zeroed(int64(slots+1) * 4)
	defer offsets.Release()
	ends := arrow.Int32Traits.CastFromBytes(offsets.Bytes())
	def, rep := a.Leaves.Levels(n.Leaf)
	nulls, err := fillOffsets(n, def, rep, valid.Bytes(), ends)
	if err != nil {
		return nil, err
	}
	child, err := a.entries(n, int(ends[slots]))
	if err != nil {
		return nil, err
	}
	defer child.Release()
	buffers := []*memory.Buffer{valid, offsets}
	if nulls == 0 {
		buffers[0] = nil
	}
	return Array(n.Field.Type, slots, buffers, []arrow.ArrayData{child}, nulls), nil
}

// entries builds what is inside a list, or the pairs of a map.
func (a *Assembler[L]) entries(n *kernels.Node, total int) (arrow.ArrayData, error) {
	if n.Kind == kernels.List {
		return a.data(&n.Children[0], total)
	}
	key, err := a.data(&n.Children[0], total)
	if err != nil {
		return nil, err
	}
	defer key.Release()
	if key.NullN() > 0 {
		return nil, fault.New(fault.Corrupt, "a map has %d null keys", key.NullN())
	}
	value, err := a.data(&n.Children[1], total)
	if err != nil {
		return nil, err
	}
	defer value.Release()
	pair := n.Field.Type.(*arrow.MapType).Elem()
	return array.NewData(pair, total, []*memory.Buffer{nil}, []arrow.ArrayData{key, value}, 0, 0), nil
}

func (a *Assembler[L]) zeroed(size int64) *memory.Buffer {
	b := memory.NewResizableBuffer(a.Memory)
	b.Resize(int(size))
	clear(b.Buf())
	return b
}
