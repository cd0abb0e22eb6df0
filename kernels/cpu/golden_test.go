package cpu

import (
	"encoding/hex"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
	format "github.com/apache/arrow-go/v18/parquet"

	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/kernels/pages"
)

var rewrite = flag.Bool("rewrite", false, "rewrite what the golden pages in testdata become")

// golden is a golden page and what this decoder makes of it.
type golden struct{ kernelstest.Golden }

// goldenStored says how the values of a golden page's type are stored.
var goldenStored = map[string]stored{
	"int32": {format.Types.Int32, 4}, "int64": {format.Types.Int64, 8}, "float": {format.Types.Float, 4}, "double": {format.Types.Double, 8},
	"boolean": {physical: format.Types.Boolean}, "text": {physical: format.Types.ByteArray}, "fixed3": {format.Types.FixedLenByteArray, 3},
}

func TestGoldenPages(t *testing.T) {
	for _, e := range kernelstest.GoldenEncodings {
		t.Run(e.File, func(t *testing.T) {
			path := filepath.Join("testdata", e.File+".txt")
			pages := kernelstest.ReadGolden(t, path)
			var out strings.Builder
			for i := range pages {
				p := &golden{pages[i]}
				got := p.decode(t, e.ID, p.Values)
				for _, step := range []int{1, 2, 3} {
					if again := p.decode(t, e.ID, step); again != got && !strings.HasPrefix(got, "!") {
						t.Errorf("%s: in steps of %d it is %s", p.Lines[0], step, again)
					}
				}
				if got != p.Result && !*rewrite {
					t.Errorf("%s\n%s, want\n%s", p.Lines[0], got, p.Result)
				}
				fmt.Fprintf(&out, "%s\n%s\n\n", strings.Join(p.Lines, "\n"), got)
			}
			if *rewrite {
				if err := os.WriteFile(path, []byte(strings.TrimSpace(out.String())+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// decode reads the page's values in steps of n, and if that is not all of them once more with every other step left out.
func (p *golden) decode(t *testing.T, id format.Encoding, n int) string {
	t.Helper()
	typ, known := goldenStored[p.Type]
	if !known {
		t.Fatalf("%s is no type of golden pages", p.Type)
	}
	v := &conversion{stored: typ, target: kernelstest.GoldenTypes[p.Type], shape: typ.shape(), width: typ.width}
	whole := v.newVector(memory.DefaultAllocator, nil, int64(p.Values))
	if err := p.fill(whole, v, id, n, false); err != nil {
		return "! " + err.Error()
	}
	if skipped := v.newVector(memory.DefaultAllocator, nil, int64(p.Values)); n < p.Values {
		if err := p.fill(skipped, v, id, n, true); err != nil {
			return "! " + err.Error()
		}
		return merge(valuesOf(whole, v), valuesOf(skipped, v), n)
	}
	return "= " + strings.Join(valuesOf(whole, v), " ")
}

// merge checks that skipped has every other step of n values.
func merge(whole, skipped []string, n int) string {
	var odd []string
	for i, v := range whole {
		if i/n%2 == 1 {
			odd = append(odd, v)
		}
	}
	if strings.Join(odd, " ") != strings.Join(skipped, " ") {
		return fmt.Sprintf("%v, with every other step left out %v", whole, skipped)
	}
	return "= " + strings.Join(whole, " ")
}

func (p *golden) fill(to vector, v *conversion, id format.Encoding, n int, skip bool) error {
	var d *dictionary
	if p.Entries > 0 {
		var err error
		if d, err = v.openDictionary(&pages.Header{Values: int64(p.Entries)}, p.Dictionary, &scratch{pool: &pool{}}); err != nil {
			return err
		}
	}
	if err := to.open(id, p.Body, d); err != nil {
		return err
	}
	for at, step := 0, 0; at < p.Values; at, step = at+n, step+1 {
		do := to.read
		if skip && step%2 == 0 {
			do = to.skip
		}
		if err := do(min(n, p.Values-at)); err != nil {
			return err
		}
	}
	return nil
}

// valuesOf spells the values of a vector.
func valuesOf(of vector, v *conversion) (out []string) {
	n := 0
	if bits, ok := of.(*bitVector); ok {
		n = bits.n
	}
	buffers := of.take()
	b := buffers[0].Bytes()
	switch v.shape {
	case textShape:
		ends := arrow.Int32Traits.CastFromBytes(b)
		for i := range ends[1:] {
			out = append(out, strconv.Quote(string(buffers[1].Bytes()[ends[i]:ends[i+1]])))
		}
	case bitShape:
		for i := range n {
			out = append(out, strconv.FormatBool(bitutil.BitIsSet(b, i)))
		}
	default:
		for ; len(b) > 0; b = b[v.width:] {
			out = append(out, spell(b[:v.width], v.stored.physical))
		}
	}
	return out
}

func spell(b []byte, t format.Type) string {
	switch t {
	case format.Types.Int32:
		return fmt.Sprint(cast[int32](b)[0])
	case format.Types.Int64:
		return fmt.Sprint(cast[int64](b)[0])
	case format.Types.Float:
		return fmt.Sprint(math.Float32frombits(cast[uint32](b)[0]))
	case format.Types.Double:
		return fmt.Sprint(math.Float64frombits(cast[uint64](b)[0]))
	}
	return hex.EncodeToString(b)
}
