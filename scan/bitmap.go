package scan

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"

	"github.com/skua-data/skua/fault"
)

// The parts of a deletion vector (Puffin's deletion-vector-v1): length, magic, a 64-bit Roaring bitmap in the portable form, checksum.
const (
	vectorMagic    = 0x6439d3d1
	vectorFrame    = 12 // bytes around the bitmap
	bitmapPlain    = 12346
	bitmapWithRuns = 12347
	arrayMost      = 4096 // values of an array container; beyond, it is bits
	noOffsetsBelow = 4    // containers, with runs
	containerMost  = 1 << 16
)

// vectorPositions reads a deletion vector: its positions, ascending. Nothing is made for what the bytes only claim; most bounds the positions,
// of which a few bytes can stand for billions.
func vectorPositions(raw []byte, most int64) ([]int64, error) {
	if len(raw) < vectorFrame {
		return nil, fault.New(fault.Corrupt, "%d bytes are too few for a deletion vector", len(raw))
	}
	inner, sum := raw[4:len(raw)-4], binary.BigEndian.Uint32(raw[len(raw)-4:])
	if length := binary.BigEndian.Uint32(raw); int64(length) != int64(len(inner)) {
		return nil, fault.New(fault.Corrupt, "the deletion vector says %d bytes and has %d", length, len(inner))
	}
	if magic := binary.LittleEndian.Uint32(inner); magic != vectorMagic {
		return nil, fault.New(fault.Corrupt, "the deletion vector begins with %08x and not %08x", magic, vectorMagic)
	}
	if got := crc32.ChecksumIEEE(inner); got != sum {
		return nil, fault.New(fault.Corrupt, "the deletion vector's checksum is %08x and not %08x", got, sum)
	}
	b := &bitmapReader{rest: inner[4:], most: most}
	b.read()
	if b.err == nil && len(b.rest) > 0 {
		b.fail("%d bytes too many", len(b.rest))
	}
	return b.out, b.err
}

// bitmapReader reads the bitmaps of a vector, each of which holds the lower halves of positions with one upper half.
type bitmapReader struct {
	rest []byte
	most int64
	out  []int64
	err  error
}

func (b *bitmapReader) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fault.New(fault.Corrupt, "the deletion vector's bitmap: "+format, args...)
	}
}

// take gives the next n bytes; nil after an error.
func (b *bitmapReader) take(n int) []byte {
	if b.err == nil && n > len(b.rest) {
		b.fail("it ends %d bytes early", n-len(b.rest))
	}
	if b.err != nil {
		return nil
	}
	out := b.rest[:n]
	b.rest = b.rest[n:]
	return out
}

func (b *bitmapReader) number() uint32 {
	if raw := b.take(4); raw != nil {
		return binary.LittleEndian.Uint32(raw)
	}
	return 0
}

func (b *bitmapReader) read() {
	raw := b.take(8)
	if raw == nil {
		return
	}
	last := int64(-1)
	for n := binary.LittleEndian.Uint64(raw); n > 0 && b.err == nil; n-- {
		key := int64(b.number())
		if b.err == nil && (key <= last || key > 1<<31-1) {
			b.fail("key %d after %d", key, last)
		}
		last = key
		b.bitmap(key << 32)
	}
}

// bitmap reads one 32-bit bitmap.
func (b *bitmapReader) bitmap(upper int64) {
	cookie := b.number()
	size, flags := int(cookie>>16)+1, []byte(nil)
	switch {
	case cookie == bitmapPlain:
		if size = int(b.number()); size < 0 || size > containerMost {
			b.fail("%d containers", size)
		}
	case cookie&0xffff == bitmapWithRuns:
		flags = b.take((size + 7) / 8)
	default:
		b.fail("cookie %08x", cookie)
	}
	if b.err != nil {
		return
	}
	heads := b.take(4 * size)
	if flags == nil || size >= noOffsetsBelow {
		b.take(4 * size) // offsets: containers lie one after the other
	}
	last := -1
	for i := 0; i < size && b.err == nil; i++ {
		key, count := int(binary.LittleEndian.Uint16(heads[4*i:])), int(binary.LittleEndian.Uint16(heads[4*i+2:]))+1
		if key <= last {
			b.fail("container %d after %d", key, last)
		}
		last = key
		b.container(upper|int64(key)<<16, count, flags != nil && flags[i/8]>>(i%8)&1 == 1)
	}
}

// container reads the values of one container, which are count.
func (b *bitmapReader) container(upper int64, count int, runs bool) {
	if int64(len(b.out)+count) > b.most {
		if b.err == nil {
			b.err = fault.New(fault.Exhausted, "the deletion vector holds more than %d positions", b.most)
		}
		return
	}
	before := len(b.out)
	switch {
	case runs:
		b.runs(upper, count)
	case count <= arrayMost:
		b.array(upper, count)
	default:
		b.bits(upper)
	}
	if got := len(b.out) - before; got != count {
		b.fail("a container of %d values says %d", got, count)
	}
}

func (b *bitmapReader) array(upper int64, count int) {
	raw, last := b.take(2*count), -1
	for ; len(raw) > 0; raw = raw[2:] {
		v := int(binary.LittleEndian.Uint16(raw))
		if v <= last {
			b.fail("value %d after %d", v, last)
			return
		}
		last = v
		b.out = append(b.out, upper|int64(v))
	}
}

func (b *bitmapReader) bits(upper int64) {
	raw := b.take(containerMost / 8)
	for at := int64(0); len(raw) > 0; raw, at = raw[8:], at+64 {
		for w := binary.LittleEndian.Uint64(raw); w != 0; w &= w - 1 {
			b.out = append(b.out, upper|at|int64(bits.TrailingZeros64(w)))
		}
	}
}

func (b *bitmapReader) runs(upper int64, count int) {
	raw := b.take(2)
	if raw == nil {
		return
	}
	raw = b.take(4 * int(binary.LittleEndian.Uint16(raw)))
	last := -1
	for ; len(raw) > 0; raw = raw[4:] {
		from, more := int(binary.LittleEndian.Uint16(raw)), int(binary.LittleEndian.Uint16(raw[2:]))
		if from <= last || from+more >= containerMost || count <= more {
			b.fail("a run of %d from %d after %d", more+1, from, last)
			return
		}
		last, count = from+more, count-more-1
		for v := from; v <= last; v++ {
			b.out = append(b.out, upper|int64(v))
		}
	}
}
