package cuda

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/cuda/device"
	"github.com/skua-data/skua/kernels/cuda/ptx"
)

// chunk is a column chunk on its way to the device: the pages that have wanted rows, and the dictionary.
type chunk struct {
	levels  *levels // nil: the leaf is inside of nothing
	leaf    *leaf
	pages   []ptx.Page
	words   uint64 // of validity, all pages
	uses    map[uint64]bool
	packed  bool // pages are unpacked on the device
	column  ptx.Column
	columns uint64 // where it is
	status  device.Piece

	dictionary device.Piece
	entries    int
	head       cpu.Page // of the dictionary
	spans      device.Piece
	bytes      int64
	skipped    int64
	hasEntries bool
}

// loader puts pages into a slot.
type loader struct {
	slot    device.Slot
	runs    []kernels.Run // wanted rows
	onChip  bool          // Snappy and LZ4 are unpacked on the device
	current int           // the first run that may reach into what comes
}

// load reads the chunk's pages that have wanted rows.
func (l *loader) load(walk *cpu.Pages, f *leaf) (*chunk, error) {
	c := &chunk{leaf: f, uses: map[uint64]bool{}}
	if f.nest != nil {
		return c, l.loadAll(walk, c)
	}
	row, last := int64(0), l.runs[len(l.runs)-1].To
	for row < last {
		h, more, err := walk.Next()
		if err != nil {
			return nil, err
		}
		if !more {
			return nil, leave{"the chunk ends early"}
		}
		switch {
		case h.Dictionary:
			err = l.loadDictionary(walk, c, &h)
		case !l.wants(row, row+int64(h.Values)):
			c.skipped++
			err = walk.Skip(&h)
			row += int64(h.Values)
		default:
			err = l.loadPage(walk, c, &h, row)
			row += int64(h.Values)
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// wants says whether rows of a page are wanted. Pages come in order.
func (l *loader) wants(from, to int64) bool {
	for l.current < len(l.runs) && l.runs[l.current].To <= from {
		l.current++
	}
	return l.current < len(l.runs) && l.runs[l.current].From < to
}

// body puts a page's body, unpacked, into the slot.
func (l *loader) body(walk *cpu.Pages, h *cpu.Page) (device.Piece, error) {
	if err := walk.Fetch(h); err != nil {
		return device.Piece{}, err
	}
	p, ok := l.slot.In(h.Size + ptx.Padding)
	if !ok {
		return p, errFull
	}
	clear(p.Bytes[h.Size:])
	return p, walk.Unpack(h, p.Bytes[:h.Size:h.Size])
}

func (l *loader) loadPage(walk *cpu.Pages, c *chunk, h *cpu.Page, row int64) error {
	encoding, known := c.leaf.encoding(h.Encoding)
	levels := c.leaf.column.MaxDefinitionLevel() > 0
	switch {
	case !known:
		return leave{"the encoding " + h.Encoding.String()}
	case encoding == ptx.Dictionary && !c.hasEntries:
		return leave{"a page needs a dictionary and there is none"}
	case levels && !h.V2 && !h.LevelsInRuns:
		return leave{"levels of another encoding"}
	}
	p := ptx.Page{Version: 1, Rows: uint64(h.Values), Row0: uint64(row), Encoding: encoding, Word0: c.words, BodyLen: uint64(h.Size),
		RepLen: uint64(h.RepLength), DefLen: uint64(h.DefLength)}
	if h.V2 {
		p.Version = 2
		if c.leaf.lists() {
			p.Lists = uint64(h.Rows)
		}
	}
	c.words += uint64(words(h.Values) / 4)
	if err := l.place(walk, c, h, &p); err != nil {
		return err
	}
	if size := c.leaf.denseBytes(encoding) * h.Values; size > 0 {
		piece, ok := l.slot.Scratch(size)
		if !ok {
			return errFull
		}
		p.Dense = piece.Addr
	}
	if encoding == ptx.DeltaText {
		piece, ok := l.slot.Scratch(ptx.JoinedBytes * h.Values)
		if !ok {
			return errFull
		}
		p.Joined = piece.Addr
	}
	c.uses[encoding] = true
	c.pages = append(c.pages, p)
	return nil
}

// place puts the body where kernels find it, or what they unpack.
func (l *loader) place(walk *cpu.Pages, c *chunk, h *cpu.Page, p *ptx.Page) error {
	codec := uint64(ptx.Unpacked)
	switch h.Codec {
	case compress.Codecs.Snappy:
		codec = ptx.Snappy
	case compress.Codecs.Lz4Raw:
		codec = ptx.LZ4
	}
	if codec == ptx.Unpacked || !l.onChip {
		body, err := l.body(walk, h)
		p.Body = body.Addr
		c.bytes += int64(h.Size)
		return err
	}
	if err := walk.Fetch(h); err != nil {
		return err
	}
	packed, ok := l.slot.In(len(walk.Packed()) + ptx.Padding)
	if !ok {
		return errFull
	}
	clear(packed.Bytes[copy(packed.Bytes, walk.Packed()):])
	body, ok := l.slot.Scratch(h.Size + ptx.Padding)
	if !ok {
		return errFull
	}
	p.Codec, p.Packed, p.PackedLen, p.Body, p.Flat = codec, packed.Addr, uint64(len(walk.Packed())), body.Addr, uint64(h.Flat())
	c.packed = true
	c.bytes += int64(len(walk.Packed()))
	return nil
}

// denseBytes is what a value takes that is decoded before it is gathered.
func (l *leaf) denseBytes(encoding uint64) int {
	switch {
	case encoding == ptx.Dictionary || encoding == ptx.RLE:
		return 4
	case encoding == ptx.Delta || encoding == ptx.DeltaText:
		return l.stored
	case (encoding == ptx.Plain || encoding == ptx.DeltaLength) && l.form == cpu.TextForm:
		return 8
	}
	return 0
}

func (l *loader) loadDictionary(walk *cpu.Pages, c *chunk, h *cpu.Page) error {
	plain := h.Encoding == parquet.Encodings.Plain || h.Encoding == parquet.Encodings.PlainDict
	if c.hasEntries || !plain || c.leaf.form == cpu.BitForm {
		return leave{"an odd dictionary"}
	}
	body, err := l.body(walk, h)
	if err != nil {
		return err
	}
	c.dictionary, c.entries, c.head, c.hasEntries = body, h.Values, *h, true
	c.bytes += int64(h.Size)
	if c.leaf.form != cpu.TextForm {
		if h.Values*c.leaf.stored > h.Size {
			return leave{"a dictionary that is too short"}
		}
		return nil
	}
	return l.loadSpans(c, body.Bytes[:h.Size])
}

// loadSpans says where a dictionary's texts lie.
func (l *loader) loadSpans(c *chunk, body []byte) error {
	if 4*c.entries > len(body) {
		return leave{"a dictionary that is too short"}
	}
	spans, ok := l.slot.In(8 * c.entries)
	if !ok {
		return errFull
	}
	at := 0
	for i := range c.entries {
		if at+4 > len(body) {
			return leave{"a dictionary that is too short"}
		}
		n := binary.LittleEndian.Uint32(body[at:])
		if at += 4; n > math.MaxInt32 || int(n) > len(body)-at {
			return leave{"a dictionary that is too short"}
		}
		binary.LittleEndian.PutUint64(spans.Bytes[8*i:], uint64(at)|uint64(n)<<32)
		at += int(n)
	}
	c.spans = spans
	return nil
}
