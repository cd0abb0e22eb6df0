package cpu

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/parquet"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels/pages"
)

const (
	deltaBlock = 1 << 20 // most values of a block; the common writers have 128
	deltaBatch = 256     // values unpacked at once
)

var errDelta = fault.New(fault.Corrupt, "malformed delta encoding")

// deltas are integers, each stored as the difference to the one before: a header, then blocks of miniblocks, each with a width of its own.
// Sums wrap around, as the format wants it.
type deltas struct {
	data    []byte
	perMini int
	minis   int
	left    int   // values not given, that in last included
	last    int64 // the value that comes next, while first
	first   bool

	widths []byte // of the block's miniblocks not begun
	least  int64  // difference of the block
	width  int    // of the current miniblock
	inMini int    // values of it not unpacked
	bits   []byte

	buffer [deltaBatch]int64
	at, n  int // not consumed: buffer[at:n]
}

// open reads the header.
func (d *deltas) open(b []byte) error {
	var head [3]uint64 // values in a block, miniblocks in a block, values in all
	for i := range head {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return errDelta
		}
		head[i], b = v, b[n:]
	}
	first, n := binary.Varint(b)
	size, minis, total := head[0], head[1], head[2]
	if n <= 0 || size == 0 || size > deltaBlock || minis == 0 || minis > size || size%minis != 0 || size/minis%8 != 0 || total > pages.MostValues {
		return errDelta
	}
	*d = deltas{data: b[n:], perMini: int(size / minis), minis: int(minis), left: int(total), last: first, first: true}
	return nil
}

// fill unpacks the values that come next: at least one.
func (d *deltas) fill() error {
	if d.left == 0 {
		return fault.New(fault.Corrupt, "a delta encoding ends before its page does")
	}
	d.at = 0
	if d.first {
		d.first, d.buffer[0], d.n = false, d.last, 1
		d.left--
		return nil
	}
	if d.inMini == 0 {
		if err := d.mini(); err != nil {
			return err
		}
	}
	d.n = min(d.inMini, d.left, deltaBatch)
	if d.n*d.width > len(d.bits)*8 {
		return errDelta
	}
	d.unpack()
	d.inMini -= d.n
	d.left -= d.n
	return nil
}

// mini begins the next miniblock.
func (d *deltas) mini() error {
	if len(d.widths) == 0 {
		least, n := binary.Varint(d.data)
		if n <= 0 || len(d.data)-n < d.minis {
			return errDelta
		}
		d.least, d.widths, d.data = least, d.data[n:n+d.minis], d.data[n+d.minis:]
	}
	d.width, d.widths = int(d.widths[0]), d.widths[1:]
	if d.width > 64 {
		return errDelta
	}
	size := min(d.perMini/8*d.width, len(d.data)) // some writers cut the last miniblock short
	d.bits, d.data, d.inMini = d.data[:size], d.data[size:], d.perMini
	return nil
}

// unpack turns n packed differences into values.
func (d *deltas) unpack() {
	out, sum, least := d.buffer[:d.n], d.last, d.least
	switch {
	case d.width == 0:
		for i := range out {
			sum += least
			out[i] = sum
		}
	case d.width <= 32:
		var packed [deltaBatch]uint32
		whole := (d.n + 7) &^ 7
		if whole/8*d.width > len(d.bits) {
			whole = d.n &^ 7
		}
		unpack(packed[:whole], d.bits, d.width)
		for i := whole; i < d.n; i++ {
			packed[i] = uint32(bitsAt(d.bits, i, d.width))
		}
		for i, v := range packed[:d.n] {
			sum += least + int64(v)
			out[i] = sum
		}
	default:
		for i := range out {
			sum += least + int64(bitsAt(d.bits, i, d.width))
			out[i] = sum
		}
	}
	d.last = sum
	d.bits = d.bits[min(d.n*d.width/8, len(d.bits)):]
}

// next gives up to n values that come next, at least one, and consumes them. They are good until the next call.
func (d *deltas) next(n int) ([]int64, error) {
	out, err := d.peek(n)
	d.at += len(out)
	return out, err
}

// peek is next without consuming the values.
func (d *deltas) peek(n int) ([]int64, error) {
	if d.at == d.n {
		if err := d.fill(); err != nil {
			return nil, err
		}
	}
	return d.buffer[d.at:min(d.n, d.at+n)], nil
}

func (d *deltas) skip(n int) error {
	for n > 0 {
		got, err := d.next(n)
		if err != nil {
			return err
		}
		n -= len(got)
	}
	return nil
}

// after gives what follows the stream, without consuming it.
func (d *deltas) after() ([]byte, error) {
	walk := deltas{data: d.data, perMini: d.perMini, minis: d.minis}
	for left := d.left - 1; left > 0; left -= d.perMini {
		if err := walk.mini(); err != nil {
			return nil, err
		}
		if need := min(left, d.perMini); need*walk.width > len(walk.bits)*8 {
			return nil, errDelta
		}
	}
	return walk.data, nil
}

// delta are integers of a page.
type delta struct {
	deltas
	width int
}

func newDelta(body []byte, s stored) (fixedStream, error) {
	d := &delta{width: 8}
	if s.physical == parquet.Types.Int32 {
		d.width = 4
	}
	if len(body) == 0 {
		return d, nil // a page of nulls
	}
	return d, d.open(body)
}

func (d *delta) read(out []byte) error {
	if d.width == 4 {
		for to := cast[int32](out); len(to) > 0; {
			got, err := d.next(len(to))
			if err != nil {
				return err
			}
			for i, v := range got {
				to[i] = int32(v)
			}
			to = to[len(got):]
		}
		return nil
	}
	for to := cast[int64](out); len(to) > 0; {
		got, err := d.next(len(to))
		if err != nil {
			return err
		}
		to = to[copy(to, got):]
	}
	return nil
}
