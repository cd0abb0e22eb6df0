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
	"github.com/skua-data/skua/kernels/cuda/device"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/kernels/ptxsim"
)

// listFields are lists of every primitive type.
func listFields(nullable, elementsNullable bool) (out []arrow.Field) {
	for i, f := range kernelstest.Flat(elementsNullable) {
		f.Name = "element"
		f.Metadata = kernelstest.Field(100+i, "element", f.Type, elementsNullable).Metadata
		out = append(out, kernelstest.Field(1+i, f.Type.String(), arrow.ListOfField(f), nullable))
	}
	return out
}

// TestListsAreThoseOfTheCPU reads lists of every type in every layout, under random selections: every buffer is the CPU's.
func TestListsAreThoseOfTheCPU(t *testing.T) {
	s := simulate(t, testRoom, ptxsim.Options{})
	r := rand.New(rand.NewSource(21))
	for i, l := range kernelstest.Layouts() {
		for j, nulls := range []float64{0.2, 0, 1, 0.6} {
			if testing.Short() && (i+j)%4 > 0 {
				continue
			}
			fields := listFields(j%2 == 0, (i+j)%3 > 0)
			batch := kernelstest.Random(fields, 1+r.Intn(500), nulls, int64(10*i+j), memory.DefaultAllocator)
			agreeOnAll(t, s, r, batch, l, fields)
			batch.Release()
		}
	}
	if s.Stats().Refused.Load() > 0 || s.Stats().Chunks.Load() < 100 {
		t.Error(s.Stats())
	}
}

// TestDamagedListsAreReadAsTheCPUReadsThem changes bytes of chunks of lists, and what headers claim.
func TestDamagedListsAreReadAsTheCPUReadsThem(t *testing.T) {
	s := simulate(t, testRoom, ptxsim.Options{MaxSteps: 1 << 22})
	r := rand.New(rand.NewSource(22))
	var groups []*kernels.RowGroup
	for i, l := range kernelstest.Layouts() {
		codec := []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Uncompressed}[i%3]
		l.Options = append(l.Options[:len(l.Options):len(l.Options)], format.WithCompression(codec), format.WithStats(false))
		for j, f := range listFields(i%2 == 0, i%3 > 0) {
			batch := kernelstest.Random([]arrow.Field{f}, 40+10*j, 0.2, int64(100*i+j), memory.DefaultAllocator)
			groups = append(groups, openGroups(t, kernelstest.Write(t, batch, l), []arrow.Field{f})[0])
			batch.Release()
		}
	}
	failed, n := 0, pageCount(t)/3
	for i := range n {
		g := groups[i%len(groups)]
		all := rawPages(t, s.cpu, g)
		p := &all[r.Intn(len(all))]
		switch r.Intn(8) {
		case 0:
			p.Rows = max(0, p.Rows+r.Intn(5)-2)
		case 1:
			p.Values = max(1, p.Values+r.Intn(5)-2)
		case 2:
			p.RepLength = max(0, p.RepLength+r.Intn(5)-2)
		default:
			for range 1 + r.Intn(2) {
				at := r.Intn(len(p.body))
				if r.Intn(2) == 0 {
					at = min(at, r.Intn(40)) // the levels
				}
				p.body[at] = []byte{byte(r.Intn(256)), p.body[at] + 1, 0, 0x80, 0xff, p.body[at] ^ 1}[r.Intn(6)]
			}
		}
		bad := rebuild(g, all)
		bad.Rows = max(1, bad.Rows+[]int64{0, 0, 0, 0, 0, 0, 0, -1, 1}[r.Intn(9)])
		sel := kernels.All(bad.Rows)
		if r.Intn(3) == 0 {
			sel = kernelstest.RandomSelection(r, bad.Rows)
		}
		if err := agree(t, s, bad, 0, sel, bad.Rows/2+1, fmt.Sprintf("%d: %s", i, g.Columns[0].Field.Type)); err != nil {
			failed++
		}
	}
	t.Log(n, failed, s.Stats())
	if refused := int(s.Stats().Refused.Load()); failed < n/10 || refused < failed/2 || refused > n*9/10 {
		t.Errorf("%d errors of %d, %d refused", failed, n, refused)
	}
}

// levelsPage makes a page of levels in groups of eight, or repeated, and as many values as there are.
func levelsPage(like rawPage, rep, def []byte, entries, rows, values int) rawPage {
	plain := make([]byte, 8*values)
	for i := range plain {
		plain[i] = byte(i)
	}
	like.Values, like.Rows, like.RepLength, like.DefLength = entries, rows, 0, 0
	if like.V2 {
		like.RepLength, like.DefLength = len(rep), len(def)
		like.body = join(rep, def, plain)
	} else {
		like.body = join([]byte{byte(len(rep)), 0, 0, 0}, rep, []byte{byte(len(def)), 0, 0, 0}, def, plain)
	}
	like.Size = len(like.body)
	return like
}

