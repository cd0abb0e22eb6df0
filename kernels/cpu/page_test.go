package cpu

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	format "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/pierrec/lz4/v4"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/kernels/pages"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/parquet"
)

// counting runs unpackers and counts their calls.
func counting(d *Decoder, id compress.Compression, calls *int) unpacker {
	inner := codecOf(id).new(&d.codecs)
	return func(dst, src []byte) error {
		*calls++
		return inner(dst, src)
	}
}

func TestPagesWithoutSurvivorsAreNotUnpacked(t *testing.T) {
	for _, nested := range []bool{false, true} {
		for _, version := range []format.DataPageVersion{format.DataPageV1, format.DataPageV2} {
			typ := arrow.DataType(arrow.PrimitiveTypes.Int64)
			if nested {
				typ = arrow.ListOfField(kernelstest.Field(2, "element", arrow.BinaryTypes.String, true))
			}
			fields := []arrow.Field{kernelstest.Field(1, "c", typ, true)}
			batch := kernelstest.Random(fields, 40_000, 0.1, 1, memory.DefaultAllocator)
			groups, err := groupsOf(kernelstest.Write(t, batch, kernelstest.Layout{Options: []format.WriterProperty{
				format.WithDataPageVersion(version), format.WithDictionaryDefault(false), format.WithDataPageSize(900), format.WithCompression(compress.Codecs.Snappy)}}))
			batch.Release()
			if err != nil {
				t.Fatal(err)
			}
			unpacked := func(sel *kernels.Selection) int {
				d := New()
				defer d.Close()
				r := &reader{decoder: d, rg: groups[0], mem: overwritten{memory.DefaultAllocator}, over: func() error { return nil },
					scratch: &scratch{pool: &d.pool}, columns: make([]*column, 1)}
				c := &column{reader: r, node: &groups[0].Columns[0].Node}
				if err := c.open(); err != nil {
					t.Fatal(err)
				}
				calls := 0
				for _, l := range c.order {
					l.pages.unpack = counting(d, compress.Codecs.Snappy, &calls)
				}
				a, err := c.survivors(context.Background(), sel)
				if err != nil {
					t.Fatal(err)
				}
				a.Release()
				c.close()
				return calls
			}
			all, one := unpacked(kernels.All(40_000)), unpacked(kernels.NewSelection([]kernels.Run{{From: 30_000, To: 30_001}}))
			if all < 20 {
				t.Fatalf("only %d pages", all)
			}
			if most := 2; one > most && (!nested || version == format.DataPageV2) {
				t.Errorf("nested %t, %v: %d pages of %d unpacked for one row", nested, version, one, all)
			}
		}
	}
}

func TestLargeChunksAreReadInPieces(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 20 MB")
	}
	const rows = 1_400_000
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	for i := range int64(rows) {
		b.Append(i * 7919 % 1000_003)
	}
	a := b.NewArray()
	defer a.Release()
	fields := []arrow.Field{kernelstest.Field(1, "n", arrow.PrimitiveTypes.Int64, true)}
	batch := array.NewRecordBatch(arrow.NewSchema(fields, nil), []arrow.Array{a}, rows)
	defer batch.Release()
	for i, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Uncompressed, compress.Codecs.Snappy} {
		for _, dictionary := range []bool{false, true} {
			groups, err := groupsOf(kernelstest.Write(t, batch, kernelstest.Layout{RowGroup: rows, Options: []format.WriterProperty{
				format.WithDictionaryDefault(dictionary), format.WithMaxRowGroupLength(rows), format.WithCompression(codec)}}))
			if err != nil {
				t.Fatal(err)
			}
			groups[0].Near = i > 1
			mem := kernelstest.NewSoiled()
			ctx := resource.With(context.Background(), resource.NewPool(resource.Config{Allocator: mem}).NewStatement("large"))
			d := New()
			sel := kernels.NewSelection([]kernels.Run{{From: 5, To: 100_000}, {From: 700_000, To: 700_003}, {From: 900_000, To: rows}})
			got, err := readColumn(ctx, d, groups[0], 0, sel, 65536)
			if err != nil {
				t.Fatal(err)
			}
			at := 0
			var column arrow.Array
			for i, run := range sel.Runs() {
				for row := run.From; row < run.To; row++ {
					if column = got[at/65536]; column.(*array.Int64).Value(at%65536) != row*7919%1000_003 {
						t.Fatalf("%s, run %d, row %d is %s", codec, i, row, column.ValueStr(at%65536))
					}
					at++
				}
			}
			releaseAll(got)
			mem.AssertSize(t, 0)
			if d.Close(); d.pool.kept().Idle() != 0 {
				t.Errorf("%d bytes stay after Close", d.pool.kept().Idle())
			}
		}
	}
}

