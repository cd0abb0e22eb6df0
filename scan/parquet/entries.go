package parquet

import (
	"encoding/binary"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/pages"
)

// dictionaryEntries decodes the page of a leaf's dictionary to the type of its field; nil where the page is not a dictionary's, or not sound.
func (f *File) dictionaryEntries(ordinal int, n *kernels.Node, raw []byte) arrow.Array {
	column := f.metadata.Schema.Column(n.Leaf)
	h, size, ok := pages.Parse(raw)
	if !ok || h.Kind != pages.Dictionary || !h.HasContent || h.Compressed > int64(len(raw)-size) || h.Uncompressed > entriesMost {
		return nil
	}
	if id := parquet.Encoding(h.Encoding); id != parquet.Encodings.Plain && id != parquet.Encodings.PlainDict {
		return nil
	}
	body := raw[size:][:h.Compressed]
	if h.Verify(body) != nil {
		return nil
	}
	unpack, err := f.codecs.unpacker(compress.Compression(f.metadata.RowGroups[ordinal].Columns[n.Leaf].MetaData.Codec))
	if err != nil || unpack == nil && h.Compressed != h.Uncompressed {
		return nil
	}
	if unpack != nil {
		if body, err = unpack(make([]byte, h.Uncompressed), body); err != nil || int64(len(body)) != h.Uncompressed {
			return nil
		}
	}
	if h.Values > int64(len(body)) {
		return nil
	}
	v := plainValues(column, body, int(h.Values))
	if v == nil {
		return nil
	}
	defer v.release()
	to, _ := conversionOf(column, n.Field.Type)
	if to == nil {
		return nil
	}
	out, err := to(v, memory.DefaultAllocator)
	if err != nil {
		return nil
	}
	return out
}

// plainValues views n plain values, none of which is null; nil where body does not hold just these.
func plainValues(c *schema.Column, body []byte, n int) *values {
	width := c.PhysicalType().ByteSize()
	switch c.PhysicalType() {
	case parquet.Types.Boolean:
		return nil
	case parquet.Types.ByteArray:
		return plainTexts(c, body, n)
	case parquet.Types.FixedLenByteArray:
		width = c.TypeLength()
	}
	if width <= 0 || len(body) != n*width {
		return nil
	}
	buffer := memory.NewBufferBytes(slices.Clone(body)) // whose begin is aligned
	if c.PhysicalType() != parquet.Types.FixedLenByteArray {
		return &values{n: n, fixed: buffer}
	}
	defer buffer.Release()
	data := array.NewData(&arrow.FixedSizeBinaryType{ByteWidth: width}, n, []*memory.Buffer{nil, buffer}, nil, 0, 0)
	defer data.Release()
	return &values{n: n, bytes: array.MakeFromData(data)}
}

func plainTexts(c *schema.Column, body []byte, n int) *values {
	b := array.NewBinaryBuilder(memory.DefaultAllocator, binaryType(c).(arrow.BinaryDataType))
	defer b.Release()
	b.Reserve(n)
	for range n {
		if len(body) < 4 {
			return nil
		}
		length := int64(binary.LittleEndian.Uint32(body))
		if body = body[4:]; length > int64(len(body)) {
			return nil
		}
		b.Append(body[:length])
		body = body[length:]
	}
	if len(body) > 0 {
		return nil
	}
	return &values{n: n, bytes: b.NewArray()}
}
