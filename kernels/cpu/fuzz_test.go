package cpu

import (
	"bytes"
	"context"
	"math/rand"
	"os"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	format "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/kernels/pages"
	"github.com/skua-data/skua/scan/parquet"
)

// pageFields are the columns that damaged pages are put into: every shape, without and with nulls and in a list.
func pageFields() []arrow.Field {
	types := []arrow.DataType{
		arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Boolean,
		arrow.BinaryTypes.String, &arrow.FixedSizeBinaryType{ByteWidth: 5}, &arrow.Decimal128Type{Precision: 9, Scale: 2}, &arrow.Decimal128Type{Precision: 30, Scale: 2},
	}
	var out []arrow.Field
	for _, t := range types {
		element := kernelstest.Field(2, "element", t, true)
		out = append(out, kernelstest.Field(1, "c", t, false), kernelstest.Field(1, "c", t, true), kernelstest.Field(1, "c", arrow.ListOfField(element), true))
	}
	return out
}

// pageSeed is a page with the dictionary before it.
type pageSeed struct {
	field      int
	page       pages.Header
	body       []byte
	dictionary pages.Header
	entries    []byte
}

// pageSeeds are pages of arrow-go's writer in every encoding.
func pageSeeds(f testing.TB) (out []pageSeed) {
	d := New()
	defer d.Close()
	for _, l := range kernelstest.Layouts() {
		l.Options = append(l.Options, format.WithCompression(compress.Codecs.Uncompressed))
		for i, field := range pageFields() {
			batch := kernelstest.Random([]arrow.Field{field}, 60, 0.2, int64(i), memory.DefaultAllocator)
			groups, err := groupsOf(kernelstest.Write(f, batch, l))
			batch.Release()
			if err != nil {
				f.Fatal(err)
			}
			out = append(out, seedOf(f, d, groups[0], i))
		}
	}
	return out
}

func seedOf(f testing.TB, d *Decoder, g *kernels.RowGroup, field int) pageSeed {
	s := pageSeed{field: field}
	p, err := d.openPages(g, 0, &scratch{pool: &d.pool})
	if err != nil {
		f.Fatal(err)
	}
	for {
		h, more, err := p.Next()
		if err != nil || !more {
			f.Fatal(more, err)
		}
		body, err := p.Chunk.Take(h.Compressed)
		if err != nil {
			f.Fatal(err)
		}
		if h.IsData {
			s.page, s.body = h, bytes.Clone(body)
			if h.Kind == pages.Data {
				s.page.Rows = rowsOf(f, p, &h, body)
			}
			return s
		}
		s.dictionary, s.entries = h, bytes.Clone(body)
	}
}

// rowsOf counts the rows of a page that does not say it.
func rowsOf(t testing.TB, p *pageReader, h *pages.Header, body []byte) int64 {
	if p.Column.MaxRepetitionLevel() == 0 {
		return h.Values
	}
	rep, _, _, err := p.levelStreams(h, body)
	levels, stream := make([]uint8, h.Values), newHybrid(rep, 1)
	if err == nil {
		err = stream.levels(levels)
	}
	if err != nil {
		t.Fatal(err)
	}
	return int64(bytes.Count(levels, []byte{0}))
}

// damage is a page of arbitrary bytes in the column of one of pageFields.
type damage struct {
	field, encoding                    uint8
	v2                                 bool
	values, rows, repLength, defLength uint16
	body                               []byte
	count                              uint16 // values of the dictionary
	entries                            []byte
}

func (s *pageSeed) damage() damage {
	return damage{
		field: uint8(s.field), encoding: uint8(s.page.Encoding), v2: s.page.Kind == pages.DataV2, values: uint16(s.page.Values), rows: uint16(s.page.Rows),
		repLength: uint16(s.page.RepLength), defLength: uint16(s.page.DefLength), body: s.body, count: uint16(s.dictionary.Values), entries: s.entries,
	}
}

// pageReaders read damaged pages with both decoders.
type pageReaders struct {
	ours, theirs kernels.Decoder
	templates    [][]byte // whole files, by field
}

