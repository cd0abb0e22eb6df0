package cuda

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	format "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/s2"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/predicate"
)

// craft gives a row group of one page whose body is made here, in the column and encoding of a layout.
func craft(t testing.TB, f arrow.Field, encoding format.Encoding, values int, body []byte) *kernels.RowGroup {
	t.Helper()
	d := cpu.New()
	defer d.Close()
	batch := kernelstest.Random([]arrow.Field{f}, 90, 0, 5, memory.DefaultAllocator)
	defer batch.Release()
	l := kernelstest.Layout{Options: []format.WriterProperty{format.WithDataPageVersion(format.DataPageV2), format.WithStats(false), format.WithCompression(compress.Codecs.Snappy)}}
	g := openGroups(t, kernelstest.Write(t, batch, l), []arrow.Field{f})[0]
	pages := rawPages(t, d, g)
	p := &pages[len(pages)-1]
	p.Encoding, p.Values, p.body, p.Size, p.DefLength, p.RepLength, p.Codec = encoding, values, body, len(body), 0, 0, compress.Codecs.Uncompressed
	if encoding != format.Encodings.RLEDict {
		pages = pages[len(pages)-1:]
	} else if !pages[0].Dictionary {
		t.Fatal("there is no dictionary")
	}
	return rebuild(g, pages)
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func varints(v ...uint64) (out []byte) {
	for _, x := range v {
		out = binary.AppendUvarint(out, x)
	}
	return out
}

// longVarint is one of ten bytes whose last has bits that do not fit, or of eleven.
func longVarint(last ...byte) []byte { return append(bytes.Repeat([]byte{0xff}, 9), last...) }

// crafted are chunks that go to the edges of what the kernels check.
func crafted(t testing.TB) (out []question) {
	long := kernelstest.Field(1, "c", arrow.PrimitiveTypes.Int64, false)
	add := func(name string, sound bool, f arrow.Field, e format.Encoding, values int, body []byte) {
		g := craft(t, f, e, values, body)
		out = append(out, question{group: g, sel: kernels.All(g.Rows), sound: sound, name: "crafted " + name})
	}
	zeros := make([]byte, 4000)
	delta := format.Encodings.DeltaBinaryPacked
	head := varints(128, 4, 40)
	add("delta", true, long, delta, 40, join(head, varints(7), varints(3), []byte{4, 4, 0, 0}, zeros[:32]))
	add("first value of ten bytes", false, long, delta, 40, join(head, longVarint(2), varints(3), []byte{4, 4, 0, 0}, zeros[:64]))
	add("first value of eleven bytes", false, long, delta, 40, join(head, longVarint(0x80, 0), varints(3), []byte{4, 4, 0, 0}, zeros[:64]))
	add("least value of ten bytes", false, long, delta, 40, join(head, varints(7), longVarint(2), []byte{4, 4, 0, 0}, zeros[:64]))
	for _, width := range []byte{63, 64, 65, 70, 255} {
		add(fmt.Sprintf("delta of %d bits", width), width <= 64, long, delta, 40, join(head, varints(7), varints(3), []byte{width, width, 0, 0}, bytes.Repeat([]byte{0x5b}, 2200)))
	}
	for _, h := range [][]uint64{{0, 4, 40}, {128, 0, 40}, {4, 128, 40}, {128, 3, 40}, {1 << 21, 4, 40}, {128, 4, 30}, {128, 4, 1 << 27}, {128, 4, 64}, {32, 1, 40}, {1 << 40, 4, 40}} {
		add(fmt.Sprint("delta head ", h), false, long, delta, 40, join(varints(h...), varints(7), varints(3), []byte{4, 4, 0, 0}, zeros[:400]))
	}
	for _, h := range [][]uint64{{97, 3, 40}, {32, 8, 40}, {128, 4, 0}} {
		add(fmt.Sprint("delta head ", h), false, long, delta, 40, join(varints(h...), varints(7), varints(3), []byte{4, 4, 0, 0}, zeros[:400]))
	}
	add("miniblocks of 4", false, long, delta, 40, join(varints(32, 8, 40), varints(7), varints(3), zeros[:100]))
	add("miniblocks of 16", true, long, delta, 40, join(varints(64, 4, 40), varints(7), varints(3), []byte{4, 4, 4, 0}, zeros[:40]))
	add("one bad value", false, long, delta, 1, join(varints(128, 4, 1), longVarint(2)))
	whole := join(head, varints(7), varints(3), []byte{4, 4, 0, 0}, bytes.Repeat([]byte{0x12}, 20))
	for n := range whole {
		add(fmt.Sprintf("delta cut at %d", n), false, long, delta, 40, whole[:n])
	}
	dict := format.Encodings.RLEDict
	for name, runs := range map[string][]byte{
		"a head of seven bytes":       join([]byte{3}, []byte{0x90, 0x80, 0x80, 0x80, 0x80, 0x80, 0}, []byte{1}, varints(80), []byte{1}),
		"a head of twelve bytes":      join([]byte{3}, []byte{0x90}, bytes.Repeat([]byte{0x80}, 10), []byte{0, 1}, varints(80), []byte{1}),
		"a run too long":              join([]byte{3}, varints(1<<33+2), []byte{1}),
		"a run of 2^31":               join([]byte{3}, varints(1<<32), []byte{1}),
		"a value too wide":            join([]byte{3}, varints(80), []byte{9}),
		"an empty run":                join([]byte{3}, varints(0), []byte{1}, varints(80), []byte{1}),
		"an empty packed run":         join([]byte{3}, varints(1), varints(80), []byte{1}),
		"no bits":                     join([]byte{0}, varints(80)),
		"no bits, packed":             join([]byte{0}, varints(11)),
		"no bits, packed by millions": join([]byte{0}, varints(1<<30|1)),
		"33 bits":                     join([]byte{33}, varints(80), zeros[:8]),
		"200 bits":                    join([]byte{200}, varints(11), zeros[:2000]),
		"an index outside":            join([]byte{8}, varints(80), []byte{250}),
		"an index far outside":        join([]byte{32}, varints(80), []byte{0, 0, 0, 0xf0}),
		"more values than the page":   join([]byte{3}, varints(8000), []byte{1}),
		"packed, cut":                 join([]byte{3}, varints(21), zeros[:16]),
		"packed, cut where it may be": join([]byte{3}, varints(21), zeros[:15]),
		"packed, cut too early":       join([]byte{3}, varints(21), zeros[:14]),
		"nothing":                     nil,
		"a width and nothing":         {3},
		"repeated without a value":    join([]byte{3}, varints(80)),
		"repeated without some":       join([]byte{12}, varints(20), []byte{1, 0}, varints(60), []byte{1}),
	} {
		add(name, name == "no bits" || name == "no bits, packed" || name == "more values than the page" || name == "no bits, packed by millions", long, dict, 40, runs)
	}
	var runs []byte
	for i := range 150 {
		runs = append(runs, varints(64)...)
		runs = append(runs, byte(i%3))
	}
	add("runs that end with a table", true, long, dict, 150*32, join([]byte{2}, runs))
	add("packed far and wide", true, long, dict, 120, join([]byte{20}, varints(31), zeros[:300]))
	bits := kernelstest.Field(1, "c", arrow.FixedWidthTypes.Boolean, false)
	text := kernelstest.Field(1, "c", arrow.BinaryTypes.String, false)
	for n := range 12 {
		add(fmt.Sprintf("booleans cut at %d", n), false, bits, format.Encodings.RLE, 40, join([]byte{4, 0, 0, 0}, varints(40), []byte{1}, varints(40), []byte{0})[:min(n, 8)])
		add(fmt.Sprintf("plain booleans cut at %d", n), false, bits, format.Encodings.Plain, 60, zeros[:n])
		add(fmt.Sprintf("texts cut at %d", n), false, text, format.Encodings.Plain, 2, []byte{2, 0, 0, 0, 'a', 'b', 1, 0, 0, 0, 'c', 0}[:n])
	}
	add("booleans that claim too much", false, bits, format.Encodings.RLE, 40, join([]byte{40, 0, 0, 0}, varints(80), []byte{1}))
	add("a text that claims too much", false, text, format.Encodings.Plain, 2, []byte{2, 0, 0, 0, 'a', 'b', 0xff, 0xff, 0xff, 0xff})
	for _, n := range []int{311, 312, 313, 319, 320, 321, 328} {
		add(fmt.Sprintf("%d plain bytes", n), false, long, format.Encodings.Plain, 40, zeros[:n])
		add(fmt.Sprintf("%d split bytes", n), false, long, format.Encodings.ByteStreamSplit, 40, zeros[:n])
	}
	bad := craft(t, long, dict, 40, join([]byte{8}, varints(80), []byte{250}))
	field := predicate.Field{ID: 1, Path: []string{"c"}, Type: long.Type}
	out = append(out, question{group: bad, sel: kernels.All(40), name: "crafted filter of an index outside",
		test: predicate.In{Field: field, Values: []predicate.Literal{{Type: long.Type, Value: int64(1)}, {Type: long.Type, Value: int64(2)}}}})
	out = append(out, inStruct(t))
	for name, q := range map[string]question{
		"plain": twoEncodings(t, long, craft(t, long, format.Encodings.Plain, 40, make([]byte, 80)), craft(t, long, format.Encodings.Plain, 40, make([]byte, 320))),
		"split": twoEncodings(t, long, craft(t, long, format.Encodings.ByteStreamSplit, 40, make([]byte, 80)), craft(t, long, format.Encodings.Plain, 40, make([]byte, 320))),
		"bits":  twoEncodings(t, bits, craft(t, bits, format.Encodings.Plain, 40, make([]byte, 2)), craft(t, bits, format.Encodings.Plain, 40, make([]byte, 5))),
	} {
		q.name, q.sound = "crafted values missing that nobody wants, "+name, false
		q.sel = kernels.NewSelection([]kernels.Run{{From: 0, To: 5}, {From: 50, To: 60}})
		out = append(out, q)
	}
	for _, f := range []arrow.Field{long, text} {
		out = append(out, twoEncodings(t, f, craft(t, f, dict, 40, join([]byte{1}, varints(80), []byte{1})), craft(t, f, format.Encodings.Plain, 40, make([]byte, 320))))
	}
	out = append(out, twoEncodings(t, long, craft(t, long, format.Encodings.Plain, 40, make([]byte, 320)),
		craft(t, long, delta, 40, join(varints(128, 4, 40), varints(7), varints(3), []byte{4, 4, 0, 0}, make([]byte, 32)))))
	return slices.Concat(out, mixed(t), craftedTexts(t), craftedLevels(t), craftedLists(t), craftedNested(t))
}

// craftedLevels are pages whose levels end nowhere, and packed nulls.
func craftedLevels(t testing.TB) (out []question) {
	d := cpu.New()
	defer d.Close()
	long := kernelstest.Field(1, "c", arrow.PrimitiveTypes.Int64, true)
	batch := kernelstest.Random([]arrow.Field{long}, 60, 0.5, 5, memory.DefaultAllocator)
	defer batch.Release()
	options := func(version format.DataPageVersion, c compress.Compression) kernelstest.Layout {
		return kernelstest.Layout{Options: []format.WriterProperty{format.WithDataPageVersion(version), format.WithStats(false), format.WithCompression(c), format.WithDictionaryDefault(false)}}
	}
	add := func(name string, g *kernels.RowGroup, change func(p *rawPage)) {
		p := rawPages(t, d, g)[0]
		change(&p)
		g = rebuild(g, []rawPage{p})
		out = append(out, question{group: g, sel: kernels.All(g.Rows), name: "crafted " + name})
	}
	first := openGroups(t, kernelstest.Write(t, batch, options(format.DataPageV1, compress.Codecs.Uncompressed)), []arrow.Field{long})[0]
	for _, body := range [][]byte{{}, {0xff}, {0xff, 0xff, 0xff}, {40, 1, 0}, {4, 0, 0, 0}, join([]byte{0xff, 0x0f, 0, 0}, varints(100<<1|1), bytes.Repeat([]byte{0x55}, 10))} {
		add(fmt.Sprintf("levels %x", body), first, func(p *rawPage) { p.body, p.Size, p.Values = body, len(body), 300 })
	}
	packed := openGroups(t, kernelstest.Write(t, batch, options(format.DataPageV2, compress.Codecs.Snappy)), []arrow.Field{long})[0]
	for _, values := range [][]byte{{}, {0}, {0x80}, {0x80, 0x80}} {
		add(fmt.Sprintf("packed nulls %x", values), packed, func(p *rawPage) {
			levels := join(varints(80), []byte{0})
			p.body, p.Size, p.Values, p.DefLength = join(levels, values), len(levels), 40, len(levels)
		})
	}
	return out
}

// inStruct is a filter of a field whose levels go beyond those that there are.
func inStruct(t testing.TB) question {
	point := kernelstest.Nested()[0]
	g := craft(t, point, format.Encodings.Plain, 40, nil)
	d := cpu.New()
	defer d.Close()
	pages := rawPages(t, d, g)
	levels := join(varints(40), []byte{2}, varints(40), []byte{3})
	pages[0].DefLength, pages[0].body = len(levels), join(levels, make([]byte, 160))
	pages[0].Size = len(pages[0].body)
	g = rebuild(g, pages)
	x := predicate.Field{ID: 102, Path: []string{"point", "x"}, Type: arrow.PrimitiveTypes.Int32}
	return question{group: g, sel: kernels.All(40), test: predicate.Not{Expr: predicate.IsNull{Field: x}}, name: "crafted levels beyond those there are"}
}

// twoEncodings is a chunk with the pages of two.
func twoEncodings(t testing.TB, f arrow.Field, first, second *kernels.RowGroup) question {
	d := cpu.New()
	defer d.Close()
	g := rebuild(first, append(rawPages(t, d, first), rawPages(t, d, second)...))
	return question{group: g, sel: kernels.All(g.Rows), sound: true, name: "crafted pages in two encodings of " + f.Type.String()}
}

// mixed are packed chunks with pages that are not, and packed pages whose bytes are made here.
func mixed(t testing.TB) (out []question) {
	d := cpu.New()
	defer d.Close()
	long := kernelstest.Field(1, "c", arrow.PrimitiveTypes.Int64, false)
	batch := kernelstest.Random([]arrow.Field{long}, 120, 0, 5, memory.DefaultAllocator)
	defer batch.Release()
	for _, codec := range []compress.Compression{compress.Codecs.Snappy, compress.Codecs.Lz4Raw} {
		l := kernelstest.Layout{Options: []format.WriterProperty{format.WithDataPageVersion(format.DataPageV2), format.WithStats(false), format.WithCompression(codec),
			format.WithDictionaryDefault(false), format.WithDataPageSize(200), format.WithBatchSize(20)}}
		g := openGroups(t, kernelstest.Write(t, batch, l), []arrow.Field{long})[0]
		pages := rawPages(t, d, g)
		pages[1].body, pages[1].Size, pages[1].Codec = make([]byte, pages[1].Values*8), pages[1].Values*8, compress.Codecs.Uncompressed
		mix := rebuild(g, pages)
		out = append(out, question{group: mix, sel: kernels.All(mix.Rows), sound: true, name: "crafted mixed pages"})
		for name, body := range packedBodies(codec == compress.Codecs.Snappy) {
			pages := rawPages(t, d, g)[:1]
			pages[0].Values, pages[0].body, pages[0].Size = 5, body, 40
			bad := rebuild(g, pages)
			out = append(out, question{group: bad, sel: kernels.All(bad.Rows), name: "crafted " + codec.String() + " " + name})
		}
	}
	return out
}

// packedBodies are 40 bytes packed, in ways of which most are wrong.
func packedBodies(snappy bool) map[string][]byte {
	if !snappy {
		eight := []byte{0x84, 1, 2, 3, 4, 5, 6, 7, 8} // 8 literals, then a match of 8
		return map[string][]byte{
			"whole":               join(eight, []byte{8, 0}, []byte{0x8f, 1, 2, 3, 4, 5, 6, 7, 8, 8, 0, 0}[:0], []byte{0xf0, 9}, make([]byte, 24)),
			"ends with a match":   join(eight, []byte{8, 0}, []byte{0x0f, 8, 0, 5}),
			"match of nothing":    join(eight, []byte{0, 0}, []byte{0xf0, 9}, make([]byte, 24)),
			"match from before":   join(eight, []byte{9, 0}, []byte{0xf0, 9}, make([]byte, 24)),
			"match too long":      join([]byte{0x8f, 1, 2, 3, 4, 5, 6, 7, 8}, []byte{8, 0, 200}, []byte{0xf0, 9}, make([]byte, 24)),
			"literals too long":   join(eight, []byte{8, 0}, []byte{0xf0, 99}, make([]byte, 24)),
			"literals past end":   join(eight, []byte{8, 0}, []byte{0xf0, 9}, make([]byte, 20)),
			"too short":           join(eight, []byte{8, 0}, []byte{0xf0, 1}, make([]byte, 16)),
			"too much":            join(eight, []byte{8, 0}, []byte{0xf0, 19}, make([]byte, 34)),
			"a last match":        join(eight, []byte{8, 0}, []byte{0xf1, 9}, make([]byte, 24)),
			"lengths without end": join([]byte{0xf0}, bytes.Repeat([]byte{0xff}, 60)),
			"half an offset":      join(eight, []byte{8}),
			"nothing":             {},
		}
	}
	whole := s2.EncodeSnappy(nil, make([]byte, 40))
	literal := func(n int) []byte { return append([]byte{byte(n-1) << 2}, make([]byte, n)...) }
	return map[string][]byte{
		"whole":               whole,
		"another length":      join([]byte{41}, whole[1:]),
		"a long length":       join([]byte{0xa8, 0x80, 0x80, 0x80, 0x80, 0}, whole[1:]),
		"match of nothing":    join([]byte{40}, literal(8), []byte{31<<2 | 2, 0, 0}),
		"match from before":   join([]byte{40}, literal(8), []byte{31<<2 | 2, 9, 0}),
		"match":               join([]byte{40}, literal(8), []byte{31<<2 | 2, 8, 0}),
		"match of 3 bytes":    join([]byte{40}, literal(8), []byte{31<<2 | 2, 3, 0}),
		"far match":           join([]byte{40}, literal(8), []byte{31<<2 | 3, 8, 0, 0, 0}),
		"too far match":       join([]byte{40}, literal(8), []byte{31<<2 | 3, 8, 0, 0, 0xff}),
		"match too long":      join([]byte{40}, literal(8), []byte{32<<2 | 2, 8, 0}),
		"short match":         join([]byte{40}, literal(30), []byte{6<<2 | 1, 8}),
		"literal past end":    join([]byte{40}, []byte{39 << 2}, make([]byte, 30)),
		"literal too long":    join([]byte{40}, literal(8), []byte{59 << 2}, make([]byte, 60)),
		"too short":           join([]byte{40}, literal(8)),
		"length of a literal": join([]byte{40}, []byte{60 << 2, 39}, make([]byte, 40)),
		"half a length":       join([]byte{40}, []byte{61 << 2, 39}),
		"half an offset":      join([]byte{40}, literal(8), []byte{31<<2 | 2, 8}),
		"nothing":             {},
		"a length alone":      {40},
		"no length":           {0x80},
	}
}

// TestCraftedPagesAreReadAsTheCPUReadsThem asks for them all.
func TestCraftedPagesAreReadAsTheCPUReadsThem(t *testing.T) {
	if testing.Short() {
		t.Skip("its pages are not about several goroutines, and the race detector makes them slow")
	}
	c := cpu.New()
	defer c.Close()
	asked := crafted(t)
	for i := range asked {
		asked[i] = ask(t, c, asked[i])
	}
	if by := caught(texts(t), asked, nil, true); by != "" {
		t.Error(by)
	}
}
