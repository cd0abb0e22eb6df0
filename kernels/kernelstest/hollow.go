package kernelstest

import (
	"bytes"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/pages"
)

// Hollow lays data pages without values, of both versions, in front of every data page of row groups and behind the last one. What is in them means
// nothing. The metadata of the groups changes.
func Hollow(t testing.TB, groups []*kernels.RowGroup) {
	t.Helper()
	var empty []byte
	for _, h := range []pages.Header{
		{Kind: pages.Data, DefEncoding: int64(parquet.Encodings.RLE), RepEncoding: int64(parquet.Encodings.RLE), Compressed: 11, Uncompressed: 11},
		{Kind: pages.DataV2, Encoding: int64(parquet.Encodings.RLEDict), Compressed: 1, Uncompressed: 0},
		{Kind: pages.DataV2},
	} {
		empty = append(append(empty, EncodeHeader(h)...), bytes.Repeat([]byte{0xff}, int(h.Compressed))...)
	}
	for _, g := range groups {
		var out []byte
		for _, chunk := range g.Metadata.RowGroups[g.Ordinal].Columns {
			m := chunk.MetaData
			start := m.DataPageOffset
			if at := m.DictionaryPageOffset; at != nil && *at > 0 && *at < start {
				start = *at
			}
			raw := make([]byte, m.TotalCompressedSize)
			if err := pages.ReadAt(g.File, raw, start); err != nil {
				t.Fatal(err)
			}
			out = append(out, "PAR1"...)
			begin, first := int64(len(out)), int64(0)
			for len(raw) > 0 {
				h, size, ok := pages.Parse(raw)
				if !ok {
					t.Fatal("a page has no header")
				}
				if h.IsData {
					if first == 0 {
						first = int64(len(out))
					}
					out = append(out, empty...)
				}
				size += int(h.Compressed)
				out, raw = append(out, raw[:size]...), raw[size:]
			}
			out = append(out, empty...)
			m.DataPageOffset, m.TotalCompressedSize = first, int64(len(out))-begin
			if first > begin {
				m.DictionaryPageOffset = &begin
			}
		}
		g.File = bytes.NewReader(out)
	}
}
