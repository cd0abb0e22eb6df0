package cuda

import (
	"bytes"
	"fmt"
	"math/rand"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	format "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/kernels/ptxsim"
)

// nestedFields are lists, maps and structs in each other, with every kind of leaf.
func nestedFields() []arrow.Field {
	id := 200
	field := func(name string, t arrow.DataType, nullable bool) arrow.Field {
		id++
		return kernelstest.Field(id, name, t, nullable)
	}
	list := func(t arrow.DataType, nullable bool) arrow.DataType {
		return arrow.ListOfField(field("element", t, nullable))
	}
	i64, text, flag := arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String, arrow.FixedWidthTypes.Boolean
	dec, date, uuid := &arrow.Decimal128Type{Precision: 18, Scale: 4}, arrow.FixedWidthTypes.Date32, &arrow.FixedSizeBinaryType{ByteWidth: 5}
	three := list(list(list(i64, true), true), true)
	tight := list(list(i64, false), false)
	mixed := list(arrow.StructOf(field("a", i64, true), field("b", list(text, true), true), field("c", flag, false), field("d", dec, true)), true)
	maps := arrow.MapOfFields(field("key", text, false), field("value", list(date, true), true))
	plain := arrow.MapOfFields(field("key", i64, false), field("value", uuid, true))
	inner := arrow.StructOf(field("m", arrow.MapOfFields(field("key", date, false), field("value", arrow.StructOf(field("x", flag, true), field("y", text, true)), true)), true), field("n", i64, false))
	return append(kernelstest.Nested(), field("three", three, true), field("tight", tight, false), field("mixed", mixed, true), field("of lists", maps, true),
		field("of fixed", plain, false), field("inner", inner, true), field("flat", arrow.StructOf(field("x", i64, false), field("y", arrow.StructOf(field("z", dec, true)), false)), false))
}

// TestWhatIsNestedIsThatOfTheCPU reads columns of every shape in every layout, under random selections: every buffer is the CPU's.
func TestWhatIsNestedIsThatOfTheCPU(t *testing.T) {
	s := simulate(t, testRoom, ptxsim.Options{})
	r := rand.New(rand.NewSource(31))
	fields := nestedFields()
	for i, l := range kernelstest.Layouts() {
		for j, nulls := range []float64{0.2, 0, 1, 0.6} {
			if testing.Short() && (i+j)%4 > 0 {
				continue
			}
			batch := kernelstest.Random(fields, 1+r.Intn(250), nulls, int64(10*i+j), memory.DefaultAllocator)
			agreeOnAll(t, s, r, batch, l, fields)
			batch.Release()
		}
	}
	if s.Stats().Refused.Load() > 0 || s.Stats().Chunks.Load() < 100 {
		t.Error(s.Stats())
	}
}

// nestedFile is a file of one nested column with where its chunks lie.
type nestedFile struct {
	data   []byte
	field  arrow.Field
	chunks [][2]int
	name   string
}

func nestedFiles(t testing.TB) (out []nestedFile) {
	for i, l := range kernelstest.Layouts() {
		codec := []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Uncompressed}[i%3]
		l.Options = append(l.Options[:len(l.Options):len(l.Options)], format.WithCompression(codec), format.WithStats(false))
		for j, f := range nestedFields() {
			batch := kernelstest.Random([]arrow.Field{f}, 30+5*j, 0.2, int64(100*i+j), memory.DefaultAllocator)
			n := nestedFile{data: kernelstest.Write(t, batch, l), field: f, name: l.Name + " " + f.Name}
			batch.Release()
			for _, c := range openGroups(t, n.data, []arrow.Field{f})[0].Metadata.RowGroups[0].Columns {
				from := c.MetaData.DataPageOffset
				if d := c.MetaData.DictionaryPageOffset; d != nil && *d > 0 {
					from = min(from, *d)
				}
				n.chunks = append(n.chunks, [2]int{int(from), int(from + c.MetaData.TotalCompressedSize)})
			}
			out = append(out, n)
		}
	}
	return out
}

// damaged changes bytes of one or two chunks.
func (n *nestedFile) damaged(r *rand.Rand) []byte {
	data := bytes.Clone(n.data)
	for range 1 + r.Intn(2) {
		c := n.chunks[r.Intn(len(n.chunks))]
		at := c[0] + r.Intn(c[1]-c[0])
		if r.Intn(2) == 0 {
			at = min(at, c[0]+20+r.Intn(40)) // mostly the levels of the first page
			at = min(at, c[1]-1)
		}
		data[at] = []byte{byte(r.Intn(256)), data[at] + 1, 0, 0x80, 0xff, data[at] ^ 1, data[at] ^ 2}[r.Intn(7)]
	}
	return data
}

