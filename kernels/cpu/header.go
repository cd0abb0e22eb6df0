package cpu

import (
	"hash/crc32"

	"github.com/skua-data/skua/fault"
)

// The page types of the format.
const (
	dataPage       = 0
	dictionaryPage = 2
	dataPageV2     = 3
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

// header is what of a page's header matters here. Its numbers are at least 0.
type header struct {
	kind                       int64
	uncompressed, compressed   int64
	values, encoding           int64
	defEncoding, repEncoding   int64 // V1
	nulls, rows                int64 // V2
	defLength, repLength       int64 // V2
	unpacked, hasContent, data bool  // unpacked: V2 values that are not compressed
	summed                     bool  // it has a checksum
	sum                        uint32
}

// verify compares a page's body as it is stored with the header's checksum, where there is one.
func (h *header) verify(packed []byte) error {
	if !h.summed {
		return nil
	}
	if sum := crc32.ChecksumIEEE(packed); sum != h.sum {
		return fault.New(fault.Corrupt, "the checksum of a page is %08x, and its header says %08x", sum, h.sum)
	}
	return nil
}

// parseHeader reads the header at the front of b and says how long it is; false where b ends before it does or it is malformed.
func parseHeader(b []byte) (h header, size int, ok bool) {
	t := thrift{b: b}
	var field int16
	for {
		typ := t.field(&field)
		if typ == 0 {
			break
		}
		switch {
		case typ <= thriftI64 && typ > thriftByte && field == 1:
			h.kind = t.number()
		case typ <= thriftI64 && typ > thriftByte && field == 2:
			h.uncompressed = t.number()
		case typ <= thriftI64 && typ > thriftByte && field == 3:
			h.compressed = t.number()
		case typ <= thriftI64 && typ > thriftByte && field == 4:
			h.summed, h.sum = true, uint32(t.zigzag())
		case typ == thriftStruct && (field == 5 || field == 7 || field == 8):
			h.hasContent = true
			h.content(&t, field)
		default:
			t.skip(typ, 1)
		}
	}
	h.data = h.kind == dataPage || h.kind == dataPageV2
	return h, t.at, !t.bad
}

// content reads the structure proper to a type of page.
func (h *header) content(t *thrift, kind int16) {
	var places []*int64
	switch kind {
	case 5:
		places = []*int64{&h.values, &h.encoding, &h.defEncoding, &h.repEncoding}
	case 7:
		places = []*int64{&h.values, &h.encoding}
	case 8:
		places = []*int64{&h.values, &h.nulls, &h.rows, &h.encoding, &h.defLength, &h.repLength}
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
			h.unpacked = true
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

// number reads a zigzag integer; the format has no use for negative ones.
func (t *thrift) zigzag() int64 {
	u := t.varint()
	return int64(u>>1) ^ -int64(u&1)
}

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

// header reads the next page's header; false at the end of the chunk.
func (p *pages) header() (h header, more bool, err error) {
	for want := int64(512); ; want *= 4 {
		b, err := p.chunk.fill(want)
		if err != nil || len(b) == 0 {
			return h, false, err
		}
		h, size, ok := parseHeader(b[:min(len(b), headerMost)])
		if ok {
			return h, true, p.chunk.pass(int64(size))
		}
		if int64(len(b)) < want || want > headerMost {
			return h, false, fault.New(fault.Corrupt, "malformed page header")
		}
	}
}
