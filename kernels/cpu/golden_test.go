package cpu

import (
	"bufio"
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
)

var rewrite = flag.Bool("rewrite", false, "rewrite what the golden pages in testdata become")

// golden is one page of a file in testdata: what it is, its bytes as drawn, and what they become.
//
//	page int32 5: numbers one apart        <- type, number of values, what it shows; the file is the encoding
//	80 01 | 128 values in a block          <- bytes, and what they mean
//	= 1 2 3 4 5                            <- the values, or ! and the error
type golden struct {
	lines      []string // as they stand, without the result
	typ        string
	n          int
	dictionary []byte // its values, after a line "dictionary n"
	entries    int
	body       []byte
	result     string
}

// goldenTypes are the types that a page names.
var goldenTypes = []struct {
	name   string
	target arrow.DataType
	stored stored
}{
	{"int32", arrow.PrimitiveTypes.Int32, stored{format.Types.Int32, 4}}, {"int64", arrow.PrimitiveTypes.Int64, stored{format.Types.Int64, 8}},
	{"float", arrow.PrimitiveTypes.Float32, stored{format.Types.Float, 4}}, {"double", arrow.PrimitiveTypes.Float64, stored{format.Types.Double, 8}},
	{"boolean", arrow.FixedWidthTypes.Boolean, stored{physical: format.Types.Boolean}}, {"text", arrow.BinaryTypes.Binary, stored{physical: format.Types.ByteArray}},
	{"fixed3", &arrow.FixedSizeBinaryType{ByteWidth: 3}, stored{format.Types.FixedLenByteArray, 3}},
}

var goldenEncodings = []struct {
	file string
	id   format.Encoding
}{
	{"plain", format.Encodings.Plain}, {"rle", format.Encodings.RLE}, {"dictionary", format.Encodings.RLEDict}, {"delta_binary", format.Encodings.DeltaBinaryPacked},
	{"delta_length", format.Encodings.DeltaLengthByteArray}, {"delta_byte_array", format.Encodings.DeltaByteArray}, {"byte_stream_split", format.Encodings.ByteStreamSplit},
}

func TestGoldenPages(t *testing.T) {
	for _, e := range goldenEncodings {
		t.Run(e.file, func(t *testing.T) {
			path := filepath.Join("testdata", e.file+".txt")
			pages := readGolden(t, path)
			var out strings.Builder
			for i := range pages {
				p := &pages[i]
				got := p.decode(t, e.id, p.n)
				for _, step := range []int{1, 2, 3} {
					if again := p.decode(t, e.id, step); again != got && !strings.HasPrefix(got, "!") {
						t.Errorf("%s: in steps of %d it is %s", p.lines[0], step, again)
					}
				}
				if got != p.result && !*rewrite {
					t.Errorf("%s\n%s, want\n%s", p.lines[0], got, p.result)
				}
				fmt.Fprintf(&out, "%s\n%s\n\n", strings.Join(p.lines, "\n"), got)
			}
			if *rewrite {
				if err := os.WriteFile(path, []byte(strings.TrimSpace(out.String())+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func readGolden(t *testing.T, path string) []golden {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []golden
	var into *[]byte
	for in := bufio.NewScanner(f); in.Scan(); {
		line := in.Text()
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
			continue
		case words[0] == "page": // page int32 5: what it shows
			n, err := strconv.Atoi(strings.TrimSuffix(words[2], ":"))
			if err != nil {
				t.Fatalf("%s: %s", path, line)
			}
			out = append(out, golden{typ: words[1], n: n})
			into = &out[len(out)-1].body
		case words[0] == "dictionary":
			out[len(out)-1].entries, err = strconv.Atoi(words[1])
			into = &out[len(out)-1].dictionary
		case words[0] == "indexes":
			into = &out[len(out)-1].body
		case strings.HasPrefix(line, "=") || strings.HasPrefix(line, "!"):
			out[len(out)-1].result = line
			continue
		default:
			drawn, _, _ := strings.Cut(line, "|")
			b, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(drawn), " ", ""))
			if err != nil {
				t.Fatalf("%s: %q: %v", path, line, err)
			}
			*into = append(*into, b...)
		}
		if err != nil {
			t.Fatalf("%s: %q: %v", path, line, err)
		}
		out[len(out)-1].lines = append(out[len(out)-1].lines, line)
	}
	return out
}

// decode reads the page's values in steps of n, and if that is not all of them once more with every other step left out.
func (p *golden) decode(t *testing.T, id format.Encoding, n int) string {
	t.Helper()
	for _, typ := range goldenTypes {
		if typ.name != p.typ {
			continue
		}
		v := &conversion{stored: typ.stored, target: typ.target, shape: typ.stored.shape(), width: typ.stored.width}
		whole := v.newVector(memory.DefaultAllocator, nil, int64(p.n))
		if err := p.fill(whole, v, id, n, false); err != nil {
			return "! " + err.Error()
		}
		if skipped := v.newVector(memory.DefaultAllocator, nil, int64(p.n)); n < p.n {
			if err := p.fill(skipped, v, id, n, true); err != nil {
				return "! " + err.Error()
			}
			return merge(valuesOf(whole, v), valuesOf(skipped, v), n)
		}
		return "= " + strings.Join(valuesOf(whole, v), " ")
	}
	t.Fatalf("%s is no type of golden pages", p.typ)
	return ""
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
	if p.entries > 0 {
		var err error
		if d, err = v.openDictionary(&header{values: int64(p.entries)}, p.dictionary, &pool{}); err != nil {
			return err
		}
	}
	if err := to.open(id, p.body, d); err != nil {
		return err
	}
	for at, step := 0, 0; at < p.n; at, step = at+n, step+1 {
		do := to.read
		if skip && step%2 == 0 {
			do = to.skip
		}
		if err := do(min(n, p.n-at)); err != nil {
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