// TestDamagedNestedColumnsAreReadAsTheCPUReadsThem changes bytes of chunks of what is nested.
func TestDamagedNestedColumnsAreReadAsTheCPUReadsThem(t *testing.T) {
	s := simulate(t, testRoom, ptxsim.Options{MaxSteps: 1 << 22})
	r := rand.New(rand.NewSource(32))
	files := nestedFiles(t)
	failed, n := 0, pageCount(t)/3
	for i := range n {
		f := &files[i%len(files)]
		g := openGroups(t, f.damaged(r), []arrow.Field{f.field})[0]
		sel := kernels.All(g.Rows)
		if r.Intn(3) == 0 {
			sel = kernelstest.RandomSelection(r, g.Rows)
		}
		if err := agree(t, s, g, 0, sel, g.Rows/2+1, fmt.Sprintf("%d: %s", i, f.name)); err != nil {
			failed++
		}
	}
	t.Log(n, failed, s.Stats())
	if refused := int(s.Stats().Refused.Load()); failed < n/10 || refused < failed/2 || refused > n*9/10 {
		t.Errorf("%d errors of %d, %d refused", failed, n, refused)
	}
}

// levelGroups packs levels of so many bits, whose number is a multiple of eight.
func levelGroups(width int, levels ...byte) []byte {
	out := make([]byte, len(levels)/8*width)
	for i, level := range levels {
		for b := range width {
			out[(i*width+b)/8] |= level >> b & 1 << ((i*width + b) % 8)
		}
	}
	return append(varints(uint64(len(levels)/8<<1|1)), out...)
}

// craftedNested are pages of lists of lists at the edges of what the kernels check. Definition levels end at 5, repetition levels at 2.
func craftedNested(t testing.TB) (out []question) {
	d := cpu.New()
	defer d.Close()
	element := kernelstest.Field(2, "element", arrow.PrimitiveTypes.Int64, true)
	field := kernelstest.Field(1, "c", arrow.ListOfField(kernelstest.Field(3, "element", arrow.ListOfField(element), true)), true)
	for _, version := range []format.DataPageVersion{format.DataPageV1, format.DataPageV2} {
		batch := kernelstest.Random([]arrow.Field{field}, 5, 0.3, 5, memory.DefaultAllocator)
		l := kernelstest.Layout{Options: []format.WriterProperty{format.WithDataPageVersion(version), format.WithStats(false), format.WithDictionaryDefault(false)}}
		g := openGroups(t, kernelstest.Write(t, batch, l), []arrow.Field{field})[0]
		batch.Release()
		like := rawPages(t, d, g)[0]
		add := func(name string, sound bool, rows int, pages ...rawPage) {
			g := rebuild(g, pages)
			g.Rows = int64(rows)
			for i, runs := range [][]kernels.Run{{{From: 0, To: g.Rows}}, {{From: 1, To: 2}}, {{From: 0, To: 1}, {From: 2, To: 3}}} {
				if i == 0 || rows > 2 {
					out = append(out, question{group: g, sel: kernels.NewSelection(runs), sound: sound, name: fmt.Sprintf("crafted lists of lists, v%d %s", version+1, name)})
				}
			}
		}
		rep := levelGroups(2, 0, 2, 1, 0, 2, 2, 0, 1)
		add("of three rows", true, 3, levelsPage(like, rep, sameLevels(8, 5), 8, 3, 8))
		add("inner ones empty", true, 3, levelsPage(like, levelGroups(2, 0, 1, 1, 0, 1, 1, 0, 1), sameLevels(8, 3), 8, 3, 0))
		add("of all kinds", true, 8, levelsPage(like, sameLevels(8, 0), levelGroups(3, 0, 1, 2, 3, 4, 5, 5, 0), 8, 8, 2))
		add("a repetition level too large", false, 3, levelsPage(like, levelGroups(2, 0, 2, 3, 0, 2, 2, 0, 1), sameLevels(8, 5), 8, 3, 8))
		add("a definition level too large", false, 3, levelsPage(like, rep, levelGroups(3, 5, 5, 5, 5, 6, 5, 5, 5), 8, 3, 8))
		add("an inner one that goes on after none", false, 3, levelsPage(like, levelGroups(2, 0, 2, 2, 0, 2, 2, 0, 1), levelGroups(3, 0, 5, 5, 5, 5, 5, 5, 5), 8, 3, 7))
		add("an inner one that goes on after none in the second row", false, 3, levelsPage(like, levelGroups(2, 0, 2, 2, 0, 2, 2, 0, 1), levelGroups(3, 5, 5, 5, 1, 5, 5, 5, 5), 8, 3, 7))
		next := levelsPage(like, levelGroups(2, 2, 2, 1, 0, 2, 2, 0, 1), sameLevels(8, 5), 8, 2, 8)
		add("a row that goes on in the next page", !like.V2, 5, levelsPage(like, rep, sameLevels(8, 5), 8, 3, 8), next)
		add("a row that goes on in the next page after none", false, 5, levelsPage(like, rep, levelGroups(3, 5, 5, 5, 5, 5, 5, 5, 2), 8, 3, 7), next)
		add("without pages", false, 3, levelsPage(like, nil, nil, 0, 0, 0))
		many := make([]byte, 320)
		for i := range many {
			many[i] = []byte{0, 2, 1, 2, 2}[i%5]
		}
		add("many", true, 64, levelsPage(like, levelGroups(2, many...), sameLevels(320, 5), 320, 64, 320))
	}
	return out
}