// sameLevels is a run of one level.
func sameLevels(n int, level byte) []byte { return append(varints(uint64(2*n)), level) }

// craftedLists are pages of lists at the edges of what the kernels check.
func craftedLists(t testing.TB) (out []question) {
	d := cpu.New()
	defer d.Close()
	element := kernelstest.Field(2, "element", arrow.PrimitiveTypes.Int64, true)
	group := func(version format.DataPageVersion, rows int, nullable bool) *kernels.RowGroup {
		field := kernelstest.Field(1, "c", arrow.ListOfField(element), nullable)
		batch := kernelstest.Random([]arrow.Field{field}, rows, 0.3, 5, memory.DefaultAllocator)
		defer batch.Release()
		l := kernelstest.Layout{Options: []format.WriterProperty{format.WithDataPageVersion(version), format.WithStats(false), format.WithDictionaryDefault(false)}}
		return openGroups(t, kernelstest.Write(t, batch, l), []arrow.Field{field})[0]
	}
	page, same := levelsPage, sameLevels
	add := func(name string, sound bool, g *kernels.RowGroup, rows int, pages ...rawPage) {
		g = rebuild(g, pages)
		g.Rows = int64(rows)
		for i, runs := range [][]kernels.Run{{{From: 0, To: g.Rows}}, {{From: 1, To: 2}}, {{From: 0, To: 1}, {From: g.Rows - 1, To: g.Rows}}, {{From: 0, To: 1}, {From: 2, To: 3}}} {
			if i == 0 || rows > 2 {
				out = append(out, question{group: g, sel: kernels.NewSelection(runs), sound: sound, name: "crafted lists, " + name})
			}
		}
	}
	for _, version := range []format.DataPageVersion{format.DataPageV1, format.DataPageV2} {
		g := group(version, 5, true)
		like := rawPages(t, d, g)[0]
		name := map[bool]string{false: "v1 ", true: "v2 "}[like.V2]
		third := join(varints(3), []byte{0b10110110}) // begins, goes on twice, begins …
		add(name+"of three", true, g, 3, page(like, third, same(8, 3), 8, 3, 8))
		add(name+"nulls", true, g, 8, page(like, same(8, 0), same(8, 0), 8, 8, 0))
		add(name+"empty ones", true, g, 8, page(like, same(8, 0), same(8, 1), 8, 8, 0))
		add(name+"null elements", true, g, 8, page(like, same(8, 0), same(8, 2), 8, 8, 0))
		add(name+"of all kinds", true, g, 8, page(like, same(8, 0), join(varints(3), []byte{0b11100100, 0b00011011}), 8, 8, 2))
		add(name+"an entry that goes on without an element", true, g, 3, page(like, third, join(same(4, 3), same(4, 1)), 8, 3, 4))
		add(name+"that begin inside of a row", false, g, 3, page(like, join(varints(3), []byte{0b10110111}), same(8, 3), 8, 3, 8))
		add(name+"fewer rows", false, g, 4, page(like, third, same(8, 3), 8, 3, 8))
		add(name+"more rows", false, g, 2, page(like, third, same(8, 3), 8, 3, 8))
		add(name+"other rows than the header", false, g, 3, page(like, third, same(8, 3), 8, 2, 8))
		add(name+"a level too large", false, g, 3, page(like, third, same(8, 4), 8, 3, 8))
		add(name+"values that are missing", false, g, 3, page(like, third, same(8, 3), 8, 3, 7))
		add(name+"levels that end", false, g, 3, page(like, third, same(7, 3), 8, 3, 8))
		add(name+"repetition that ends", false, g, 3, page(like, same(7, 0), same(8, 3), 8, 3, 8))
		add(name+"a row that goes on in the next page", !like.V2, g, 3, page(like, third, same(8, 3), 8, 3, 8), page(like, same(8, 1), same(8, 3), 8, 0, 8))
		add(name+"two pages", true, g, 6, page(like, third, same(8, 3), 8, 3, 8), page(like, third, same(8, 3), 8, 3, 8))
		add(name+"a bad page and others", false, g, 6, page(like, third, same(8, 5), 8, 3, 8), page(like, third, same(8, 3), 8, 3, 8))
		add(name+"a bad page and enough rows", false, g, 3, page(like, third, same(8, 5), 8, 3, 8), page(like, third, same(8, 3), 8, 3, 8))
		add(name+"many", true, g, 70, page(like, join(same(1, 0), same(100, 1), same(69, 0)), join(same(90, 3), same(80, 2)), 170, 70, 90))
		add(name+"a page without levels and enough rows", false, g, 3, page(like, varints(0), same(8, 3), 8, 3, 8), page(like, third, same(8, 3), 8, 3, 8))
		add(name+"a page without definition levels and enough rows", false, g, 3, page(like, third, varints(0), 8, 3, 8), page(like, third, same(8, 3), 8, 3, 8))
		required := group(version, 5, false)
		own := rawPages(t, d, required)[0]
		add(name+"required ones", true, required, 3, page(own, third, same(8, 2), 8, 3, 8))
		add(name+"required ones with a level too large", false, required, 3, page(own, third, same(8, 3), 8, 3, 8))
		whole := page(like, third, same(8, 3), 8, 3, 8)
		for n := range min(len(whole.body), 20) {
			cut := whole
			cut.body = whole.body[:n]
			cut.Size = n
			add(fmt.Sprint(name, "cut at ", n), false, g, 3, cut)
		}
		if !like.V2 {
			for _, front := range [][]byte{{0xff, 0xff, 0xff}, {0xff, 0xff, 0xff, 0}, {60, 0, 0, 0}, {2, 0, 0, 0, 3, 0xb6, 0xff, 0xff, 0, 0}, join([]byte{0xff, 0x0f, 0, 0}, varints(100<<1|1), bytes.Repeat([]byte{0x55}, 10))} {
				bad := whole
				bad.body, bad.Values = front, 300
				bad.Size = len(front)
				add(fmt.Sprintf("%sthat begin with %x", name, front), false, g, 3, bad)
			}
		}
	}
	return out
}

