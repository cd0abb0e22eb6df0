package cuda

import (
	"bytes"
	"math/rand"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	format "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/kernels/pages"
)

// rawPage is a page with its body as it is stored.
type rawPage struct {
	cpu.Page
	body []byte
}

// rawPages takes a column chunk apart.
func rawPages(t testing.TB, d *cpu.Decoder, g *kernels.RowGroup) (out []rawPage) {
	t.Helper()
	walk, err := d.OpenPages(g, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer walk.Close()
	for {
		h, more, err := walk.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return out
		}
		if err := walk.Fetch(&h); err != nil {
			t.Fatal(err)
		}
		out = append(out, rawPage{h, bytes.Clone(walk.Packed())})
	}
}

// header writes the page's header.
func (p *rawPage) header(lists bool) []byte {
	h := pages.Header{Kind: pages.Data, Uncompressed: int64(p.Size), Compressed: int64(len(p.body)), Values: int64(p.Values), Encoding: int64(p.Encoding),
		DefEncoding: int64(format.Encodings.RLE), RepEncoding: int64(format.Encodings.RLE)}
	switch {
	case p.Dictionary:
		h.Kind = pages.Dictionary
	case p.V2:
		h.Kind, h.Rows, h.DefLength, h.RepLength = pages.DataV2, h.Values, int64(p.DefLength), int64(p.RepLength)
		h.Unpacked = p.Codec == compress.Codecs.Uncompressed
		if lists {
			h.Rows = int64(p.Rows)
		}
	}
	return kernelstest.EncodeHeader(h)
}

// rebuild gives a row group whose only column has these pages. Of lists it has as many rows as before.
func rebuild(g *kernels.RowGroup, all []rawPage) *kernels.RowGroup {
	file := []byte("PAR1")
	rows, lists := 0, g.Columns[0].Node.Kind == kernels.List
	for i := range all {
		if !all[i].Dictionary {
			rows += all[i].Values
		}
		file = append(append(file, all[i].header(lists)...), all[i].body...)
	}
	metadata := *g.Metadata
	footer := *metadata.FileMetaData
	groups := append(footer.RowGroups[:0:0], footer.RowGroups...)
	group := *groups[0]
	group.Columns = append(group.Columns[:0:0], group.Columns...)
	chunk := *group.Columns[0]
	m := *chunk.MetaData
	start := int64(4)
	m.DataPageOffset, m.TotalCompressedSize, m.NumValues = start, int64(len(file))-start, int64(rows)
	m.DictionaryPageOffset = nil
	if all[0].Dictionary {
		m.DictionaryPageOffset = &start
	}
	chunk.MetaData, group.Columns[0], groups[0], footer.RowGroups, metadata.FileMetaData = &m, &chunk, &group, groups, &footer
	out := *g
	out.File, out.Metadata = bytes.NewReader(file), &metadata
	if !lists {
		out.Rows = int64(rows)
	}
	return &out
}

// cuts are row groups with pages that are cut short, that claim other numbers of values, or whose levels claim other lengths.
func cuts(t testing.TB, r *rand.Rand, n int) (out []*kernels.RowGroup) {
	t.Helper()
	d := cpu.New()
	defer d.Close()
	var seeds []*kernels.RowGroup
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Lz4Raw} {
		for i, l := range kernelstest.Layouts() {
			l.Options = append(l.Options[:len(l.Options):len(l.Options)], format.WithCompression(codec), format.WithStats(false))
			for j, f := range kernelstest.Flat(i%2 == 0) {
				batch := kernelstest.Random([]arrow.Field{f}, 40+7*j, 0.2, int64(100*i+j), memory.DefaultAllocator)
				seeds = append(seeds, openGroups(t, kernelstest.Write(t, batch, l), []arrow.Field{f})[0])
				batch.Release()
			}
		}
	}
	for i := range n {
		g := seeds[i%len(seeds)]
		raw := rawPages(t, d, g)
		p := &raw[r.Intn(len(raw))]
		switch r.Intn(6) {
		case 0, 1, 2: // the body ends early
			p.body = p.body[:r.Intn(len(p.body)+1)]
			if p.Codec == compress.Codecs.Uncompressed {
				p.Size = len(p.body)
			}
		case 3:
			p.Values = max(1, p.Values+r.Intn(41)-20)
		case 4:
			p.DefLength += r.Intn(9) - 4
			p.DefLength = max(p.DefLength, 0)
		default:
			p.Size = max(0, p.Size+r.Intn(9)-4)
		}
		out = append(out, rebuild(g, raw))
	}
	return out
}

// TestChunksAreRebuilt takes chunks apart and puts them together again: they read as before.
func TestChunksAreRebuilt(t *testing.T) {
	d := cpu.New()
	defer d.Close()
	for _, l := range kernelstest.Layouts() {
		for _, f := range kernelstest.Flat(true) {
			batch := kernelstest.Random([]arrow.Field{f}, 100, 0.2, 1, memory.DefaultAllocator)
			g := openGroups(t, kernelstest.Write(t, batch, l), []arrow.Field{f})[0]
			batch.Release()
			want, err := outcome(t.Context(), d, g, 0, kernels.All(g.Rows), g.Rows)
			if err != nil {
				t.Fatal(err)
			}
			got, err := outcome(t.Context(), d, rebuild(g, rawPages(t, d, g)), 0, kernels.All(g.Rows), g.Rows)
			if err != nil {
				t.Fatalf("%s, %s: %v", l.Name, f.Type, err)
			}
			if err := sameBuffers(got[0].Data(), want[0].Data()); err != nil {
				t.Errorf("%s, %s: %v", l.Name, f.Type, err)
			}
			got[0].Release()
			want[0].Release()
		}
	}
}
