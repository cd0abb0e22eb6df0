package cpu

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
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

// pages reads the pages of one column chunk forward. A page's body is fetched and unpacked only when it is asked for.
type pages struct {
	column *schema.Column
	pool   *scratch
	chunk  *chunk
	codec  *codec
	unpack unpacker
	all    int64  // values of the chunk
	left   int64  // values that it still owes
	body   []byte // of the current page, where it had to be unpacked or moved

	located []kernels.Page // nil: the chunk is walked from its begin to its end
	at      int            // page that comes next
	front   int64          // where the dictionary begins, in front of the pages; 0: it was read, or there is none
	rows    int64          // that the page has by the index; 0: it is the dictionary
}

func (d *Decoder) openPages(rg *kernels.RowGroup, index int, pool *scratch) (*pages, error) {
	column := rg.Metadata.Schema.Column(index)
	m := rg.Metadata.RowGroups[rg.Ordinal].Columns[index].MetaData
	c := codecOf(compress.Compression(m.Codec))
	if c == nil {
		return nil, fault.New(fault.Unsupported, "the Parquet codec %s is not supported", compress.Compression(m.Codec))
	}
	start := m.DataPageOffset
	if at := m.DictionaryPageOffset; at != nil && *at > 0 && *at < start {
		start = *at
	}
	end := start + m.TotalCompressedSize
	if rg.Metadata.WriterVersion().LessThan(metadata.Parquet816FixedVersion) { // those left a dictionary's header out of the size
		end = min(end+100, rg.Metadata.GetSourceFileSize())
	}
	near := int64(0)
	if rg.Near {
		near = d.near
	}
	p := &pages{column: column, pool: pool, chunk: newChunk(rg.File, start, end, near, pool), codec: c, all: m.NumValues, left: m.NumValues}
	if c.new != nil {
		p.unpack = c.new(&d.codecs)
	}
	if rg.Pages != nil {
		p.located = rg.Pages(index)
	}
	if p.located != nil {
		p.chunk.moves, p.chunk.near = true, 0
		if start < p.located[0].Offset {
			p.front = start
		}
	}
	return p, nil
}

// next gives the header of the next data or dictionary page, whose body is to be taken or passed before the next call; false at the end
// of the values. Pages of other types are left out.
func (p *pages) next() (header, bool, error) {
	for p.left > 0 && p.turn() {
		h, more, err := p.header()
		if err != nil || !more {
			return h, false, err
		}
		if !h.data && h.kind != dictionaryPage {
			if err := p.chunk.pass(h.compressed); err != nil {
				return h, false, err
			}
			continue
		}
		if err := p.check(&h); err != nil {
			return h, false, err
		}
		if p.located != nil && (h.data != (p.rows > 0) || h.data && h.values != p.rows) {
			return h, false, fault.New(fault.Corrupt, "a page of %d rows where the offset index has %d", h.values, p.rows)
		}
		if h.data {
			p.left -= h.values
		}
		return h, true, nil
	}
	return header{}, false, nil
}

