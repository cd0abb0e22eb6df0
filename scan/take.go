package scan

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
)

// rows is a half-open range of rows.
type rows struct{ From, To int }

// kept gives the runs of rows that a mask keeps, and their number.
func kept(mask *array.Boolean) (runs []rows, n int) {
	for i := 0; i < mask.Len(); i++ {
		if !mask.IsValid(i) || !mask.Value(i) {
			continue
		}
		if last := len(runs) - 1; last >= 0 && runs[last].To == i {
			runs[last].To++
		} else {
			runs = append(runs, rows{i, i + 1})
		}
		n++
	}
	return runs, n
}

// take copies runs of an array. It works on this goroutine alone, so that whoever calls it can recover. The caller releases the result.
func take(a arrow.Array, runs []rows, n int, mem memory.Allocator) (arrow.Array, error) {
	if len(runs) == 1 {
		return array.NewSlice(a, int64(runs[0].From), int64(runs[0].To)), nil
	}
	switch a := a.(type) {
	case *array.Null:
		return array.NewNull(n), nil
	case array.ExtensionArray:
		storage, err := take(a.Storage(), runs, n, mem)
		if err != nil {
			return nil, err
		}
		defer storage.Release()
		return array.NewExtensionArrayWithStorage(a.DataType().(arrow.ExtensionType), storage), nil
	case *array.Struct:
		return takeStruct(a, runs, n, mem)
	case *array.Map:
		return takeMap(a, runs, n, mem)
	case *array.List:
		return takeList(a, a.ListValues(), runs, n, mem)
	case *array.Boolean:
		values := takeBits(a.Data().Buffers()[1], a.Offset(), runs, n, mem)
		return assemble(a, n, takeValidity(a, runs, n, mem), []*memory.Buffer{values}, nil), nil
	case *array.String, *array.Binary:
		return takeBinary(a, runs, n, mem), nil
	}
	if t, ok := a.DataType().(arrow.FixedWidthDataType); ok && a.DataType().ID() != arrow.DICTIONARY {
		return takeFixed(a, t.Bytes(), runs, n, mem), nil
	}
	return nil, fault.New(fault.Unsupported, "filtering a column of the Arrow type %s is not supported", a.DataType())
}

// assemble builds an array of a's type and takes over the buffers and children.
func assemble(a arrow.Array, n int, validity *memory.Buffer, buffers []*memory.Buffer, children []arrow.ArrayData) arrow.Array {
	nulls := 0
	if validity != nil {
		nulls = array.UnknownNullCount
	}
	all := append([]*memory.Buffer{validity}, buffers...)
	data := array.NewData(a.DataType(), n, all, children, nulls, 0)
	defer data.Release()
	for _, b := range all {
		if b != nil {
			b.Release()
		}
	}
	for _, c := range children {
		c.Release()
	}
	return array.MakeFromData(data)
}

func takeValidity(a arrow.Array, runs []rows, n int, mem memory.Allocator) *memory.Buffer {
	if a.NullN() == 0 {
		return nil
	}
	return takeBits(a.Data().Buffers()[0], a.Data().Offset(), runs, n, mem)
}

func takeBits(from *memory.Buffer, offset int, runs []rows, n int, mem memory.Allocator) *memory.Buffer {
	out := buffer(int(bitutil.BytesForBits(int64(n))), mem)
	memory.Set(out.Bytes(), 0)
	at := 0
	for _, r := range runs {
		bitutil.CopyBitmap(from.Bytes(), offset+r.From, r.To-r.From, out.Bytes(), at)
		at += r.To - r.From
	}
	return out
}

func buffer(size int, mem memory.Allocator) *memory.Buffer {
	out := memory.NewResizableBuffer(mem)
	out.Resize(size)
	return out
}

func takeFixed(a arrow.Array, width int, runs []rows, n int, mem memory.Allocator) arrow.Array {
	out, at := buffer(n*width, mem), 0
	if from := a.Data().Buffers()[1]; from != nil {
		offset := a.Data().Offset()
		for _, r := range runs {
			at += copy(out.Bytes()[at:], from.Bytes()[(offset+r.From)*width:(offset+r.To)*width])
		}
	}
	return assemble(a, n, takeValidity(a, runs, n, mem), []*memory.Buffer{out}, nil)
}

