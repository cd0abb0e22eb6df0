package cuda

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	format "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/kernels/ptxsim"
)

// craftGolden gives a row group whose only column has a golden page.
func craftGolden(t testing.TB, g kernelstest.Golden, encoding format.Encoding) *kernels.RowGroup {
	t.Helper()
	f := kernelstest.Field(1, "c", kernelstest.GoldenTypes[g.Type], false)
	batch := kernelstest.Random([]arrow.Field{f}, 3, 0, 5, memory.DefaultAllocator)
	defer batch.Release()
	l := kernelstest.Layout{Options: []format.WriterProperty{format.WithDataPageVersion(format.DataPageV2), format.WithStats(false), format.WithDictionaryDefault(false)}}
	group := openGroups(t, kernelstest.Write(t, batch, l), []arrow.Field{f})[0]
	d := cpu.New()
	defer d.Close()
	data := rawPages(t, d, group)[0]
	data.Encoding, data.Values, data.body, data.Size, data.DefLength, data.RepLength = encoding, g.Values, g.Body, len(g.Body), 0, 0
	if g.Entries == 0 {
		return rebuild(group, []rawPage{data})
	}
	entries := rawPage{cpu.Page{Dictionary: true, Values: g.Entries, Size: len(g.Dictionary), Encoding: format.Encodings.Plain, Codec: compress.Codecs.Uncompressed}, g.Dictionary}
	return rebuild(group, []rawPage{entries, data})
}

// spell tells the values of an array as golden pages do.
func spell(a arrow.Array) string {
	out := "="
	for i := range a.Len() {
		switch a := a.(type) {
		case *array.Binary:
			out += " " + strconv.Quote(string(a.Value(i)))
		case *array.FixedSizeBinary:
			out += " " + hex.EncodeToString(a.Value(i))
		default:
			out += " " + a.ValueStr(i)
		}
	}
	return out
}

// TestGoldenPages holds the kernels to the pages that the CPU's decoder is held to: the same values, or the same error, which the CPU gives
// for the pages that the kernels leave to it.
func TestGoldenPages(t *testing.T) {
	s := simulate(t, testRoom, ptxsim.Options{})
	sent, left := 0, []string(nil)
	for _, e := range kernelstest.GoldenEncodings {
		for _, g := range kernelstest.ReadGolden(t, filepath.Join("..", "cpu", "testdata", e.File+".txt")) {
			what := e.File + ", " + g.Lines[0]
			group := craftGolden(t, g, e.ID)
			refused := s.Stats().Refused.Load()
			got, err := outcome(t.Context(), s, group, 0, kernels.All(group.Rows), group.Rows)
			switch want, bad := strings.CutPrefix(g.Result, "! "); {
			case bad && (err == nil || !strings.HasSuffix(err.Error(), want)):
				t.Errorf("%s: %v, want %s", what, err, want)
			case !bad && err != nil:
				t.Errorf("%s: %v", what, err)
			case !bad && spell(got[0]) != want:
				t.Errorf("%s: %s, want %s", what, spell(got[0]), want)
			case !bad && s.Stats().Refused.Load() > refused:
				left = append(left, what)
			case !bad:
				sent++
			}
			for _, a := range got {
				a.Release()
			}
			if err := agree(t, s, group, 0, kernels.All(group.Rows), 2, what); fmt.Sprint(err) == "<nil>" && strings.HasPrefix(g.Result, "!") {
				t.Errorf("%s: no error in batches of 2", what)
			}
		}
	}
	if sent < 29 || len(left) != 1 { // a run of no values is refused
		t.Errorf("%d pages were read on the device; left to the CPU: %s", sent, strings.Join(left, "; "))
	}
}
