package cuda

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	format "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/kernels/ptxsim"
)

// deltaStream writes numbers as DELTA_BINARY_PACKED in blocks of minis miniblocks with per values each.
func deltaStream(values []int64, minis, per int) []byte {
	out := varints(uint64(minis*per), uint64(minis), uint64(len(values)))
	if len(values) == 0 {
		return append(out, 0)
	}
	out = binary.AppendVarint(out, values[0])
	for at := 1; at < len(values); at += minis * per {
		block := make([]int64, min(minis*per, len(values)-at))
		for i := range block {
			block[i] = values[at+i] - values[at+i-1]
		}
		least := slices.Min(block)
		out = binary.AppendVarint(out, least)
		var widths, bits []byte
		for m := range minis {
			width, packed := 0, make([]byte, 8*per)
			own := block[min(m*per, len(block)):min((m+1)*per, len(block))]
			for _, v := range own {
				for (v-least)>>width != 0 {
					width++
				}
			}
			for i, v := range own {
				for b := range width {
					packed[(i*width+b)/8] |= byte((v-least)>>b&1) << ((i*width + b) % 8)
				}
			}
			if widths = append(widths, byte(width)); len(own) > 0 {
				bits = append(bits, packed[:per/8*width]...)
			}
		}
		out = append(append(out, widths...), bits...)
	}
	return out
}

// lengthsBody is a page of DELTA_LENGTH_BYTE_ARRAY.
func lengthsBody(texts []string) []byte {
	lengths := make([]int64, len(texts))
	for i, s := range texts {
		lengths[i] = int64(len(s))
	}
	return append(deltaStream(lengths, 4, 32), strings.Join(texts, "")...)
}

// sharedBody is a page of DELTA_BYTE_ARRAY; of what strings share it stores all but a random part.
func sharedBody(r *rand.Rand, texts []string, minis, per int) []byte {
	prefixes, suffixes, last := make([]int64, len(texts)), make([]string, len(texts)), ""
	for i, s := range texts {
		n := 0
		for n < min(len(s), len(last)) && s[n] == last[n] {
			n++
		}
		if r.Intn(4) == 0 {
			n = r.Intn(n + 1)
		}
		prefixes[i], suffixes[i], last = int64(n), s[n:], s
	}
	return append(deltaStream(prefixes, minis, per), lengthsBody(suffixes)...)
}

// textShapes are strings that share much, little, ever more, ever less and nothing.
func textShapes(r *rand.Rand, n int) map[string][]string {
	out := map[string][]string{}
	for _, shape := range []string{"paths", "equal", "longer and longer", "shorter and shorter", "waves", "random", "empty", "one long"} {
		texts := make([]string, n)
		for i := range texts {
			switch shape {
			case "paths":
				texts[i] = fmt.Sprintf("warehouse/db/table-%d/part-%05d.parquet", i/50, i)
			case "equal":
				texts[i] = "the same again"
			case "longer and longer":
				texts[i] = strings.Repeat("abc", i)
			case "shorter and shorter":
				texts[i] = strings.Repeat("abc", n-i)
			case "waves":
				texts[i] = strings.Repeat("xy", (i*7)%67) + fmt.Sprint(i%3)
			case "random":
				texts[i] = strings.Repeat(string(rune('a'+r.Intn(2))), r.Intn(5)) + strings.Repeat("b", r.Intn(40))
			case "one long":
				texts[i] = "s"
				if i == n/2 {
					texts[i] = strings.Repeat("long ", 900)
				}
			}
		}
		out[shape] = texts
	}
	return out
}

// fixedTypes have values of a fixed width, which the kernels gather in every way that they have.
func fixedTypes() []arrow.DataType {
	return []arrow.DataType{&arrow.FixedSizeBinaryType{ByteWidth: 5}, &arrow.FixedSizeBinaryType{ByteWidth: 16}, extensions.NewUUIDType(),
		&arrow.Decimal128Type{Precision: 9, Scale: 2}, &arrow.Decimal128Type{Precision: 18, Scale: 4}, &arrow.Decimal128Type{Precision: 38, Scale: 10}}
}

// valuesIn gives the fixed values of a required column's first page, which is plain.
func valuesIn(t testing.TB, f arrow.Field, n int, seed int64) (g *kernels.RowGroup, page rawPage, values []string) {
	t.Helper()
	d := cpu.New()
	defer d.Close()
	batch := kernelstest.Random([]arrow.Field{f}, n, 0, seed, memory.DefaultAllocator)
	defer batch.Release()
	l := kernelstest.Layout{Options: []format.WriterProperty{format.WithDataPageVersion(format.DataPageV2), format.WithStats(false), format.WithDictionaryDefault(false)}}
	g = openGroups(t, kernelstest.Write(t, batch, l), []arrow.Field{f})[0]
	page = rawPages(t, d, g)[0]
	width := len(page.body) / n
	for i := range n {
		values = append(values, string(page.body[i*width:(i+1)*width]))
	}
	return g, page, values
}