// takeBinary serves strings and binary with offsets of 32 bits, the only ones of the wire.
func takeBinary(a arrow.Array, runs []rows, n int, mem memory.Allocator) arrow.Array {
	from := offsets(a.Data())
	if from == nil {
		return assemble(a, 0, nil, []*memory.Buffer{buffer(4, mem), buffer(0, mem)}, nil) // an empty array may come without buffers
	}
	from = from[a.Data().Offset():]
	total := 0
	for _, r := range runs {
		total += int(from[r.To] - from[r.From])
	}
	offsets, values := buffer((n+1)*4, mem), buffer(total, mem)
	out := arrow.Int32Traits.CastFromBytes(offsets.Bytes())
	row, base := 0, int32(0)
	for _, r := range runs {
		for i := r.From; i < r.To; i++ {
			out[row] = base + from[i] - from[r.From]
			row++
		}
		if bytes := a.Data().Buffers()[2]; bytes != nil {
			copy(values.Bytes()[base:], bytes.Bytes()[from[r.From]:from[r.To]])
		}
		base += from[r.To] - from[r.From]
	}
	out[n] = base
	return assemble(a, n, takeValidity(a, runs, n, mem), []*memory.Buffer{offsets, values}, nil)
}

func takeStruct(a *array.Struct, runs []rows, n int, mem memory.Allocator) (arrow.Array, error) {
	var children []arrow.ArrayData
	for i := 0; i < a.NumField(); i++ {
		child, err := take(a.Field(i), runs, n, mem)
		if err != nil {
			releaseData(children)
			return nil, err
		}
		child.Data().Retain()
		children = append(children, child.Data())
		child.Release()
	}
	return assemble(a, n, takeValidity(a, runs, n, mem), nil, children), nil
}

func releaseData(list []arrow.ArrayData) {
	for _, d := range list {
		d.Release()
	}
}

// takeList serves lists and maps: their children are taken by the runs of elements.
func takeList(a array.ListLike, values arrow.Array, runs []rows, n int, mem memory.Allocator) (arrow.Array, error) {
	offsets := buffer((n+1)*4, mem)
	out := arrow.Int32Traits.CastFromBytes(offsets.Bytes())
	var elements []rows
	row, base := 0, int32(0)
	for _, r := range runs {
		first, _ := a.ValueOffsets(r.From)
		end := first
		for i := r.From; i < r.To; i++ {
			start, stop := a.ValueOffsets(i)
			out[row] = base + int32(start-first)
			row++
			end = stop
		}
		base += int32(end - first)
		if last := len(elements) - 1; last >= 0 && elements[last].To == int(first) {
			elements[last].To = int(end)
		} else if end > first {
			elements = append(elements, rows{int(first), int(end)})
		}
	}
	out[n] = base
	child, err := take(values, elements, int(base), mem)
	if err != nil {
		offsets.Release()
		return nil, err
	}
	child.Data().Retain()
	defer child.Release()
	return assemble(a, n, takeValidity(a, runs, n, mem), []*memory.Buffer{offsets}, []arrow.ArrayData{child.Data()}), nil
}

// takeMap takes a map whose entries begin at their struct's first slot: array.Map finds keys and items without that struct's offset.
func takeMap(a *array.Map, runs []rows, n int, mem memory.Allocator) (arrow.Array, error) {
	out, err := takeList(a, a.ListValues(), runs, n, mem)
	if err != nil || out.Data().Children()[0].Offset() == 0 {
		return out, err
	}
	defer out.Release()
	entries := out.(*array.Map).ListValues().(*array.Struct)
	parts := make([]arrow.ArrayData, entries.NumField())
	for i := range parts {
		parts[i] = entries.Field(i).Data()
	}
	whole := array.NewData(entries.DataType(), entries.Len(), []*memory.Buffer{nil}, parts, 0, 0)
	defer whole.Release()
	d := out.Data()
	data := array.NewData(d.DataType(), d.Len(), d.Buffers(), []arrow.ArrayData{whole}, d.NullN(), d.Offset())
	defer data.Release()
	return array.MakeFromData(data), nil
}

// child gives a struct's field with the struct's nulls laid over it. The caller releases it.
func child(s *array.Struct, i int, mem memory.Allocator) arrow.Array {
	c := s.Field(i)
	if s.NullN() == 0 || c.DataType().ID() == arrow.NULL {
		c.Retain()
		return c
	}
	data, offset := c.Data(), c.Data().Offset()
	validity := buffer(int(bitutil.BytesForBits(int64(offset+c.Len()))), mem)
	defer validity.Release()
	memory.Set(validity.Bytes(), 0)
	parent := s.Data()
	if own := data.Buffers()[0]; own != nil && c.NullN() > 0 {
		bitutil.BitmapAnd(own.Bytes(), parent.Buffers()[0].Bytes(), int64(offset), int64(parent.Offset()), validity.Bytes(), int64(offset), int64(c.Len()))
	} else {
		bitutil.CopyBitmap(parent.Buffers()[0].Bytes(), parent.Offset(), c.Len(), validity.Bytes(), offset)
	}
	buffers := append([]*memory.Buffer{validity}, data.Buffers()[1:]...)
	out := array.NewData(c.DataType(), c.Len(), buffers, data.Children(), array.UnknownNullCount, offset)
	defer out.Release()
	return array.MakeFromData(out)
}
