package cpu

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/skua-data/skua/fault"
)

// hybrid reads the format's mixture of repeated and bit-packed runs: levels, dictionary indexes and booleans.
type hybrid struct {
	data  []byte // not consumed
	width int    // bits of a value, up to 32

	repeated int // values left of a repeated run
	value    uint32

	packed []byte // the current packed run
	at     int    // of its values, those consumed
	left   int    // and those left
}

func newHybrid(data []byte, width int) hybrid { return hybrid{data: data, width: width} }

var errRunsEnd = fault.New(fault.Corrupt, "runs end before their values do")

// next reads the head of the next run that has values.
func (h *hybrid) next() error {
	for h.repeated == 0 && h.left == 0 {
		head, n := binary.Uvarint(h.data)
		if n <= 0 {
			return errRunsEnd
		}
		h.data = h.data[n:]
		count := head >> 1
		if count > 1<<31 {
			return fault.New(fault.Corrupt, "a run of %d values", count)
		}
		if head&1 == 0 {
			size := (h.width + 7) / 8
			if size > len(h.data) {
				return errRunsEnd
			}
			h.value, h.repeated = uint32(word(h.data[:size])), int(count)
			h.data = h.data[size:]
			if uint64(h.value)>>h.width != 0 {
				return fault.New(fault.Corrupt, "a run of %d in %d bits", h.value, h.width)
			}
			continue
		}
		size := min(count*uint64(h.width), uint64(len(h.data))) // some writers cut the last run short
		h.packed, h.at, h.left = h.data[:size], 0, int(count)*8
		if h.width > 0 {
			h.left = min(h.left, int(size)*8/h.width)
		}
		h.data = h.data[size:]
	}
	return nil
}

// indexes fills out from its front with as many values as lie together, and says how many: at least one.
func (h *hybrid) indexes(out []uint32) (int, error) {
	if err := h.next(); err != nil {
		return 0, err
	}
	if h.repeated > 0 {
		n := min(h.repeated, len(out))
		for i := range out[:n] {
			out[i] = h.value
		}
		h.repeated -= n
		return n, nil
	}
	n := min(h.left, len(out))
	h.unpack(out[:n])
	return n, nil
}

// wholeGroups rounds n up so that what is unpacked ends with a group of eight, where the current run is packed.
func (h *hybrid) wholeGroups(n int) int {
	if h.left == 0 {
		return n
	}
	return (h.at+n+7)&^7 - h.at
}

// unpack takes values of the packed run: groups of eight at once, single ones before and after them.
func (h *hybrid) unpack(out []uint32) {
	h.left -= len(out)
	head := min(-h.at&7, len(out))
	whole := (len(out) - head) &^ 7
	for i := range out[:head] {
		out[i] = uint32(bitsAt(h.packed, h.at+i, h.width))
	}
	h.at += head
	if whole > 0 {
		unpack(out[head:head+whole], h.packed[h.at/8*h.width:], h.width)
		h.at += whole
	}
	out = out[head+whole:]
	for i := range out {
		out[i] = uint32(bitsAt(h.packed, h.at+i, h.width))
	}
	h.at += len(out)
}

// skip leaves n values out.
func (h *hybrid) skip(n int) error {
	for n > 0 {
		if err := h.next(); err != nil {
			return err
		}
		if h.repeated > 0 {
			k := min(n, h.repeated)
			h.repeated, n = h.repeated-k, n-k
			continue
		}
		k := min(n, h.left)
		h.at, h.left, n = h.at+k, h.left-k, n-k
	}
	return nil
}

// levels fills out with levels, for which the width is at most 8.
func (h *hybrid) levels(out []uint8) error {
	for len(out) > 0 {
		if err := h.next(); err != nil {
			return err
		}
		n := min(len(out), max(h.repeated, h.left))
		if h.repeated > 0 {
			for i := range out[:n] {
				out[i] = uint8(h.value)
			}
			h.repeated -= n
		} else {
			h.unpackLevels(out[:n])
		}
		out = out[n:]
	}
	return nil
}

func (h *hybrid) unpackLevels(out []uint8) {
	h.left -= len(out)
	w := uint(h.width) & 15
	mask := uint8(1<<w - 1)
	for ; h.at&7 == 0 && len(out) >= 8; out = out[8:] {
		v := word(h.packed[h.at/8*h.width:])
		for i := range out[:8] {
			out[i] = uint8(v) & mask
			v >>= w
		}
		h.at += 8
	}
	for i := range out {
		out[i] = uint8(bitsAt(h.packed, h.at, h.width))
		h.at++
	}
}

// same gives how many of the next n values are known to be equal without looking at each, and their value.
func (h *hybrid) same(n int) (int, uint32, error) {
	if err := h.next(); err != nil {
		return 0, 0, err
	}
	return min(n, h.repeated), h.value, nil
}

// drop consumes n values of a repeated run.
func (h *hybrid) drop(n int) { h.repeated -= n }

// bits writes n values of one bit from bit at of out on and says how many are 1.
func (h *hybrid) bits(out []byte, at, n int) (ones int, err error) {
	for n > 0 {
		if err := h.next(); err != nil {
			return 0, err
		}
		k := min(n, max(h.repeated, h.left))
		if h.repeated > 0 {
			bitutil.SetBitsTo(out, int64(at), int64(k), h.value != 0)
			ones += k * int(h.value&1)
			h.repeated -= k
		} else {
			ones += copyBits(out, at, h.packed, h.at, k)
			h.at, h.left = h.at+k, h.left-k
		}
		at, n = at+k, n-k
	}
	return ones, nil
}

// skipBits consumes n values of one bit and says how many were 1.
func (h *hybrid) skipBits(n int) (ones int, err error) {
	for n > 0 {
		if err := h.next(); err != nil {
			return 0, err
		}
		k := min(n, max(h.repeated, h.left))
		if h.repeated > 0 {
			ones += k * int(h.value&1)
			h.repeated -= k
		} else {
			ones += countBits(h.packed, h.at, k)
			h.at, h.left = h.at+k, h.left-k
		}
		n -= k
	}
	return ones, nil
}

// booleans are boolean values as runs, after their length.
type booleans struct{ hybrid }

func newBooleans(body []byte) (bitStream, error) {
	if len(body) == 0 {
		return &booleans{}, nil // a page of nulls
	}
	if len(body) < 4 {
		return nil, fault.New(fault.Corrupt, "booleans in %d bytes", len(body))
	}
	n := int64(binary.LittleEndian.Uint32(body))
	if n > int64(len(body)-4) {
		return nil, fault.New(fault.Corrupt, "booleans of %d bytes in a page of %d", n, len(body))
	}
	return &booleans{newHybrid(body[4:4+n], 1)}, nil
}

func (b *booleans) read(out []byte, at, n int) error {
	_, err := b.hybrid.bits(out, at, n)
	return err
}

func (b *booleans) skip(n int) error {
	_, err := b.hybrid.skipBits(n)
	return err
}