func newPageReaders(t testing.TB) *pageReaders {
	p := &pageReaders{ours: New(), theirs: parquet.NewFallback()}
	for _, field := range pageFields() {
		batch := kernelstest.Random([]arrow.Field{field}, 1, 0, 1, memory.DefaultAllocator)
		p.templates = append(p.templates, kernelstest.Write(t, batch, kernelstest.Layout{}))
		batch.Release()
	}
	return p
}

// read fails where both decoders give values and these differ, or where ours fails in a way that is our fault. It says whether both gave some.
func (p *pageReaders) read(t testing.TB, d damage) bool {
	t.Helper()
	field := int(d.field) % len(p.templates)
	groups, err := groupsOf(p.templates[field])
	if err != nil {
		t.Fatal(err)
	}
	page := pages.Header{Kind: pages.Data, Uncompressed: int64(len(d.body)), Compressed: int64(len(d.body)), Values: int64(d.values), Encoding: int64(d.encoding) % 10, DefEncoding: 3, RepEncoding: 3}
	if d.v2 {
		page.Kind, page.Rows, page.RepLength, page.DefLength = pages.DataV2, int64(d.rows), int64(d.repLength), int64(d.defLength)
	}
	var file []byte
	if d.count > 0 {
		dictionary := pages.Header{Kind: pages.Dictionary, Uncompressed: int64(len(d.entries)), Compressed: int64(len(d.entries)), Values: int64(d.count)}
		file = append(kernelstest.EncodeHeader(dictionary), d.entries...)
	}
	file = append(append(file, kernelstest.EncodeHeader(page)...), d.body...)
	g := groups[0]
	m := g.Metadata.RowGroups[0].Columns[0].MetaData
	m.Codec, m.NumValues, m.DataPageOffset, m.DictionaryPageOffset, m.TotalCompressedSize = 0, int64(d.values), 0, nil, int64(len(file))
	g.File, g.Rows = bytes.NewReader(file), int64(d.values)
	if field%3 == 2 {
		g.Rows = int64(d.rows)
	}
	both := false
	for _, sel := range []*kernels.Selection{kernels.All(g.Rows), kernels.NewSelection([]kernels.Run{{From: 3, To: 5}, {From: 9, To: g.Rows}})} {
		out := agree(t, p.ours, p.theirs, g, 0, sel, max(sel.Count(), 1))
		blame(t, out.ours)
		both = both || out == outcome{}
	}
	return both
}

// FuzzPages reads a page of arbitrary bytes with both decoders: an error, or the same values.
func FuzzPages(f *testing.F) {
	for _, s := range pageSeeds(f) {
		d := s.damage()
		f.Add(d.field, d.v2, d.encoding, d.values, d.rows, d.repLength, d.defLength, d.body, d.count, d.entries)
	}
	p := newPageReaders(f)
	f.Fuzz(func(t *testing.T, field uint8, v2 bool, encoding uint8, values, rows, repLength, defLength uint16, body []byte, count uint16, entries []byte) {
		p.read(t, damage{field, encoding, v2, values, rows, repLength, defLength, body, count, entries})
	})
}

// TestDamagedPagesAreErrorsOrReadAlike damages pages at random; SKUA_DAMAGE says how often each.
func TestDamagedPagesAreErrorsOrReadAlike(t *testing.T) {
	times := 20
	if n, err := strconv.Atoi(os.Getenv("SKUA_DAMAGE")); err == nil {
		times = n
	}
	p, r := newPageReaders(t), rand.New(rand.NewSource(int64(times)))
	whole, alike := 0, 0
	for _, s := range pageSeeds(t) {
		d := s.damage()
		if !p.read(t, d) {
			t.Errorf("a whole page of field %d in encoding %d is not read by both", d.field, d.encoding)
		}
		whole++
		for range times {
			if p.read(t, d.at(r)) {
				alike++
			}
		}
	}
	if whole == 0 || alike == 0 {
		t.Errorf("%d whole pages, %d damaged ones read", whole, alike)
	}
}