// turn goes to the dictionary or the page that comes next, where it is known where pages lie; false: there is no other.
func (p *pages) turn() bool {
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

// check compares a header with the limits and with the chunk.
func (p *pages) check(h *header) error {
	switch {
	case !h.hasContent || h.compressed > p.chunk.left():
		return fault.New(fault.Corrupt, "a page of %d bytes where %d are left", h.compressed, p.chunk.left())
	case h.data && h.values > p.left:
		return fault.New(fault.Corrupt, "pages with more values than their column")
	case h.values > pageValues || h.uncompressed > pageBytes:
		return fault.New(fault.Unsupported, "Parquet pages of %d values and %d bytes are not supported", h.values, h.uncompressed)
	case h.kind == dataPageV2 && h.defLength+h.repLength > min(h.compressed, h.uncompressed):
		return fault.New(fault.Corrupt, "a page of %d bytes with levels of %d", h.compressed, h.defLength+h.repLength)
	case h.uncompressed > h.compressed*p.codec.ratio+1024:
		return fault.New(fault.Corrupt, "a page of %d bytes that cannot become %d", h.compressed, h.uncompressed)
	}
	return nil
}

// pass leaves a page's body out.
func (p *pages) pass(h *header) error { return p.chunk.pass(h.compressed) }

// take gives a data page's body, good until the next page's is taken.
func (p *pages) take(h *header) ([]byte, error) {
	defer p.chunk.settle()
	if p.chunk.moves && p.plain(h) && h.compressed == h.uncompressed {
		p.body = p.pool.grow(p.body, int(h.compressed))
		if err := p.chunk.read(p.body); err != nil {
			return nil, err
		}
		return p.body, h.verify(p.body)
	}
	packed, err := p.chunk.take(h.compressed)
	if err == nil {
		err = h.verify(packed)
	}
	if err != nil {
		return nil, err
	}
	return p.open(h, packed, &p.body)
}

// plain says whether a page needs no unpacking.
func (p *pages) plain(h *header) bool { return p.unpack == nil || h.unpacked }

// open unpacks a page into a buffer, which it may replace by a larger one. What needs no unpacking is not copied, if it stays where it is.
func (p *pages) open(h *header, packed []byte, into *[]byte) ([]byte, error) {
	if p.plain(h) {
		if h.compressed != h.uncompressed {
			return nil, fault.New(fault.Corrupt, "an unpacked page of %d bytes that says %d", h.compressed, h.uncompressed)
		}
		if !p.chunk.moves {
			return packed, nil
		}
		*into = p.pool.grow(*into, len(packed))
		copy(*into, packed)
		return *into, nil
	}
	flat := int64(0) // levels in front, which are never packed
	if h.kind == dataPageV2 {
		flat = h.defLength + h.repLength
	}
	*into = p.pool.grow(*into, int(h.uncompressed))
	out := *into
	copy(out, packed[:flat])
	if values := out[flat:]; len(values) > 0 || int64(len(packed)) > flat { // else a page of nulls
		if err := p.unpack(values, packed[flat:]); err != nil {
			return nil, fault.New(fault.Corrupt, "unpack a page: %w", err)
		}
	}
	return out, nil
}

func (p *pages) close() {
	p.chunk.close()
	p.pool.put(p.body)
	p.body = nil
}

// levelStreams splits a page into its levels and its values. The streams are empty where the column has no such levels.
func (p *pages) levelStreams(h *header, body []byte) (rep, def, values []byte, err error) {
	if h.kind == dataPageV2 {
		rep, def = body[:h.repLength], body[h.repLength:h.repLength+h.defLength]
		return rep, def, body[h.repLength+h.defLength:], nil
	}
	if p.column.MaxRepetitionLevel() > 0 {
		if rep, body, err = prefixed(h.repEncoding, body); err != nil {
			return nil, nil, nil, err
		}
	}
	if p.column.MaxDefinitionLevel() > 0 {
		if def, body, err = prefixed(h.defEncoding, body); err != nil {
			return nil, nil, nil, err
		}
	}
	return rep, def, body, nil
}

// prefixed cuts levels off that begin with their length.
func prefixed(encoding int64, body []byte) (levels, rest []byte, err error) {
	if parquet.Encoding(encoding) != parquet.Encodings.RLE {
		return nil, nil, fault.New(fault.Unsupported, "levels encoded as %s are not supported", parquet.Encoding(encoding))
	}
	if len(body) < 4 {
		return nil, nil, fault.New(fault.Corrupt, "levels in a page of %d bytes", len(body))
	}
	n := int64(binary.LittleEndian.Uint32(body))
	if n > int64(len(body)-4) {
		return nil, nil, fault.New(fault.Corrupt, "levels of %d bytes in a page of %d", n, len(body))
	}
	return body[4 : 4+n], body[4+n:], nil
}