func TestCodecsUnpackWhatTheyPacked(t *testing.T) {
	plain := bytes.Repeat([]byte("the same words again, and again "), 900)
	block := make([]byte, lz4.CompressBlockBound(len(plain)))
	n, err := lz4.CompressBlock(plain, block, nil)
	if err != nil {
		t.Fatal(err)
	}
	half := make([]byte, lz4.CompressBlockBound(len(plain)))
	m, err := lz4.CompressBlock(plain[:len(plain)/2], half, nil)
	if err != nil {
		t.Fatal(err)
	}
	frame := func(size, packed int, block []byte) []byte {
		out := binary.BigEndian.AppendUint32(nil, uint32(size))
		return append(binary.BigEndian.AppendUint32(out, uint32(packed)), block...)
	}
	var packed bytes.Buffer
	w := brotli.NewWriter(&packed)
	w.Write(plain)
	w.Close()
	encode := func(id compress.Compression) []byte {
		c, err := compress.GetCodec(id)
		if err != nil {
			t.Fatal(err)
		}
		return c.Encode(nil, plain)
	}
	d := New()
	defer d.Close()
	for _, c := range []struct {
		name string
		id   compress.Compression
		src  []byte
	}{
		{"snappy", compress.Codecs.Snappy, encode(compress.Codecs.Snappy)}, {"gzip", compress.Codecs.Gzip, encode(compress.Codecs.Gzip)},
		{"zstd", compress.Codecs.Zstd, encode(compress.Codecs.Zstd)}, {"brotli", compress.Codecs.Brotli, packed.Bytes()},
		{"lz4 raw", compress.Codecs.Lz4Raw, block[:n]}, {"lz4 in a frame", compress.Codecs.Lz4, frame(len(plain), n, block[:n])},
		{"lz4 in two frames", compress.Codecs.Lz4, append(frame(len(plain)/2, m, half[:m]), frame(len(plain)/2, m, half[:m])...)},
		{"lz4 without a frame", compress.Codecs.Lz4, block[:n]},
	} {
		unpack := codecOf(c.id).new(&d.codecs)
		for range 2 { // the second time with what was kept of the first
			dst := make([]byte, len(plain))
			if err := unpack(dst, c.src); err != nil || !bytes.Equal(dst, plain) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		for _, size := range []int{0, len(plain) - 1, len(plain) + 1} {
			if err := unpack(make([]byte, size), c.src); err == nil {
				t.Errorf("%s: %d bytes are %d", c.name, len(plain), size)
			}
		}
		for cut := range c.src {
			if cut%7 == 0 {
				if err := unpack(make([]byte, len(plain)), c.src[:cut]); err == nil {
					t.Errorf("%s: cut at %d of %d goes unnoticed", c.name, cut, len(c.src))
				}
			}
		}
	}
}

func TestPagesThatClaimTooMuchAreRefusedBeforeMemoryIsSetAside(t *testing.T) {
	field := kernelstest.Field(1, "n", arrow.PrimitiveTypes.Int64, true)
	batch := kernelstest.Random([]arrow.Field{field}, 10, 0, 1, memory.DefaultAllocator)
	defer batch.Release()
	groups, err := groupsOf(kernelstest.Write(t, batch, kernelstest.Layout{Options: []format.WriterProperty{format.WithCompression(compress.Codecs.Snappy)}}))
	if err != nil {
		t.Fatal(err)
	}
	g := groups[0]
	for _, h := range []pages.Header{
		{Kind: pages.Data, Uncompressed: 1 << 29, Compressed: 20, Values: 10, DefEncoding: 3, RepEncoding: 3},
		{Kind: pages.Data, Uncompressed: 1 << 40, Compressed: 20, Values: 10, DefEncoding: 3, RepEncoding: 3},
		{Kind: pages.Data, Uncompressed: 100, Compressed: 1 << 20, Values: 10, DefEncoding: 3, RepEncoding: 3},
		{Kind: pages.Data, Uncompressed: 100, Compressed: 20, Values: 11, DefEncoding: 3, RepEncoding: 3},
		{Kind: pages.DataV2, Uncompressed: 100, Compressed: 20, Values: 10, Rows: 10, DefLength: 21},
		{Kind: pages.Dictionary, Uncompressed: 1 << 29, Compressed: 20, Values: 1 << 26},
	} {
		file := append(kernelstest.EncodeHeader(h), make([]byte, 20)...)
		m := g.Metadata.RowGroups[0].Columns[0].MetaData
		m.DataPageOffset, m.DictionaryPageOffset, m.TotalCompressedSize = 0, nil, int64(len(file))
		g.File = bytes.NewReader(file)
		d := New()
		_, err := readColumn(context.Background(), d, g, 0, kernels.All(10), 10)
		if !fault.Is(err, fault.Corrupt) && !fault.Is(err, fault.Unsupported) {
			t.Errorf("%+v: %v", h, err)
		}
		if d.pool.kept().Idle() > 1<<20 {
			t.Errorf("%+v: %d bytes were set aside", h, d.pool.kept().Idle())
		}
	}
}

// TestRowsThatSpanPages reads rows that go on over several pages of version 1, whole and with rows left out before and between.
func TestRowsThatSpanPages(t *testing.T) {
	element := kernelstest.Field(2, "element", arrow.PrimitiveTypes.Int64, true)
	field := kernelstest.Field(1, "c", arrow.ListOfField(element), true)
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{field}, nil))
	defer b.Release()
	lists := b.Field(0).(*array.ListBuilder)
	for i := range 60 {
		if i%7 == 3 {
			lists.AppendNull()
			continue
		}
		lists.Append(true)
		for j := range i * 13 % 41 {
			lists.ValueBuilder().(*array.Int64Builder).Append(int64(100*i + j))
		}
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	groups, err := groupsOf(kernelstest.Write(t, batch, kernelstest.Layout{Options: []format.WriterProperty{format.WithDataPageVersion(format.DataPageV1),
		format.WithDictionaryDefault(false), format.WithDataPageSize(40), format.WithBatchSize(7)}}))
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := New(), parquet.NewFallback()
	defer ours.Close()
	for _, sel := range []*kernels.Selection{kernels.All(60), kernels.NewSelection([]kernels.Run{{From: 2, To: 3}, {From: 9, To: 10}, {From: 30, To: 60}}),
		kernels.NewSelection([]kernels.Run{{From: 59, To: 60}})} {
		for _, step := range []int64{1, 4, 60} {
			if out := agree(t, ours, theirs, groups[0], 0, sel, step); out.ours != nil || out.theirs != nil {
				t.Errorf("%d rows by %d: %v, %v", sel.Count(), step, out.ours, out.theirs)
			}
		}
	}
}
