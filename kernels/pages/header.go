// Package pages walks the pages of a column chunk: the bytes of the chunk, the headers of pages with their limits, and where an offset index says that
// they lie. What is in a page it does not know, so that decoders which are oracles of each other for levels and encodings can share it.
package pages

import (
	"hash/crc32"

	"github.com/skua-data/skua/fault"
)

// The page types of the format that matter.
const (
	Data       = 0
	Dictionary = 2
	DataV2     = 3
)

const (
	headerMost  = 16 << 20 // bytes of a page header, which may hold long statistics
	thriftDepth = 32       // structures inside structures
)

// Wire types of thrift's compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
	thriftUUID   = 13
)

// Header is what of a page's header matters here. Its numbers are at least 0.
type Header struct {
	Kind                     int64 // Data, Dictionary, DataV2, or another that has no meaning here
	Uncompressed, Compressed int64 // bytes of the body
	Values, Encoding         int64 // nulls included
	DefEncoding, RepEncoding int64 // Data
	Nulls, Rows              int64 // DataV2
	DefLength, RepLength     int64 // DataV2; bytes
	Unpacked                 bool  // DataV2: values that are not compressed
	HasContent               bool  // there is the part that is proper to the type
	IsData                   bool  // of either version
	Summed                   bool  // it has a checksum
	Sum                      uint32
}

// Verify compares a page's body as it is stored with the header's checksum, where there is one.
func (h *Header) Verify(packed []byte) error {
	if !h.Summed {
		return nil
	}
	if sum := crc32.ChecksumIEEE(packed); sum != h.Sum {
		return fault.New(fault.Corrupt, "the checksum of a page is %08x, and its header says %08x", sum, h.Sum)
	}
	return nil
}

// Parse reads the header at the front of b and says how long it is; false where b ends before it does or it is malformed.
func Parse(b []byte) (h Header, size int, ok bool) {
	t := thrift{b: b}
	var field int16
	for {
		typ := t.field(&field)
		if typ == 0 {
			break
		}
		switch {
		case typ <= thriftI64 && typ > thriftByte && field == 1:
			h.Kind = t.number()
		case typ <= thriftI64 && typ > thriftByte && field == 2:
			h.Uncompressed = t.number()
		case typ <= thriftI64 && typ > thriftByte && field == 3:
			h.Compressed = t.number()
		case typ <= thriftI64 && typ > thriftByte && field == 4:
			h.Summed, h.Sum = true, uint32(t.zigzag())
		case typ == thriftStruct && (field == 5 || field == 7 || field == 8):
			h.HasContent = true
			h.content(&t, field)
		default:
			t.skip(typ, 1)
		}
	}
	h.IsData = h.Kind == Data || h.Kind == DataV2
	return h, t.at, !t.bad
}

// content reads the structure proper to a type of page.
func (h *Header) content(t *thrift, kind int16) {
	var places []*int64
	switch kind {
	case 5:
		places = []*int64{&h.Values, &h.Encoding, &h.DefEncoding, &h.RepEncoding}
	case 7:
		places = []*int64{&h.Values, &h.Encoding}
	case 8:
		places = []*int64{&h.Values, &h.Nulls, &h.Rows, &h.Encoding, &h.DefLength, &h.RepLength}
	}
	var field int16
	for {
		typ := t.field(&field)
		switch {
		case typ == 0:
			return
		case typ > thriftByte && typ <= thriftI64 && field >= 1 && int(field) <= len(places):
			*places[field-1] = t.number()
		case kind == 8 && field == 7 && typ == thriftFalse:
			h.Unpacked = true
		default:
			t.skip(typ, 2)
		}
	}
}

// thrift reads the compact protocol. After bad everything reads as zero and ends.
type thrift struct {
	b   []byte
	at  int
	bad bool
}

func (t *thrift) byte() byte {
	if t.at >= len(t.b) {
		t.bad = true
		return 0
	}
	t.at++
	return t.b[t.at-1]
}

func (t *thrift) varint() uint64 {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		c := t.byte()
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	t.bad = true
	return 0
}

// zigzag reads a signed integer.
func (t *thrift) zigzag() int64 {
	u := t.varint()
	return int64(u>>1) ^ -int64(u&1)
}

// number reads a signed integer; the format has no use for negative ones.
func (t *thrift) number() int64 {
	v := t.zigzag()
	if v < 0 {
		t.bad = true
		return 0
	}
	return v
}

func (t *thrift) advance(n uint64) {
	if n > uint64(len(t.b)-t.at) {
		t.bad = true
		return
	}
	t.at += int(n)
}

// field reads the head of a structure's next field and gives its type, 0 at the end.
func (t *thrift) field(id *int16) byte {
	head := t.byte()
	typ := head & 0x0f
	if typ == 0 || t.bad {
		return 0
	}
	if delta := int16(head >> 4); delta != 0 {
		*id += delta
		return typ
	}
	u := t.varint()
	*id = int16(int64(u>>1) ^ -int64(u&1))
	if t.bad {
		return 0
	}
	return typ
}

// skip consumes a value of a type.
func (t *thrift) skip(typ byte, depth int) {
	if depth > thriftDepth || t.bad {
		t.bad = true
		return
	}
	switch typ {
	case thriftTrue, thriftFalse:
	case thriftByte:
		t.advance(1)
	case thriftByte + 1, thriftByte + 2, thriftI64:
		t.varint()
	case thriftDouble:
		t.advance(8)
	case thriftUUID:
		t.advance(16)
	case thriftBinary:
		t.advance(t.varint())
	case thriftList, thriftSet:
		head := t.byte()
		size := uint64(head >> 4)
		if size == 15 {
			size = t.varint()
		}
		t.entries(size, depth, head&0x0f)
	case thriftMap:
		if size := t.varint(); size > 0 {
			types := t.byte()
			t.entries(size, depth, types>>4, types&0x0f)
		}
	case thriftStruct:
		var field int16
		for inner := t.field(&field); inner != 0; inner = t.field(&field) {
			t.skip(inner, depth+1)
		}
	default:
		t.bad = true
	}
}

// entries skips what is in a container, where a boolean takes a byte.
func (t *thrift) entries(size uint64, depth int, types ...byte) {
	if size > uint64(len(t.b)-t.at) {
		t.bad = true
	}
	for ; size > 0 && !t.bad; size-- {
		for _, typ := range types {
			if typ == thriftTrue || typ == thriftFalse {
				typ = thriftByte
			}
			t.skip(typ, depth+1)
		}
	}
}