// TestTextsThatBeginAsTheOneBefore reads pages of DELTA_BYTE_ARRAY and DELTA_LENGTH_BYTE_ARRAY of every shape, several of them in a chunk.
func TestTextsThatBeginAsTheOneBefore(t *testing.T) {
	s := simulate(t, testRoom, ptxsim.Options{})
	r := rand.New(rand.NewSource(3))
	d := cpu.New()
	defer d.Close()
	f := kernelstest.Field(1, "c", arrow.BinaryTypes.Binary, false)
	read := func(g *kernels.RowGroup, what string) {
		for range 2 {
			sel := kernelstest.RandomSelection(r, g.Rows)
			if err := agree(t, s, g, 0, sel, 1+r.Int63n(max(sel.Count(), 1)), what); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		if err := agree(t, s, g, 0, kernels.All(g.Rows), g.Rows, what); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, n := range []int{1, 2, 31, 33, 64, 129, 300} {
		for shape, texts := range textShapes(r, n) {
			page := craft(t, f, format.Encodings.DeltaByteArray, n, sharedBody(r, texts, 4, 32))
			odd := craft(t, f, format.Encodings.DeltaByteArray, n, sharedBody(r, texts, 3, 8))
			lengths := craft(t, f, format.Encodings.DeltaLengthByteArray, n, lengthsBody(texts))
			read(rebuild(page, append(append(rawPages(t, d, page), rawPages(t, d, lengths)...), rawPages(t, d, odd)...)), fmt.Sprint(n, " ", shape))
		}
	}
	for _, typ := range fixedTypes() {
		for _, n := range []int{1, 33, 200} {
			g, page, values := valuesIn(t, kernelstest.Field(1, "c", typ, false), n, int64(n))
			page.Encoding, page.body = format.Encodings.DeltaByteArray, sharedBody(r, values, 4, 32)
			page.Size = len(page.body)
			read(rebuild(g, []rawPage{page, page}), typ.String())
		}
	}
	if n := s.Stats().Refused.Load(); n > 0 {
		t.Errorf("%d chunks came back", n)
	}
}

// TestDamagedTextsAreReadAsTheCPUReadsThem changes bytes of pages whose lengths are delta encoded.
func TestDamagedTextsAreReadAsTheCPUReadsThem(t *testing.T) {
	s := simulate(t, testRoom, ptxsim.Options{MaxSteps: 1 << 22})
	r := rand.New(rand.NewSource(4))
	d := cpu.New()
	defer d.Close()
	f := kernelstest.Field(1, "c", arrow.BinaryTypes.Binary, false)
	type seed struct {
		group *kernels.RowGroup
		page  rawPage
	}
	var seeds []seed
	add := func(g *kernels.RowGroup) {
		seeds = append(seeds, seed{g, rawPages(t, d, g)[0]})
	}
	for _, n := range []int{5, 40, 130} {
		for _, texts := range textShapes(r, n) {
			add(craft(t, f, format.Encodings.DeltaByteArray, n, sharedBody(r, texts, 4, 32)))
			add(craft(t, f, format.Encodings.DeltaLengthByteArray, n, lengthsBody(texts)))
		}
		for _, typ := range fixedTypes() {
			g, page, values := valuesIn(t, kernelstest.Field(1, "c", typ, false), n, int64(n))
			page.Encoding, page.body = format.Encodings.DeltaByteArray, sharedBody(r, values, 4, 32)
			page.Size, page.Codec = len(page.body), compress.Codecs.Uncompressed
			add(rebuild(g, []rawPage{page}))
		}
	}
	failed, n := 0, pageCount(t)/3
	for i := range n {
		from := seeds[i%len(seeds)]
		p := from.page
		p.body = slices.Clone(p.body)
		for range 1 + r.Intn(2) {
			at := r.Intn(len(p.body))
			if r.Intn(2) == 0 {
				at = min(at, r.Intn(30)) // the heads of the streams
			}
			p.body[at] = []byte{byte(r.Intn(256)), p.body[at] + 1, 0, 0x80, 0xff, p.body[at] - 1}[r.Intn(6)]
		}
		if r.Intn(5) == 0 {
			p.body = p.body[:r.Intn(len(p.body)+1)]
			p.Size = len(p.body)
		}
		g := rebuild(from.group, []rawPage{p})
		if err := agree(t, s, g, 0, kernels.All(g.Rows), g.Rows/2+1, fmt.Sprintf("%d: %s", i, g.Columns[0].Field.Type)); err != nil {
			failed++
		}
	}
	if refused := int(s.Stats().Refused.Load()); failed < n/8 || refused < failed/2 || refused == n {
		t.Errorf("%d errors of %d, %d refused", failed, n, refused)
	}
	t.Log(failed, s.Stats())
}

// craftedTexts are pages whose lengths are delta encoded, at the edges of what the kernels check.
func craftedTexts(t testing.TB) (out []question) {
	r := rand.New(rand.NewSource(6))
	d := cpu.New()
	defer d.Close()
	text, fixed := kernelstest.Field(1, "c", arrow.BinaryTypes.Binary, false), kernelstest.Field(1, "c", &arrow.FixedSizeBinaryType{ByteWidth: 5}, false)
	lengths, shared := format.Encodings.DeltaLengthByteArray, format.Encodings.DeltaByteArray
	add := func(name string, sound bool, g *kernels.RowGroup) {
		out = append(out, question{group: g, sel: kernels.All(g.Rows), sound: sound, name: "crafted " + name})
	}
	streams := func(prefixes, suffixes []int64, bytes string) []byte {
		return append(append(deltaStream(prefixes, 4, 32), deltaStream(suffixes, 4, 32)...), bytes...)
	}
	for name, texts := range textShapes(r, 90) {
		add("shared texts, "+name, true, craft(t, text, shared, 90, sharedBody(r, texts, 2, 16)))
		add("texts by lengths, "+name, true, craft(t, text, lengths, 90, lengthsBody(texts)))
	}
	whole := sharedBody(r, []string{"axis", "axle", "axle", "babble"}, 4, 32)
	for n := range whole {
		add(fmt.Sprint("shared texts cut at ", n), false, craft(t, text, shared, 4, whole[:n]))
	}
	whole = lengthsBody([]string{"axis", "", "babble"})
	for n := range whole {
		add(fmt.Sprint("texts by lengths cut at ", n), false, craft(t, text, lengths, 3, whole[:n]))
	}
	for name, l := range map[string][]int64{"below zero": {2, -1, 2}, "over 32 bits": {1<<32 + 2, 1, 0}, "over 31 bits": {1 << 31, 1, 2}, "past the end": {2, 1, 9}} {
		add("a length "+name, false, craft(t, text, lengths, 3, append(deltaStream(l, 4, 32), "abcdef"...)))
		add("an own length "+name, false, craft(t, text, shared, 3, streams([]int64{0, 0, 0}, l, "abcdef")))
		add("a shared length "+name, false, craft(t, text, shared, 3, streams(l, []int64{3, 2, 1}, "abcdef")))
	}
	add("a first text that shares", false, craft(t, text, shared, 2, streams([]int64{1, 0}, []int64{3, 3}, "abcdef")))
	add("a text that shares too much", false, craft(t, text, shared, 2, streams([]int64{0, 4}, []int64{3, 3}, "abcdef")))
	late := make([]int64, 40)
	late[32] = 1
	add("a 33rd text that shares too much", false, craft(t, text, shared, 40, streams(late, make([]int64, 40), "")))
	add("more texts than the page", true, craft(t, text, shared, 2, streams(make([]int64, 80), append([]int64{3, 3}, make([]int64, 78)...), "abcdef")))
	add("more lengths than the page", true, craft(t, text, lengths, 2, append(deltaStream(append([]int64{3, 3}, make([]int64, 78)...), 4, 32), "abcdef"...)))
	add("fixed values that share", true, craft(t, fixed, shared, 3, streams([]int64{0, 3, 4}, []int64{5, 2, 1}, "abcdefgh")))
	add("a fixed value that is short", false, craft(t, fixed, shared, 3, streams([]int64{0, 3, 3}, []int64{5, 2, 1}, "abcdefgh")))
	add("a fixed value that is long", false, craft(t, fixed, shared, 3, streams([]int64{0, 3, 5}, []int64{5, 2, 1}, "abcdefgh")))
	add("fewer texts than the page", false, craft(t, text, shared, 4, streams([]int64{0, 0}, []int64{3, 3}, "abcdef")))
	all := sharedBody(r, textShapes(r, 40)["paths"], 4, 32)
	for name, first := range map[string]*kernels.RowGroup{
		"a dictionary": craft(t, text, format.Encodings.RLEDict, 40, join([]byte{1}, varints(80), []byte{1})),
		"lengths":      craft(t, text, lengths, 40, lengthsBody(textShapes(r, 40)["waves"])),
		"plain texts":  craft(t, text, format.Encodings.Plain, 40, make([]byte, 160)),
	} {
		q := twoEncodings(t, text, first, craft(t, text, shared, 40, all))
		q.name = "crafted texts that share, and " + name
		out = append(out, q)
	}
	for _, f := range []arrow.Field{kernelstest.Field(1, "c", arrow.BinaryTypes.String, true), kernelstest.Field(1, "c", arrow.BinaryTypes.Binary, true), kernelstest.Field(1, "c", arrow.PrimitiveTypes.Int64, true)} {
		batch := kernelstest.Random([]arrow.Field{f}, 40, 1, 1, memory.DefaultAllocator)
		g := openGroups(t, kernelstest.Write(t, batch, deltaLayout()), []arrow.Field{f})[0]
		batch.Release()
		add("nulls alone of "+f.Type.String(), true, g)
		page := rawPages(t, d, g)[0]
		page.body, page.Size = page.body[:page.DefLength], page.DefLength
		add("nulls without a stream of "+f.Type.String(), true, rebuild(g, []rawPage{page}))
	}
	return out
}

// deltaLayout is the layout in which values are delta encoded.
func deltaLayout() kernelstest.Layout {
	all := kernelstest.Layouts()
	return all[slices.IndexFunc(all, func(l kernelstest.Layout) bool { return l.Name == "delta" })]
}
