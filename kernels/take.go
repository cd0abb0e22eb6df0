package kernels

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
)

// Take gives the elements of a that runs select, in order; runs count from a's first element. Runs that select everything cost nothing.
// The caller releases the array.
func Take(a arrow.Array, runs *Selection, mem memory.Allocator) (arrow.Array, error) {
	if runs.Count() == int64(a.Len()) {
		a.Retain()
		return a, nil
	}
	if all := runs.Runs(); len(all) == 1 {
		return array.NewSlice(a, all[0].From, all[0].To), nil
	}
	t := taker{mem: mem}
	d, err := t.data(a.Data(), runs.Runs(), int(runs.Count()))
	if err != nil {
		return nil, err
	}
	defer d.Release()
	return array.MakeFromData(d), nil
}

type taker struct{ mem memory.Allocator }

// data takes runs of d, which count from d's offset.
func (t taker) data(d arrow.ArrayData, runs []Run, n int) (arrow.ArrayData, error) {
	if d.DataType().ID() == arrow.NULL {
		return array.NewData(d.DataType(), n, []*memory.Buffer{nil}, nil, n, 0), nil
	}
	valid, nulls := t.validity(d, runs, n)
	buffers, children, err := t.layout(d, runs, n)
	buffers = append([]*memory.Buffer{valid}, buffers...)
	defer func() {
		for _, b := range buffers {
			if b != nil {
				b.Release()
			}
		}
		for _, c := range children {
			c.Release()
		}
	}()
	if err != nil {
		return nil, err
	}
	return array.NewData(d.DataType(), n, buffers, children, nulls, 0), nil
}

// layout takes what comes after the validity; on an error it gives what there is to release.
func (t taker) layout(d arrow.ArrayData, runs []Run, n int) (buffers []*memory.Buffer, children []arrow.ArrayData, err error) {
	child := func(c arrow.ArrayData, runs []Run, n int) {
		var out arrow.ArrayData
		if err != nil {
			return
		}
		if out, err = t.data(c, runs, n); err == nil {
			children = append(children, out)
		}
	}
	switch layout := storage(d.DataType()).(type) {
	case *arrow.BooleanType:
		buffers = append(buffers, t.bits(bytesOf(d, 1), d.Offset(), runs, n))
	case *arrow.StringType, *arrow.BinaryType:
		offsets, bytes := t.variable(d, runs, n)
		buffers = append(buffers, offsets, bytes)
	case *arrow.ListType, *arrow.MapType:
		offsets, inner, total := t.lists(d, runs, n)
		buffers = append(buffers, offsets)
		child(d.Children()[0], inner, total)
	case *arrow.StructType:
		for _, c := range d.Children() {
			child(c, shift(runs, int64(d.Offset())), n)
		}
	case arrow.FixedWidthDataType:
		buffers = append(buffers, t.fixed(bytesOf(d, 1), layout.Bytes(), d.Offset(), runs, n))
	default:
		err = fault.New(fault.Internal, "take rows of a %s column", d.DataType())
	}
	return buffers, children, err
}

func storage(t arrow.DataType) arrow.DataType {
	if e, ok := t.(arrow.ExtensionType); ok {
		return e.StorageType()
	}
	return t
}

// bytesOf gives a buffer, which an empty array may lack.
func bytesOf(d arrow.ArrayData, i int) []byte {
	if b := d.Buffers()[i]; b != nil {
		return b.Bytes()
	}
	return nil
}

func shift(runs []Run, by int64) []Run {
	if by == 0 {
		return runs
	}
	out := make([]Run, len(runs))
	for i, r := range runs {
		out[i] = Run{r.From + by, r.To + by}
	}
	return out
}

func (t taker) buffer(size int) *memory.Buffer {
	b := memory.NewResizableBuffer(t.mem)
	b.Resize(size)
	return b
}

// validity takes the validity bits; nil where the source has no nulls.
func (t taker) validity(d arrow.ArrayData, runs []Run, n int) (*memory.Buffer, int) {
	b := d.Buffers()[0]
	if b == nil || b.Len() == 0 || d.NullN() == 0 {
		return nil, 0
	}
	out := t.bits(b.Bytes(), d.Offset(), runs, n)
	return out, n - bitutil.CountSetBits(out.Bytes(), 0, n)
}

func (t taker) bits(in []byte, offset int, runs []Run, n int) *memory.Buffer {
	b := t.buffer(int(bitutil.BytesForBits(int64(n))))
	out := b.Bytes()
	clear(out)
	at := 0
	for _, r := range runs {
		length := int(r.To - r.From)
		bitutil.CopyBitmap(in, offset+int(r.From), length, out, at)
		at += length
	}
	return b
}

func (t taker) fixed(in []byte, width, offset int, runs []Run, n int) *memory.Buffer {
	b := t.buffer(n * width)
	out := b.Bytes()
	for _, r := range runs {
		out = out[copy(out, in[(offset+int(r.From))*width:(offset+int(r.To))*width]):]
	}
	return b
}

func (t taker) variable(d arrow.ArrayData, runs []Run, n int) (offsets, bytes *memory.Buffer) {
	offsets, inner, total := t.lists(d, runs, n)
	bytes = t.buffer(total)
	out := bytes.Bytes()
	in := bytesOf(d, 2)
	for _, r := range inner {
		out = out[copy(out, in[r.From:r.To]):]
	}
	return offsets, bytes
}

// lists takes the offsets of lists or texts, and gives the runs of what is inside them and its length.
func (t taker) lists(d arrow.ArrayData, runs []Run, n int) (offsets *memory.Buffer, inner []Run, total int) {
	offsets = t.buffer((n + 1) * arrow.Int32SizeBytes)
	out := arrow.Int32Traits.CastFromBytes(offsets.Bytes())
	if n == 0 {
		out[0] = 0
		return offsets, nil, 0
	}
	in := arrow.Int32Traits.CastFromBytes(bytesOf(d, 1))[d.Offset():]
	inner = make([]Run, 0, len(runs))
	var sum int32
	at := 0
	for _, r := range runs {
		base := in[r.From]
		for _, end := range in[r.From+1 : r.To+1] {
			out[at] = sum
			sum += end - base
			base = end
			at++
		}
		inner = append(inner, Run{int64(in[r.From]), int64(in[r.To])})
	}
	out[n] = sum
	return offsets, inner, int(sum)
}
