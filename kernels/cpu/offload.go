package cpu

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/convert"
	"github.com/skua-data/skua/kernels/pages"
)

// Form says how a leaf's stored values become those of a target type, as far as a decoder elsewhere may want to do it.
type Form uint8

// The forms.
const (
	OtherForm    Form = iota // for this decoder alone
	SameBytes                // fixed values, the same bytes
	Widened                  // signed integers of 4 bytes to 8
	DecimalInt               // integers to decimals of 16 bytes
	DecimalFixed             // big-endian numbers of up to 16 bytes to decimals of 16
	TextForm                 // byte strings, the same bytes
	BitForm                  // booleans
)

// FormOf gives the form of a leaf as a target type, with the bytes of a stored fixed value.
func FormOf(c *schema.Column, target arrow.DataType) (f Form, stored int) {
	v := conversionOf(c, target)
	switch {
	case v == nil || v.text != nil:
		return OtherForm, 0
	case v.shape == bitShape:
		return BitForm, 0
	case v.shape == textShape && v.stored.shape() == textShape:
		return TextForm, 0
	case v.shape == fixedShape && v.fixed == nil:
		return SameBytes, v.stored.width
	}
	switch t := target.(type) {
	case *arrow.Int64Type:
		if _, signed, _ := convert.Integer(c, 32); signed && c.PhysicalType() == parquet.Types.Int32 {
			return Widened, 4
		}
	case *arrow.Decimal128Type:
		check, _ := convert.DecimalOf(c, t)
		switch {
		case check != 0:
		case c.PhysicalType() == parquet.Types.FixedLenByteArray && v.stored.width <= 16:
			return DecimalFixed, v.stored.width
		case c.PhysicalType() != parquet.Types.FixedLenByteArray:
			return DecimalInt, v.stored.width
		}
	}
	return OtherForm, 0
}

// Page is what a page's header says, within the limits that this decoder has.
type Page struct {
	Dictionary   bool // else data
	V2           bool
	Packed, Size int // bytes, packed and not
	Values       int // nulls included; entries of a dictionary
	Rows         int // V2: those that begin in it
	Encoding     parquet.Encoding
	RepLength    int // V2
	DefLength    int // V2
	Codec        compress.Compression
	LevelsInRuns bool // V1: levels are of the one encoding that is known
	header       pages.Header
}

// Pages walks the pages of a column chunk for a decoder elsewhere. It reads forward and is used by one goroutine at a time.
type Pages struct {
	pages  *pageReader
	codec  compress.Compression
	packed []byte
}

// OpenPages opens a column chunk.
func (d *Decoder) OpenPages(rg *kernels.RowGroup, leaf int) (*Pages, error) {
	p, err := d.openPages(rg, leaf, &scratch{pool: &d.pool})
	if err != nil {
		return nil, err
	}
	return &Pages{pages: p, codec: compress.Compression(rg.Metadata.RowGroups[rg.Ordinal].Columns[leaf].MetaData.Codec)}, nil
}

// Next gives the header of the next page, whose body is to be fetched or left out before the next call; false at the end.
func (p *Pages) Next() (Page, bool, error) {
	h, more, err := p.pages.Next()
	if err != nil || !more {
		return Page{}, false, err
	}
	out := Page{Dictionary: !h.IsData, V2: h.Kind == pages.DataV2, Packed: int(h.Compressed), Size: int(h.Uncompressed), Values: int(h.Values), Rows: int(h.Rows),
		Encoding: parquet.Encoding(h.Encoding), RepLength: int(h.RepLength), DefLength: int(h.DefLength), Codec: p.codec, header: h,
		LevelsInRuns: parquet.Encoding(h.DefEncoding) == parquet.Encodings.RLE && (p.pages.Column.MaxRepetitionLevel() == 0 || parquet.Encoding(h.RepEncoding) == parquet.Encodings.RLE)}
	if p.pages.plain(&h) {
		out.Codec = compress.Codecs.Uncompressed
	}
	return out, true, nil
}

// Skip leaves the page's body out.
func (p *Pages) Skip(h *Page) error { return p.pages.Pass(&h.header) }

// Fetch gives the page's body as it is stored, good until the next call of the walker.
func (p *Pages) Fetch(h *Page) (err error) {
	if p.packed, err = p.pages.Chunk.Take(h.header.Compressed); err != nil {
		return err
	}
	return h.header.Verify(p.packed)
}

// Packed is the body that was fetched.
func (p *Pages) Packed() []byte { return p.packed }

// Unpack writes the body that was fetched, unpacked, to the front of out, which has room for it.
func (p *Pages) Unpack(h *Page, out []byte) error {
	out = out[:h.Size]
	if h.Codec == compress.Codecs.Uncompressed {
		if h.Packed != h.Size {
			return fault.New(fault.Corrupt, "an unpacked page of %d bytes that says %d", h.Packed, h.Size)
		}
		copy(out, p.packed)
		return nil
	}
	flat := h.Flat()
	copy(out, p.packed[:flat])
	if values := out[flat:]; len(values) > 0 || len(p.packed) > flat { // else a page of nulls
		if err := p.pages.unpack(values, p.packed[flat:]); err != nil {
			return fault.New(fault.Corrupt, "unpack a page: %w", err)
		}
	}
	return nil
}

// Flat is how many bytes at the front of a page are never packed.
func (h *Page) Flat() int {
	if h.V2 {
		return h.RepLength + h.DefLength
	}
	return 0
}

// Close gives the memory back.
func (p *Pages) Close() { p.pages.close() }

// DictionaryArray gives the entries of an unpacked dictionary in a target type.
func DictionaryArray(c *schema.Column, target arrow.DataType, h *Page, body []byte, mem memory.Allocator) (arrow.Array, error) {
	v := conversionOf(c, target)
	if v == nil || v.shape == bitShape {
		return nil, typeError(c.PhysicalType(), target)
	}
	if h.Encoding != parquet.Encodings.Plain && h.Encoding != parquet.Encodings.PlainDict {
		return nil, fault.New(fault.Unsupported, "a dictionary encoded as %s is not supported", h.Encoding)
	}
	if least := max(v.stored.width, 1); h.Values*least > len(body) {
		return nil, fault.New(fault.Corrupt, "a dictionary of %d values in %d bytes", h.Values, len(body))
	}
	values := v.newVector(mem, func() error { return nil }, indexBlock)
	defer values.drop()
	if err := values.open(parquet.Encodings.Plain, body, nil); err != nil {
		return nil, err
	}
	if err := values.read(h.Values); err != nil {
		return nil, err
	}
	buffers := append([]*memory.Buffer{nil}, values.take()...)
	data := array.NewData(target, h.Values, buffers, nil, 0, 0)
	defer data.Release()
	for _, b := range buffers[1:] {
		b.Release()
	}
	return array.MakeFromData(data), nil
}