// at damages a page somewhere.
func (d damage) at(r *rand.Rand) damage {
	d.body, d.entries = bytes.Clone(d.body), bytes.Clone(d.entries)
	for range 1 + r.Intn(3) {
		in := d.body
		if r.Intn(4) == 0 {
			in = d.entries
		}
		if len(in) == 0 {
			continue
		}
		at := r.Intn(len(in))
		if r.Intn(2) == 0 {
			at = min(at, r.Intn(12)) // where lengths and widths are
		}
		switch r.Intn(3) {
		case 0:
			in[at] ^= 1 << r.Intn(8)
		case 1:
			in[at] = byte(r.Intn(256))
		case 2:
			in[at] = []byte{0, 1, 0x7f, 0x80, 0xff}[r.Intn(5)]
		}
	}
	switch r.Intn(12) {
	case 0:
		d.body = d.body[:r.Intn(len(d.body)+1)]
	case 1:
		d.values = uint16(r.Intn(200))
	case 2:
		d.rows = uint16(r.Intn(200))
	case 3:
		d.defLength = uint16(r.Intn(50))
	case 4:
		d.field = uint8(r.Intn(64))
	case 5:
		d.count = uint16(r.Intn(100))
	case 6:
		d.encoding = uint8(r.Intn(10))
	}
	return d
}

// blame fails on errors that blame us.
func blame(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		return
	}
	switch fault.KindOf(err) {
	case fault.Corrupt, fault.Unsupported, fault.Exhausted:
	default:
		t.Fatalf("kind %s: %v", fault.KindOf(err), err)
	}
	if bytes.Contains([]byte(err.Error()), []byte("panic")) {
		t.Fatal(err)
	}
}

// FuzzFiles reads damaged files with both decoders: an error, or the same values.
func FuzzFiles(f *testing.F) {
	for i, l := range kernelstest.Layouts() {
		l.RowGroup = 0
		for _, fields := range [][]arrow.Field{kernelstest.Flat(true)[:14], kernelstest.Nested()} {
			batch := kernelstest.Random(fields, 20, 0.2, int64(i), memory.DefaultAllocator)
			f.Add(kernelstest.Write(f, batch, l), uint32(7), byte(0))
			batch.Release()
		}
	}
	ours, theirs := New(), parquet.NewFallback()
	f.Fuzz(func(t *testing.T, data []byte, at uint32, flip byte) {
		if len(data) > 0 {
			data = bytes.Clone(data)
			data[int(at)%len(data)] ^= flip
		}
		groups, err := groupsOf(data)
		if err != nil {
			return
		}
		for _, g := range groups {
			for i, route := range ours.Route(g) {
				if route.Taken {
					blame(t, agree(t, ours, theirs, g, i, kernels.All(min(g.Rows, 3000)), 1000).ours)
				}
			}
		}
	})
}

func TestErrorsNameFileAndColumn(t *testing.T) {
	field := kernelstest.Field(1, "n", arrow.PrimitiveTypes.Int64, true)
	batch := kernelstest.Random([]arrow.Field{field}, 10, 0, 1, memory.DefaultAllocator)
	defer batch.Release()
	groups, err := groupsOf(kernelstest.Write(t, batch, kernelstest.Layout{}))
	if err != nil {
		t.Fatal(err)
	}
	g, whole := groups[0], groups[0].File
	d := New()
	defer d.Close()
	r, err := d.Open(context.Background(), g)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	g.Name, g.File = "s3://bucket/short.parquet", bytes.NewReader(nil)
	_, err = r.Read(context.Background(), []int{0}, kernels.All(10), 0, 10)
	if !fault.Is(err, fault.Corrupt) || !bytes.Contains([]byte(err.Error()), []byte("column n of s3://bucket/short.parquet")) {
		t.Errorf("%v", err)
	}
	g.File = whole // a new attempt starts again
	again, err := r.Read(context.Background(), []int{0}, kernels.All(10), 0, 10)
	if err != nil || again.NumRows() != 10 {
		t.Fatalf("%v, %v", again, err)
	}
	again.Release()
}
