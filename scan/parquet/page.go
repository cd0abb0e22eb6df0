package parquet

import (
	"errors"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
)

// The limits of a page. Without them a header of a few bytes could ask for all memory, which ends the process.
const (
	pageValues = 64 << 20 // values of a page
	pageBytes  = 1 << 30  // bytes of a page, uncompressed
)

// pageReader reads the pages of one column chunk for arrow-go's record readers. Unlike arrow-go's own it believes no header before the page
// agrees, unpacks into memory of the statement and never beyond what the header says, and passes pages by without unpacking them.
type pageReader struct {
	column *schema.Column
	mem    memory.Allocator
	chunk  *chunk
	codec  unpacker

	page       file.Page
	plain      *memory.Buffer // body of the current page, where it had to be unpacked or moved
	dictionary *memory.Buffer // decoders read it all the time
	pending    *pageHeader    // of a data page that pass met and left
	left       int64          // values that the chunk still owes
	given      int64          // values of the pages given or passed by
	err        error

	located []kernels.Page // nil: the chunk is walked from its begin to its end
	at      int            // page that comes next
	front   int64          // where the dictionary begins, in front of the pages; 0: it was read, or there is none
	rows    int64          // that the page has by the index; 0: it is the dictionary
	all     int64          // values of the chunk
}

var _ file.PageReader = (*pageReader)(nil)

func (r *reader) openPages(index int) (*pageReader, error) {
	column := r.rg.Metadata.Schema.Column(index)
	m := r.rg.Metadata.RowGroups[r.rg.Ordinal].Columns[index].MetaData
	codec, err := r.decoder.unpacker(compress.Compression(m.Codec))
	if err != nil {
		return nil, err
	}
	start := m.DataPageOffset
	if d := m.DictionaryPageOffset; d != nil && *d > 0 && *d < start {
		start = *d
	}
	end := start + m.TotalCompressedSize
	if r.rg.Metadata.WriterVersion().LessThan(metadata.Parquet816FixedVersion) { // those left a dictionary's header out of the size
		end = min(end+100, r.rg.Metadata.GetSourceFileSize())
	}
	out := &pageReader{
		column: column, mem: r.mem, codec: codec, left: m.NumValues, chunk: newChunk(r.rg.File, start, end, r.mem),
		plain: memory.NewResizableBuffer(r.mem), dictionary: memory.NewResizableBuffer(r.mem),
	}
	if r.rg.Pages != nil {
		out.located = r.rg.Pages(index)
	}
	if out.all = m.NumValues; out.located != nil {
		out.chunk.moves = true
		if start < out.located[0].Offset {
			out.front = start
		}
	}
	return out, nil
}

// Page is the current page.
func (p *pageReader) Page() file.Page { return p.page }

// Err tells why Next gave nothing; nil at the end.
func (p *pageReader) Err() error { return p.err }

// Next reads the next page.
func (p *pageReader) Next() bool {
	p.page = nil
	for p.err == nil && p.left > 0 {
		h, more := p.pending, true
		if p.pending = nil; h == nil {
			if !p.turn() {
				return false
			}
			h = &pageHeader{}
			*h, more, p.err = p.header()
		}
		if !more || p.err != nil {
			return false
		}
		if p.err = p.open(h); p.page != nil && p.err == nil {
			return true
		}
	}
	p.page = nil
	return false
}

// turn goes to the dictionary or the page that comes next, where it is known where pages lie; false: there is no other.
func (p *pageReader) turn() bool {
	switch {
	case p.located == nil:
	case p.front > 0:
		p.chunk.seek(p.front, p.located[0].Offset-p.front)
		p.front, p.rows = 0, 0
	case p.at == len(p.located):
		return false
	default:
		p.chunk.seek(p.located[p.at].Offset, p.located[p.at].Length)
		p.rows = kernels.RowsOf(p.located, p.at, p.all)
		p.at++
	}
	return true
}

// jump goes to the page that has the value n ahead, where it is known where pages lie, and says how many values it passed by.
func (p *pageReader) jump(n int64) int64 {
	to := kernels.PageOf(p.located, p.given+n)
	if to < p.at {
		return 0
	}
	passed := p.located[to].FirstRow - p.given
	p.at, p.left, p.given = to, p.left-passed, p.given+passed
	return passed
}

// open reads a page's body; pages of other types are left out.
func (p *pageReader) open(h *pageHeader) error {
	if h.kind != dataPage && h.kind != dataPageV2 && h.kind != dictionaryPage {
		return p.chunk.pass(h.compressed)
	}
	if err := p.check(h); err != nil {
		return err
	}
	if data := h.kind != dictionaryPage; p.located != nil && (data != (p.rows > 0) || data && h.values != p.rows) {
		return fault.New(fault.Corrupt, "a page of %d rows where the offset index has %d", h.values, p.rows)
	}
	packed, err := p.chunk.take(h.compressed)
	if err == nil {
		err = h.verify(packed)
	}
	if err != nil {
		return err
	}
	if h.kind == dictionaryPage {
		return p.openDictionary(h, packed)
	}
	p.left, p.given = p.left-h.values, p.given+h.values
	levels, flat := int64(-1), int64(0)
	if h.kind == dataPageV2 {
		levels = h.defLength + h.repLength
		flat = levels
	}
	body, err := p.body(h, packed, flat, p.plain)
	if err != nil {
		return err
	}
	encoding := parquet.Encoding(h.encoding)
	if err := checkDelta(p.column, encoding, body, int(levels)); err != nil {
		return err
	}
	b := memory.NewBufferBytes(body)
	if h.kind == dataPage {
		p.page = file.NewDataPageV1(b, int32(h.values), encoding, parquet.Encoding(h.defEncoding), parquet.Encoding(h.repEncoding), int32(h.uncompressed))
		return nil
	}
	p.page = file.NewDataPageV2(b, int32(h.values), int32(h.nulls), int32(h.rows), encoding, int32(h.defLength), int32(h.repLength), int32(h.uncompressed), h.valuesCompressed)
	return nil
}