// TestListsAreRouted: lists of numbers are sent, those of plain numbers in zstd too, and what is nested deeper, but for maps with keys that are
// nested themselves.
func TestListsAreRouted(t *testing.T) {
	element := kernelstest.Field(2, "element", arrow.PrimitiveTypes.Int64, true)
	for _, c := range []struct {
		field      arrow.Field
		dictionary bool
		sent       bool
		forced     bool
	}{
		{kernelstest.Field(1, "c", arrow.ListOfField(element), true), true, true, true},
		{kernelstest.Field(1, "c", arrow.ListOfField(element), true), false, true, true},
		{kernelstest.Field(1, "c", arrow.ListOfField(kernelstest.Field(3, "element", arrow.ListOfField(element), true)), true), true, true, true},
		{kernelstest.Field(1, "c", arrow.StructOf(kernelstest.Field(3, "l", arrow.ListOfField(element), true)), true), true, true, true},
		{kernelstest.Field(1, "c", arrow.ListOfField(kernelstest.Field(3, "element", arrow.StructOf(element), true)), true), true, true, true},
		{kernelstest.Field(1, "c", arrow.MapOfFields(kernelstest.Field(3, "key", arrow.PrimitiveTypes.Int64, false), element), true), true, true, true},
		{kernelstest.Field(1, "c", arrow.MapOfFields(kernelstest.Field(3, "key", arrow.StructOf(element), false), element), true), true, false, false},
	} {
		batch := kernelstest.Random([]arrow.Field{c.field}, 500, 0.1, 1, memory.DefaultAllocator)
		l := kernelstest.Layout{Options: []format.WriterProperty{format.WithCompression(compress.Codecs.Zstd), format.WithDictionaryDefault(c.dictionary), format.WithStats(false)}}
		g := openGroups(t, kernelstest.Write(t, batch, l), []arrow.Field{c.field})[0]
		batch.Release()
		many := *g.Metadata.RowGroups[0].Columns[0].MetaData // as if there were more of it
		many.TotalCompressedSize, many.TotalUncompressedSize, many.NumValues = 1<<28, 1<<28, 1<<28
		g.Metadata.RowGroups[0].Columns[0].MetaData, g.Rows = &many, 1<<26
		costs := CostsOf(device.Info{Name: "NVIDIA H200"})
		costs.Cores = 16
		base := cpu.New()
		d := New(Config{Device: &device.Simulated{}, Base: base, Costs: costs})
		if got := d.Route(g)[0]; (got.Decoder == decoderName) != c.sent {
			t.Errorf("%s: %+v", c.field.Type, got)
		}
		if got := d.With(Force).Route(g)[0]; (got.Decoder == decoderName) != c.forced {
			t.Errorf("%s, forced: %+v", c.field.Type, got)
		}
		base.Close()
	}
}

// TestAListTooLargeForASlotIsLeft: the CPU reads it.
func TestAListTooLargeForASlotIsLeft(t *testing.T) {
	s := simulate(t, device.Room{In: 6 << 10, Scratch: 64 << 10, Out: 64 << 10}, ptxsim.Options{})
	field := listFields(true, true)[2:3]
	batch := kernelstest.Random(field, 2000, 0.1, 1, memory.DefaultAllocator)
	defer batch.Release()
	g := openGroups(t, kernelstest.Write(t, batch, kernelstest.Layout{}), field)[0]
	if err := agree(t, s, g, 0, kernels.All(g.Rows), g.Rows, "a large list"); err != nil {
		t.Error(err)
	}
	if s.Stats().Chunks.Load() != 0 || s.Stats().Refused.Load() == 0 {
		t.Error(s.Stats())
	}
}
