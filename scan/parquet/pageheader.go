package parquet

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

// headerMost is the most bytes of a page header, which may hold long statistics.
const headerMost = 16 << 20

// pageHeader is what of a page's header matters here. All numbers were tested for being at least 0.
type pageHeader struct {
	kind                         int64
	uncompressed, compressed     int64
	values, encoding             int64
	defEncoding, repEncoding     int64 // V1
	nulls, rows                  int64 // V2
	defLength, repLength         int64 // V2
	valuesCompressed, hasContent bool
	summed                       bool // it has a checksum
	sum                          uint32
}

// verify compares a page's body as it is stored with the header's checksum, where there is one.
func (h *pageHeader) verify(packed []byte) error {
	if !h.summed {
		return nil
	}
	if sum := crc32.ChecksumIEEE(packed); sum != h.sum {
		return fault.New(fault.Corrupt, "the checksum of a page is %08x, and its header says %08x", sum, h.sum)
	}
	return nil
}

// readHeader reads the header at the front of b and says how long it is; false where b ends before it does or it is malformed.
func readHeader(b []byte) (h pageHeader, size int64, ok bool) {
	h.valuesCompressed = true
	w := &thriftWalk{b: b}
	ok = w.structure(0, func(field int16, typ byte, depth int) bool {
		switch {
		case typ == thriftI32 && field >= 1 && field <= 3:
			return w.number([]*int64{&h.kind, &h.uncompressed, &h.compressed}[field-1])
		case typ == thriftI32 && field == 4:
			v, ok := w.varint()
			h.summed, h.sum = true, uint32(int64(v>>1)^-int64(v&1))
			return ok
		case typ == thriftStruct && (field == 5 || field == 7 || field == 8):
			h.hasContent = true
			return w.structure(depth, func(inner int16, typ byte, depth int) bool { return h.content(w, field, inner, typ, depth) })
		}
		return w.skip(typ, depth)
	})
	return h, int64(len(b) - len(w.b)), ok
}

// content reads a field of the header proper to a type of page.
func (h *pageHeader) content(w *thriftWalk, header, field int16, typ byte, depth int) bool {
	var places []*int64
	switch header {
	case 5:
		places = []*int64{&h.values, &h.encoding, &h.defEncoding, &h.repEncoding}
	case 7:
		places = []*int64{&h.values, &h.encoding}
	case 8:
		places = []*int64{&h.values, &h.nulls, &h.rows, &h.encoding, &h.defLength, &h.repLength}
		if field == 7 && (typ == thriftTrue || typ == thriftFalse) {
			h.valuesCompressed = typ == thriftTrue
			return true
		}
	}
	if typ == thriftI32 && field >= 1 && int(field) <= len(places) {
		return w.number(places[field-1])
	}
	return w.skip(typ, depth)
}

// number reads a zigzag integer; the format has no use for negative ones.
func (w *thriftWalk) number(to *int64) bool {
	v, ok := w.varint()
	*to = int64(v>>1) ^ -int64(v&1)
	return ok && *to >= 0
}

// header reads the next page's header; false at the end of the chunk.
func (p *pageReader) header() (h pageHeader, more bool, err error) {
	for want := int64(512); ; want *= 4 {
		b, err := p.chunk.fill(want)
		if err != nil {
			return h, false, err
		}
		if len(b) == 0 {
			return h, false, nil
		}
		h, size, ok := readHeader(b)
		if ok {
			return h, true, p.chunk.pass(size)
		}
		if int64(len(b)) < want || want > headerMost {
			return h, false, fault.New(fault.Corrupt, "malformed page header")
		}
	}
}