func (p *pageReader) openDictionary(h *pageHeader, packed []byte) error {
	body, err := p.body(h, packed, 0, p.dictionary)
	if err != nil {
		return err
	}
	if h.values*leastBytes(p.column) > int64(len(body)) {
		return fault.New(fault.Corrupt, "a dictionary of %d values in %d bytes", h.values, len(body))
	}
	p.page = file.NewDictionaryPage(memory.NewBufferBytes(body), int32(h.values), parquet.Encoding(h.encoding))
	return nil
}

// check compares a header with the limits and with the chunk.
func (p *pageReader) check(h *pageHeader) error {
	if !h.hasContent || h.compressed > p.chunk.left() {
		return fault.New(fault.Corrupt, "a page of %d bytes where %d are left", h.compressed, p.chunk.left())
	}
	if h.kind != dictionaryPage && h.values > p.left {
		return fault.New(fault.Corrupt, "pages with more values than their column")
	}
	if h.values > pageValues || h.uncompressed > pageBytes {
		return fault.New(fault.Unsupported, "Parquet pages of %d values and %d bytes are not supported", h.values, h.uncompressed)
	}
	if h.kind == dataPageV2 && h.defLength+h.repLength > min(h.compressed, h.uncompressed) {
		return fault.New(fault.Corrupt, "a page of %d bytes with levels of %d", h.compressed, h.defLength+h.repLength)
	}
	return nil
}

// body gives a page's bytes, the first flat of which are never packed. What needs no unpacking is not copied, if it stays where it is.
func (p *pageReader) body(h *pageHeader, packed []byte, flat int64, into *memory.Buffer) ([]byte, error) {
	if p.codec == nil || !h.valuesCompressed {
		if h.compressed != h.uncompressed {
			return nil, fault.New(fault.Corrupt, "an unpacked page of %d bytes that says %d", h.compressed, h.uncompressed)
		}
		if !p.chunk.moves {
			return packed, nil
		}
		into.ResizeNoShrink(len(packed))
		copy(into.Bytes(), packed)
		return into.Bytes(), nil
	}
	into.ResizeNoShrink(int(h.uncompressed))
	out := into.Bytes()
	copy(out, packed[:flat])
	values := out[flat:]
	if len(values) == 0 && int64(len(packed)) == flat {
		return out, nil // a page of nulls
	}
	got, err := p.codec(values, packed[flat:])
	if err != nil {
		return nil, fault.New(fault.Corrupt, "unpack a page: %w", err)
	}
	if len(got) != len(values) {
		return nil, fault.New(fault.Corrupt, "a page of %d bytes that says %d", len(got), len(values))
	}
	if len(got) > 0 && &got[0] != &values[0] {
		copy(values, got)
	}
	return out, nil
}

// leastBytes is how many bytes a plain value takes at least; 0 for bits.
func leastBytes(c *schema.Column) int64 {
	switch c.PhysicalType() {
	case parquet.Types.Boolean:
		return 0
	case parquet.Types.ByteArray:
		return 4
	case parquet.Types.FixedLenByteArray:
		return int64(c.TypeLength())
	}
	return int64(c.PhysicalType().ByteSize())
}

// pass leaves out whole data pages of up to n values and says how many values that were. It stops at a dictionary.
func (p *pageReader) pass(n int64) (passed int64, err error) {
	if p.located != nil {
		return p.jump(n), nil
	}
	for p.err == nil && p.left > 0 && passed < n {
		h := p.pending
		if h == nil {
			next, more, err := p.header()
			if err != nil || !more {
				return passed, err
			}
			h = &next
		}
		p.pending = nil
		data := h.kind == dataPage || h.kind == dataPageV2
		if !data && h.kind != dictionaryPage {
			if err := p.chunk.pass(h.compressed); err != nil {
				return passed, err
			}
			continue
		}
		if !data || h.values > n-passed || h.values > p.left || !h.hasContent {
			p.pending = h
			return passed, nil
		}
		if err := p.chunk.pass(h.compressed); err != nil {
			return passed, err
		}
		passed, p.left, p.given = passed+h.values, p.left-h.values, p.given+h.values
	}
	return passed, nil
}

// Close gives back all memory.
func (p *pageReader) Close() error {
	if p.chunk == nil {
		return nil
	}
	p.chunk.close()
	p.plain.Release()
	p.dictionary.Release()
	p.chunk, p.page, p.err = nil, nil, errors.New("closed")
	return nil
}

// GetDictionaryPage is for seeking readers; here dictionaries come in their turn.
func (p *pageReader) GetDictionaryPage() (*file.DictionaryPage, error) { return nil, nil }

// SeekToPageWithRow is not for these readers: they pass pages by instead.
func (p *pageReader) SeekToPageWithRow(int64) error {
	return fault.New(fault.Internal, "seek in a reader of pages")
}

// SetMaxPageHeaderSize has no effect; headers have a limit here.
func (p *pageReader) SetMaxPageHeaderSize(int) {}

// Reset is not for these readers, which read one chunk.
func (p *pageReader) Reset(parquet.BufferedReader, int64, compress.Compression, *file.CryptoContext) {
	p.err = fault.New(fault.Internal, "reset of a reader of pages")
}
