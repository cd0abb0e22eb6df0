package cuda

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/nested"
)

// array gives slots from..from+n of a decoded chunk. Values and texts stay where they came back, offsets and bits that do not begin there
// are written anew, as every decoder gives them.
func (d *decoded) array(from, n int, held *lease, mem memory.Allocator) arrow.Array {
	valid, nulls := validity(d.valid, from, n, mem)
	buffers := []*memory.Buffer{valid}
	switch {
	case d.leaf.form == cpu.BitForm:
		buffers = append(buffers, copyBits(d.values, from, n, mem))
	case d.leaf.form == cpu.TextForm:
		offsets, first, end := rebase(d.offsets, from, n, mem)
		buffers = append(buffers, offsets, held.buffer(d.values[first:end], mem))
	case d.leaf.widened:
		buffers = append(buffers, widen(d.values[8*from:8*(from+n)], mem))
	default:
		w := d.leaf.back
		buffers = append(buffers, held.buffer(d.values[w*from:w*(from+n)], mem))
	}
	data := array.NewData(d.leaf.field.Type, n, buffers, nil, nulls, 0)
	defer data.Release()
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
	return array.MakeFromData(data)
}

// array gives slots from..from+n of a column, or of what is inside of it.
func (d *decodedNode) array(from, n int, held *lease, mem memory.Allocator) arrow.Array {
	switch d.node.Kind {
	case kernels.Missing:
		return kernels.Nulls(mem, d.node.Field.Type, n)
	case kernels.Leaf:
		return d.leaf.array(from, n, held, mem)
	}
	valid, nulls := validity(d.valid, from, n, mem)
	buffers, at, slots := []*memory.Buffer{valid}, from, n
	if d.node.Kind != kernels.Struct {
		offsets, first, end := rebase(d.offsets, from, n, mem)
		buffers, at, slots = append(buffers, offsets), first, end-first
	}
	children := d.inside(at, slots, held, mem)
	out := nested.Array(d.node.Field.Type, n, buffers, children, nulls)
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
	for _, c := range children {
		c.Release()
	}
	return out
}

// inside gives what is inside of slots at..at+n.
func (d *decodedNode) inside(at, n int, held *lease, mem memory.Allocator) (out []arrow.ArrayData) {
	for _, child := range d.children {
		a := child.array(at, n, held, mem)
		a.Data().Retain()
		out = append(out, a.Data())
		a.Release()
	}
	if d.node.Kind != kernels.Map {
		return out
	}
	pairs := array.NewData(d.node.Field.Type.(*arrow.MapType).Elem(), n, []*memory.Buffer{nil}, out, 0, 0)
	for _, c := range out {
		c.Release()
	}
	return []arrow.ArrayData{pairs}
}

// buffer lends bytes of the slot.
func (l *lease) buffer(data []byte, mem memory.Allocator) *memory.Buffer {
	if len(data) == 0 {
		return memory.NewResizableBuffer(mem)
	}
	l.refs.Add(1)
	return memory.NewBufferWithAllocator(data[:len(data):len(data)], l)
}

func newBuffer(n int, mem memory.Allocator) *memory.Buffer {
	b := memory.NewResizableBuffer(mem)
	b.Resize(n)
	return b
}

// validity gives the bits of slots, nil where none of them is null.
func validity(valid []byte, from, n int, mem memory.Allocator) (*memory.Buffer, int) {
	if valid == nil {
		return nil, 0
	}
	nulls := n - bitutil.CountSetBits(valid, from, n)
	if nulls == 0 {
		return nil, 0
	}
	return copyBits(valid, from, n, mem), nulls
}

func copyBits(bits []byte, from, n int, mem memory.Allocator) *memory.Buffer {
	b := newBuffer(int(bitutil.BytesForBits(int64(n))), mem)
	clear(b.Bytes())
	bitutil.CopyBitmap(bits, from, n, b.Bytes(), 0)
	return b
}

// rebase gives offsets that begin at 0, and where their bytes lie.
func rebase(offsets []byte, from, n int, mem memory.Allocator) (b *memory.Buffer, first, end int) {
	offset := func(i int) int { return int(binary.LittleEndian.Uint32(offsets[4*i:])) }
	b = newBuffer(4*(n+1), mem)
	first, end = offset(from), offset(from+n)
	if first == 0 {
		copy(b.Bytes(), offsets[4*from:])
		return b, first, end
	}
	for i, out := 0, arrow.Int32Traits.CastFromBytes(b.Bytes()); i <= n; i++ {
		out[i] = int32(offset(from+i) - first)
	}
	return b, first, end
}

// widen makes decimals of 16 bytes.
func widen(in []byte, mem memory.Allocator) *memory.Buffer {
	b := newBuffer(2*len(in), mem)
	out := b.Bytes()
	for ; len(in) > 0; in, out = in[8:], out[16:] {
		v := binary.LittleEndian.Uint64(in)
		binary.LittleEndian.PutUint64(out, v)
		binary.LittleEndian.PutUint64(out[8:], uint64(int64(v)>>63))
	}
	return b
}
