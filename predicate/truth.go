package predicate

import (
	"encoding/binary"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// truth is a three-valued outcome per row: a bit in yes for true, in no for false, in neither for null. And, Or and Not are then plain
// bit operations. Bits past the last row are 0 in both.
type truth struct {
	rows    int
	yes, no []uint64
	raw     []byte
}

func newTruth(mem memory.Allocator, rows int) *truth {
	n := (rows + 63) / 64
	raw := mem.Allocate(16 * n)
	words := arrow.Uint64Traits.CastFromBytes(raw)
	return &truth{rows: rows, yes: words[:n:n], no: words[n:], raw: raw}
}

func (t *truth) release(mem memory.Allocator) { mem.Free(t.raw) }

// tail masks the bits of the last word that are rows.
func tail(rows int) uint64 { return ^uint64(0) >> ((64 - rows%64) % 64) }

func (t *truth) constant(c Constant) {
	fill(t.yes, t.rows, c == True)
	fill(t.no, t.rows, c == False)
}

func fill(words []uint64, rows int, on bool) {
	if !on {
		clear(words)
		return
	}
	for i := range words {
		words[i] = ^uint64(0)
	}
	if len(words) > 0 {
		words[len(words)-1] = tail(rows)
	}
}

func (t *truth) not() { t.yes, t.no = t.no, t.yes }

func (t *truth) and(o *truth) {
	for i := range t.yes {
		t.yes[i] &= o.yes[i]
		t.no[i] |= o.no[i]
	}
}

func (t *truth) or(o *truth) {
	for i := range t.yes {
		t.yes[i] |= o.yes[i]
		t.no[i] &= o.no[i]
	}
}

func (t *truth) allTrue() bool  { return full(t.yes, t.rows) }
func (t *truth) allFalse() bool { return full(t.no, t.rows) }

func full(words []uint64, rows int) bool {
	for i, w := range words {
		want := ^uint64(0)
		if i == len(words)-1 {
			want = tail(rows)
		}
		if w != want {
			return false
		}
	}
	return true
}

// boolean makes the array; its buffers come from mem.
func (t *truth) boolean(mem memory.Allocator) *array.Boolean {
	values, valid := newBitmap(mem, t.rows), newBitmap(mem, t.rows)
	defer values.Release()
	defer valid.Release()
	known := 0
	for i := range t.yes {
		put(values.Bytes(), i, t.yes[i])
		put(valid.Bytes(), i, t.yes[i]|t.no[i])
		known += bits.OnesCount64(t.yes[i] | t.no[i])
	}
	if known == t.rows {
		return array.NewBoolean(t.rows, values, nil, 0)
	}
	return array.NewBoolean(t.rows, values, valid, t.rows-known)
}

func newBitmap(mem memory.Allocator, rows int) *memory.Buffer {
	b := memory.NewResizableBuffer(mem)
	b.Resize((rows + 7) / 8)
	return b
}

// put writes word i of a bitmap, as far as the bitmap reaches.
func put(bitmap []byte, i int, word uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], word)
	copy(bitmap[8*i:], b[:])
}

// words is a scratch bitmap.
type words struct {
	words []uint64
	raw   []byte
}

func newWords(mem memory.Allocator, rows int) words {
	raw := mem.Allocate(8 * ((rows + 63) / 64))
	return words{arrow.Uint64Traits.CastFromBytes(raw), raw}
}

func (w words) release(mem memory.Allocator) { mem.Free(w.raw) }

// validity sets a bit per value of a that is not null.
func validity(dst []uint64, a arrow.Array) {
	if a.DataType().ID() == arrow.NULL {
		clear(dst)
		return
	}
	bitmap := a.NullBitmapBytes()
	if len(bitmap) == 0 || a.NullN() == 0 {
		fill(dst, a.Len(), true)
		return
	}
	load(dst, bitmap, a.Data().Offset(), a.Len())
}

// load copies n bits of a bitmap from bit offset on; bits past n are 0.
func load(dst []uint64, bitmap []byte, offset, n int) {
	for i := range dst {
		at := offset + 64*i
		dst[i] = word(bitmap, at/8, uint(at%8))
	}
	if len(dst) > 0 {
		dst[len(dst)-1] &= tail(n)
	}
}

// word gives the 64 bits that start shift bits into byte at; what lies past the end of the bitmap is 0.
func word(bitmap []byte, at int, shift uint) uint64 {
	if at+9 <= len(bitmap) {
		w := binary.LittleEndian.Uint64(bitmap[at:]) >> shift
		return w | uint64(bitmap[at+8])<<(64-shift)
	}
	var b [9]byte
	copy(b[:], bitmap[min(at, len(bitmap)):])
	return binary.LittleEndian.Uint64(b[:])>>shift | uint64(b[8])<<(64-shift)
}

// settled is the outcome of a test that is null for null values.
func settled(t *truth, valid []uint64) {
	for i, v := range valid {
		t.no[i] = ^t.yes[i] & v
		t.yes[i] &= v
	}
}

// complement swaps answers; bits past the last row are put right when the outcome is settled.
func complement(dst []uint64) {
	for i := range dst {
		dst[i] = ^dst[i]
	}
}
