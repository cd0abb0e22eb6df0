package cpu

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/pages"
)

const nearRead = 64 << 10 // bytes read at least of a file that is near

// pageReader reads the pages of one column chunk forward. A page's body is fetched and unpacked only when it is asked for.
type pageReader struct {
	*pages.Walk
	pool   *scratch
	unpack unpacker
	body   []byte // of the current page, where it had to be unpacked or moved
}

func (d *Decoder) openPages(rg *kernels.RowGroup, index int, pool *scratch) (*pageReader, error) {
	id := compress.Compression(rg.Metadata.RowGroups[rg.Ordinal].Columns[index].MetaData.Codec)
	c := codecOf(id)
	if c == nil {
		return nil, fault.New(fault.Unsupported, "the Parquet codec %s is not supported", id)
	}
	near := int64(0)
	if rg.Near {
		near = d.near
	}
	p := &pageReader{Walk: pages.Open(rg, index, pages.Options{Buffers: pool, Near: near, Ratio: c.ratio}), pool: pool}
	if c.new != nil {
		p.unpack = c.new(&d.codecs)
	}
	return p, nil
}

// take gives a data page's body, good until the next page's is taken.
func (p *pageReader) take(h *pages.Header) ([]byte, error) {
	defer p.Chunk.Settle()
	if p.Chunk.Moves && p.plain(h) && h.Compressed == h.Uncompressed {
		p.body = p.pool.grow(p.body, int(h.Compressed))
		if err := p.Chunk.Read(p.body); err != nil {
			return nil, err
		}
		return p.body, h.Verify(p.body)
	}
	packed, err := p.Take(h)
	if err != nil {
		return nil, err
	}
	return p.open(h, packed, &p.body)
}

// plain says whether a page needs no unpacking.
func (p *pageReader) plain(h *pages.Header) bool { return p.unpack == nil || h.Unpacked }

// open unpacks a page into a buffer, which it may replace by a larger one. What needs no unpacking is not copied, if it stays where it is.
func (p *pageReader) open(h *pages.Header, packed []byte, into *[]byte) ([]byte, error) {
	if p.plain(h) {
		if h.Compressed != h.Uncompressed {
			return nil, fault.New(fault.Corrupt, "an unpacked page of %d bytes that says %d", h.Compressed, h.Uncompressed)
		}
		if !p.Chunk.Moves {
			return packed, nil
		}
		*into = p.pool.grow(*into, len(packed))
		copy(*into, packed)
		return *into, nil
	}
	flat := int64(0) // levels in front, which are never packed
	if h.Kind == pages.DataV2 {
		flat = h.DefLength + h.RepLength
	}
	*into = p.pool.grow(*into, int(h.Uncompressed))
	out := *into
	copy(out, packed[:flat])
	if values := out[flat:]; len(values) > 0 || int64(len(packed)) > flat { // else a page of nulls
		if err := p.unpack(values, packed[flat:]); err != nil {
			return nil, fault.New(fault.Corrupt, "unpack a page: %w", err)
		}
	}
	return out, nil
}

func (p *pageReader) close() {
	p.Chunk.Close()
	p.pool.Put(p.body)
	p.body = nil
}

// levelStreams splits a page into its levels and its values. The streams are empty where the column has no such levels.
func (p *pageReader) levelStreams(h *pages.Header, body []byte) (rep, def, values []byte, err error) {
	if h.Kind == pages.DataV2 {
		rep, def = body[:h.RepLength], body[h.RepLength:h.RepLength+h.DefLength]
		return rep, def, body[h.RepLength+h.DefLength:], nil
	}
	if p.Column.MaxRepetitionLevel() > 0 {
		if rep, body, err = prefixed(h.RepEncoding, body); err != nil {
			return nil, nil, nil, err
		}
	}
	if p.Column.MaxDefinitionLevel() > 0 {
		if def, body, err = prefixed(h.DefEncoding, body); err != nil {
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
