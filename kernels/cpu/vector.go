package cpu

import (
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"

	"github.com/skua-data/skua/fault"
)

// vector collects a leaf's slots in final Arrow buffers, page after page. Its calls take turns: open a page, read or skip its values.
type vector interface {
	// open starts a page. A dictionary is the chunk's, nil where it has none.
	open(id parquet.Encoding, body []byte, d *dictionary) error
	// reserve makes room for n slots in all, so that memory is allocated once.
	reserve(n int)
	// read appends the next n values.
	read(n int) error
	// skip leaves the next n values out.
	skip(n int) error
	// spread makes slots of the last present values: they lie where valid has a bit, counted from bit at.
	spread(present, slots int, valid []byte, at int)
	// indexes are those of an open page with a dictionary; nil: there are none for such values.
	indexes() *indexes
	// pick appends values of a dictionary by their indexes.
	pick(d *dictionary, at []uint32) error
	// take gives the buffers behind the validity and starts afresh.
	take() []*memory.Buffer
	// drop gives all memory back.
	drop()
}

// newVector makes the vector of a chunk that has most values.
func (v *conversion) newVector(mem memory.Allocator, over func() error, most int64) vector {
	x := indexes{most: most}
	switch v.shape {
	case textShape:
		return &textVector{conversion: v, texts: texts{mem: mem, over: over}, indexed: dictionaryTexts{indexes: x}}
	case bitShape:
		return &bitVector{mem: mem, conversion: v}
	}
	return &fixedVector{mem: mem, conversion: v, width: v.width, indexed: dictionaryValues{indexes: x}}
}

var errNoDictionary = fault.New(fault.Corrupt, "a page needs a dictionary and there is none")

// fixedVector collects values of one width.
type fixedVector struct {
	mem        memory.Allocator
	conversion *conversion
	width      int
	stream     fixedStream
	indexed    dictionaryValues // the stream of pages with a dictionary
	buffer     *memory.Buffer
	n          int
}

func (f *fixedVector) open(id parquet.Encoding, body []byte, d *dictionary) (err error) {
	if !isDictionary(id) {
		f.stream, err = f.conversion.openFixed(id, body)
		return err
	}
	if d == nil {
		return errNoDictionary
	}
	f.stream, f.indexed.dictionary = &f.indexed, d
	return f.indexed.open(body)
}

func (f *fixedVector) reserve(n int) {
	if f.buffer == nil {
		f.buffer = memory.NewResizableBuffer(f.mem)
	}
	if size := n * f.width; size > f.buffer.Cap() {
		f.buffer.ResizeNoShrink(f.n * f.width)
		f.buffer.Reserve(max(size, f.buffer.Cap()+f.buffer.Cap()/2))
	}
}

// slots appends n slots.
func (f *fixedVector) slots(n int) []byte {
	f.reserve(f.n + n)
	out := f.buffer.Buf()[f.n*f.width : (f.n+n)*f.width]
	f.n += n
	return out
}

func (f *fixedVector) read(n int) error { return f.stream.read(f.slots(n)) }
func (f *fixedVector) skip(n int) error { return f.stream.skip(n) }

func (f *fixedVector) spread(present, slots int, valid []byte, at int) {
	f.n -= present
	b := f.slots(slots)
	switch f.width {
	case 4:
		spread(cast[uint32](b), present, valid, at)
	case 8:
		spread(cast[uint64](b), present, valid, at)
	case 16:
		spreadWide(cast[[2]uint64](b), present, valid, at)
	default:
		spreadBytes(b, f.width, present, valid, at)
	}
}

func (f *fixedVector) indexes() *indexes { return &f.indexed.indexes }

func (f *fixedVector) pick(d *dictionary, at []uint32) error {
	out := f.slots(len(at))
	switch f.width {
	case 4:
		return pick(cast[uint32](out), cast[uint32](d.fixed), at)
	case 8:
		return pick(cast[uint64](out), cast[uint64](d.fixed), at)
	case 16:
		return pick(cast[[2]uint64](out), cast[[2]uint64](d.fixed), at)
	}
	for _, i := range at {
		out = out[copy(out, d.fixed[int(i)*f.width:int(i+1)*f.width]):]
	}
	return nil
}

// pick looks values up.
func pick[T any](out, dictionary []T, at []uint32) error {
	for i, index := range at {
		if uint64(index) >= uint64(len(dictionary)) {
			return indexError(index, len(dictionary))
		}
		out[i] = dictionary[index]
	}
	return nil
}

func (f *fixedVector) take() []*memory.Buffer {
	f.reserve(0)
	f.buffer.ResizeNoShrink(f.n * f.width)
	out := []*memory.Buffer{f.buffer}
	f.buffer, f.n = nil, 0
	return out
}

func (f *fixedVector) drop() {
	if f.buffer != nil {
		f.buffer.Release()
	}
	f.buffer, f.n = nil, 0
}

// textVector collects byte strings.
type textVector struct {
	texts
	conversion *conversion
	stream     textStream
	indexed    dictionaryTexts
}

