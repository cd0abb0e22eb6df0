package parquet

import (
	"errors"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels/pages"
)

// pageReader reads the pages of one column chunk for arrow-go's record readers. Unlike arrow-go's own it believes no header before the page
// agrees, unpacks into memory of the statement and never beyond what the header says, and passes pages by without unpacking them.
type pageReader struct {
	*pages.Walk
	codec unpacker

	page       file.Page
	plain      *memory.Buffer // body of the current page, where it had to be unpacked or moved
	dictionary *memory.Buffer // decoders read it all the time
	pending    *pages.Header  // of a data page that pass met and left
	given      int64          // values of the pages given or passed by
	err        error
}

var _ file.PageReader = (*pageReader)(nil)

func (r *reader) openPages(index int) (*pageReader, error) {
	codec, err := r.decoder.unpacker(compress.Compression(r.rg.Metadata.RowGroups[r.rg.Ordinal].Columns[index].MetaData.Codec))
	if err != nil {
		return nil, err
	}
	return &pageReader{
		Walk: pages.Open(r.rg, index, pages.Options{Buffers: &buffers{mem: r.mem}}), codec: codec,
		plain: memory.NewResizableBuffer(r.mem), dictionary: memory.NewResizableBuffer(r.mem),
	}, nil
}

// Page is the current page.
func (p *pageReader) Page() file.Page { return p.page }

// Err tells why Next gave nothing; nil at the end.
func (p *pageReader) Err() error { return p.err }

// Next reads the next page.
func (p *pageReader) Next() bool {
	p.page = nil
	if p.err != nil {
		return false
	}
	h, more, err := p.header()
	if err == nil && more {
		err = p.open(&h)
	}
	if p.err = err; err != nil {
		p.page = nil
	}
	return p.page != nil
}

// header gives the header that pass left, or the next one.
func (p *pageReader) header() (pages.Header, bool, error) {
	if h := p.pending; h != nil {
		p.pending = nil
		return *h, true, nil
	}
	return p.Walk.Next()
}

// open reads a page's body.
func (p *pageReader) open(h *pages.Header) error {
	packed, err := p.Take(h)
	if err != nil {
		return err
	}
	if !h.IsData {
		return p.openDictionary(h, packed)
	}
	p.given += h.Values
	levels, flat := int64(-1), int64(0)
	if h.Kind == pages.DataV2 {
		levels = h.DefLength + h.RepLength
		flat = levels
	}
	body, err := p.body(h, packed, flat, p.plain)
	if err != nil {
		return err
	}
	encoding := parquet.Encoding(h.Encoding)
	if err := checkDelta(p.Column, encoding, body, int(levels)); err != nil {
		return err
	}
	b := memory.NewBufferBytes(body)
	if h.Kind == pages.Data {
		p.page = file.NewDataPageV1(b, int32(h.Values), encoding, parquet.Encoding(h.DefEncoding), parquet.Encoding(h.RepEncoding), int32(h.Uncompressed))
		return nil
	}
	p.page = file.NewDataPageV2(b, int32(h.Values), int32(h.Nulls), int32(h.Rows), encoding, int32(h.DefLength), int32(h.RepLength), int32(h.Uncompressed), !h.Unpacked)
	return nil
}

func (p *pageReader) openDictionary(h *pages.Header, packed []byte) error {
	body, err := p.body(h, packed, 0, p.dictionary)
	if err != nil {
		return err
	}
	if h.Values*leastBytes(p.Column) > int64(len(body)) {
		return fault.New(fault.Corrupt, "a dictionary of %d values in %d bytes", h.Values, len(body))
	}
	p.page = file.NewDictionaryPage(memory.NewBufferBytes(body), int32(h.Values), parquet.Encoding(h.Encoding))
	return nil
}

// body gives a page's bytes, the first flat of which are never packed. What needs no unpacking is not copied, if it stays where it is.
func (p *pageReader) body(h *pages.Header, packed []byte, flat int64, into *memory.Buffer) ([]byte, error) {
	if p.codec == nil || h.Unpacked {
		if h.Compressed != h.Uncompressed {
			return nil, fault.New(fault.Corrupt, "an unpacked page of %d bytes that says %d", h.Compressed, h.Uncompressed)
		}
		if !p.Chunk.Moves {
			return packed, nil
		}
		into.ResizeNoShrink(len(packed))
		copy(into.Bytes(), packed)
		return into.Bytes(), nil
	}
	into.ResizeNoShrink(int(h.Uncompressed))
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
	if p.Located() != nil {
		first, ok := p.Jump(p.given + n)
		if ok {
			passed, p.given = first-p.given, first
		}
		return passed, nil
	}
	for p.err == nil && passed < n {
		h, more, err := p.header()
		if err != nil || !more {
			return passed, err
		}
		if !h.IsData || h.Values > n-passed {
			p.pending = &h
			return passed, nil
		}
		if err := p.Pass(&h); err != nil {
			return passed, err
		}
		passed, p.given = passed+h.Values, p.given+h.Values
	}
	return passed, nil
}

// Close gives back all memory.
func (p *pageReader) Close() error {
	if p.plain == nil {
		return nil
	}
	p.Chunk.Close()
	p.plain.Release()
	p.dictionary.Release()
	p.plain, p.page, p.err = nil, nil, errors.New("closed")
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