func (t *textVector) open(id parquet.Encoding, body []byte, d *dictionary) (err error) {
	if !isDictionary(id) {
		t.stream, err = t.conversion.openTexts(id, body)
		return err
	}
	if d == nil {
		return errNoDictionary
	}
	t.stream, t.indexed.dictionary = &t.indexed, d
	return t.indexed.open(body)
}

func (t *textVector) read(n int) error { return t.stream.read(&t.texts, n) }
func (t *textVector) skip(n int) error { return t.stream.skip(n) }

func (t *textVector) indexes() *indexes { return &t.indexed.indexes }

func (t *textVector) pick(d *dictionary, at []uint32) error {
	t.indexed.dictionary = d
	for len(at) > 0 {
		next := at[:min(len(at), indexBlock)]
		var err error
		if d.longest <= block {
			err = t.indexed.short(&t.texts, next)
		} else {
			err = t.indexed.long(&t.texts, next)
		}
		if err != nil {
			return err
		}
		at = at[len(next):]
	}
	return nil
}

// bitVector collects booleans.
type bitVector struct {
	mem        memory.Allocator
	conversion *conversion
	stream     bitStream
	buffer     *memory.Buffer
	n          int
}

func (b *bitVector) open(id parquet.Encoding, body []byte, _ *dictionary) error {
	e, err := encodingOf(id, b.conversion.stored)
	if err != nil {
		return err
	}
	b.stream, err = e.bits(body)
	return err
}

func (b *bitVector) reserve(n int) { b.buffer = moreBits(b.buffer, b.mem, b.n, n) }

func (b *bitVector) read(n int) error {
	b.reserve(b.n + n)
	b.n += n
	return b.stream.read(b.buffer.Buf(), b.n-n, n)
}

func (b *bitVector) skip(n int) error { return b.stream.skip(n) }

func (b *bitVector) spread(present, slots int, valid []byte, at int) {
	first := b.n - present
	b.n = first + slots
	b.reserve(b.n)
	spreadBits(b.buffer.Buf(), first, present, slots, valid, at)
}

func (b *bitVector) indexes() *indexes { return nil }

func (b *bitVector) pick(*dictionary, []uint32) error { return errNoIndexes }

func (b *bitVector) take() []*memory.Buffer {
	b.reserve(0)
	b.buffer.ResizeNoShrink(int(bitutil.BytesForBits(int64(b.n))))
	out := []*memory.Buffer{b.buffer}
	b.buffer, b.n = nil, 0
	return out
}

func (b *bitVector) drop() {
	if b.buffer != nil {
		b.buffer.Release()
	}
	b.buffer, b.n = nil, 0
}

// moreBits makes room for n bits, of which used are to be kept; what is new is 0.
func moreBits(b *memory.Buffer, mem memory.Allocator, used, n int) *memory.Buffer {
	if b == nil {
		b = memory.NewResizableBuffer(mem)
	}
	size := int(bitutil.BytesForBits(int64(n)))
	if size <= b.Cap() {
		return b
	}
	from := b.Cap()
	b.ResizeNoShrink(int(bitutil.BytesForBits(int64(used))))
	b.Reserve(max(size, 2*from))
	clear(b.Buf()[from:])
	return b
}

// validity collects which slots have values. It takes memory only from the first null on.
type validity struct {
	mem    memory.Allocator
	buffer *memory.Buffer // nil: no nulls so far
	room   int            // slots to expect
	n      int
	nulls  int
}

// valid appends n slots with values.
func (v *validity) valid(n int) {
	if v.buffer != nil {
		v.buffer = moreBits(v.buffer, v.mem, v.n, v.n+n)
		bitutil.SetBitsTo(v.buffer.Buf(), int64(v.n), int64(n), true)
	}
	v.n += n
}

// bits gives a bitmap in which the next n slots begin at bit at. The caller fills them and calls filled.
func (v *validity) bits(n int) (bitmap []byte, at int) {
	first := v.buffer == nil
	v.buffer = moreBits(v.buffer, v.mem, v.n, max(v.n+n, v.room))
	if first {
		bitutil.SetBitsTo(v.buffer.Buf(), 0, int64(v.n), true)
	}
	return v.buffer.Buf(), v.n
}

func (v *validity) filled(n, nulls int) { v.n, v.nulls = v.n+n, v.nulls+nulls }

// take gives the bitmap, nil without nulls, with the number of slots and of nulls, and starts afresh.
func (v *validity) take() (b *memory.Buffer, n, nulls int) {
	b, n, nulls = v.buffer, v.n, v.nulls
	if nulls == 0 && b != nil {
		b.Release()
		b = nil
	}
	if b != nil {
		b.ResizeNoShrink(int(bitutil.BytesForBits(int64(n))))
	}
	v.buffer, v.n, v.nulls = nil, 0, 0
	return b, n, nulls
}

func (v *validity) drop() {
	if b, _, _ := v.take(); b != nil {
		b.Release()
	}
}
