package cuda

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	format "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/kernels/ptxsim"
	"github.com/skua-data/skua/resource"
)

// sameBuffers says where two arrays differ in their buffers; bits behind the last slot mean nothing.
func sameBuffers(got, want arrow.ArrayData) error {
	if got.Len() != want.Len() || got.NullN() != want.NullN() || got.Offset() != 0 || want.Offset() != 0 {
		return fmt.Errorf("%d slots with %d nulls from %d, want %d with %d from %d", got.Len(), got.NullN(), got.Offset(), want.Len(), want.NullN(), want.Offset())
	}
	for i, w := range want.Buffers() {
		g := got.Buffers()[i]
		if (g == nil) != (w == nil) {
			return fmt.Errorf("buffer %d is missing or there", i)
		}
		if g == nil {
			continue
		}
		a, b := bytes.Clone(g.Bytes()), bytes.Clone(w.Bytes())
		if bits := want.DataType().ID() == arrow.BOOL || i == 0; bits && len(a) == len(b) && want.Len()%8 > 0 {
			a[len(a)-1] &= 1<<(want.Len()%8) - 1
			b[len(b)-1] &= 1<<(want.Len()%8) - 1
		}
		if !bytes.Equal(a, b) {
			return fmt.Errorf("buffer %d is\n%x\nwant\n%x", i, a, b)
		}
	}
	if len(got.Children()) != len(want.Children()) {
		return fmt.Errorf("%d children, want %d", len(got.Children()), len(want.Children()))
	}
	for i, w := range want.Children() {
		if err := sameBuffers(got.Children()[i], w); err != nil {
			return fmt.Errorf("child %d: %w", i, err)
		}
	}
	return nil
}

// outcome is what a decoder made of a column: batches, or an error.
func outcome(ctx context.Context, d kernels.Decoder, g *kernels.RowGroup, column int, sel *kernels.Selection, n int64) (out []arrow.Array, err error) {
	r, err := d.Open(ctx, g)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for from := int64(0); from < sel.Count(); from += n {
		batch, err := r.Read(ctx, []int{column}, sel, from, n)
		if err != nil {
			return out, err
		}
		batch.Column(0).Retain()
		out = append(out, batch.Column(0))
		batch.Release()
	}
	return out, nil
}

// agree reads a column with the simulated device and with the CPU: the same batches, byte by byte, and the same error.
func agree(t testing.TB, s *simulation, g *kernels.RowGroup, column int, sel *kernels.Selection, n int64, what string) error {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	ctx := resource.With(context.Background(), resource.NewPool(resource.Config{Allocator: mem}).NewStatement("test"))
	got, ours := outcome(ctx, s, g, column, sel, n)
	want, theirs := outcome(ctx, s.cpu, g, column, sel, n)
	defer func() {
		for _, a := range append(got, want...) {
			a.Release()
		}
	}()
	if fmt.Sprint(ours) != fmt.Sprint(theirs) || len(got) != len(want) {
		t.Fatalf("%s: %v after %d batches, the CPU %v after %d", what, ours, len(got), theirs, len(want))
	}
	for i := range want {
		if err := sameBuffers(got[i].Data(), want[i].Data()); err != nil {
			t.Fatalf("%s: batch %d of %d rows of a %s: %v", what, i, n, want[i].DataType(), err)
		}
	}
	if err := s.device.Faults(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return theirs
}

func TestBuffersAreThoseOfTheCPU(t *testing.T) {
	s := simulate(t, testRoom, ptxsim.Options{NoRaces: true})
	r := rand.New(rand.NewSource(2))
	for i, l := range kernelstest.Layouts() {
		for _, nullable := range []bool{false, true} {
			fields := kernelstest.Flat(nullable)
			batch := kernelstest.Random(fields, 700+r.Intn(900), 0.3, int64(i), memory.DefaultAllocator)
			for _, g := range openGroups(t, kernelstest.Write(t, batch, l), fields) {
				for c := range fields {
					sel := kernelstest.RandomSelection(r, g.Rows)
					if err := agree(t, s, g, c, sel, 1+r.Int63n(max(sel.Count(), 1)), l.Name); err != nil {
						t.Error(err)
					}
				}
			}
			batch.Release()
		}
	}
	if s.Stats().Refused.Load() > 0 || s.Stats().Chunks.Load() < 250 {
		t.Error(s.Stats())
	}
}

// pageCount is how many damaged pages the test below reads.
func pageCount(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("SKUA_GPU_PAGES")); err == nil {
		return n
	}
	if testing.Short() {
		return 300
	}
	return 3000
}

// damaged is a file of one column whose chunk is damaged, again and again.
type damaged struct {
	data     []byte
	from, to int // of the chunk
	field    arrow.Field
	name     string
}

func damagedFiles(t *testing.T) (out []damaged) {
	seed := int64(0)
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Lz4Raw} {
		for _, l := range kernelstest.Layouts() {
			l.Options = append(l.Options[:len(l.Options):len(l.Options)], format.WithCompression(codec), format.WithStats(false))
			for _, nullable := range []bool{false, true} {
				for _, f := range kernelstest.Flat(nullable) {
					seed++
					batch := kernelstest.Random([]arrow.Field{f}, 60+int(seed%7)*60, 0.2, seed, memory.DefaultAllocator)
					data := kernelstest.Write(t, batch, l)
					batch.Release()
					g := openGroups(t, data, []arrow.Field{f})[0]
					m := g.Metadata.RowGroups[0].Columns[0].MetaData
					from := m.DataPageOffset
					if d := m.DictionaryPageOffset; d != nil && *d > 0 {
						from = min(from, *d)
					}
					out = append(out, damaged{data, int(from), int(from + m.TotalCompressedSize), f, l.Name + " " + codec.String() + " " + f.Type.String()})
				}
			}
		}
	}
	return out
}

// TestDamagedPagesAreReadAsTheCPUReadsThem changes bytes of chunks: no kernel has a fault, and rows and errors are those of the CPU.
func TestDamagedPagesAreReadAsTheCPUReadsThem(t *testing.T) {
	s := simulate(t, testRoom, ptxsim.Options{MaxSteps: 1 << 22})
	files := damagedFiles(t)
	r := rand.New(rand.NewSource(11))
	failed, n := 0, pageCount(t)
	for i := range n {
		f := files[i%len(files)]
		data := bytes.Clone(f.data)
		for range 1 + r.Intn(3) {
			at := f.from + r.Intn(f.to-f.from)
			switch r.Intn(3) {
			case 0:
				data[at] ^= 1 << r.Intn(8)
			case 1:
				data[at] = byte(r.Intn(256))
			default:
				data[at] = []byte{0, 1, 2, 3, 0x7f, 0x80, 0xff}[r.Intn(7)]
			}
		}
		g := openGroups(t, data, []arrow.Field{f.field})[0]
		sel := kernels.All(g.Rows)
		if r.Intn(3) == 0 {
			sel = kernelstest.RandomSelection(r, g.Rows)
		}
		if err := agree(t, s, g, 0, sel, g.Rows/2+1, fmt.Sprintf("%d: %s", i, f.name)); err != nil {
			failed++
		}
	}
	t.Logf("%d files, %d errors; %v", n, failed, s.Stats())
	if refused := int(s.Stats().Refused.Load()); failed < n/20 || refused < failed/2 || failed > n*9/10 {
		t.Errorf("%d errors of %d, %d refused: the damage is not what the test is about", failed, n, refused)
	}
}

// TestPagesCutShortAreReadAsTheCPUReadsThem cuts pages, and lets headers claim what is not so.
func TestPagesCutShortAreReadAsTheCPUReadsThem(t *testing.T) {
	s := simulate(t, testRoom, ptxsim.Options{MaxSteps: 1 << 22})
	r := rand.New(rand.NewSource(12))
	failed, all := 0, cuts(t, r, pageCount(t)/3)
	for i, g := range all {
		if err := agree(t, s, g, 0, kernels.All(g.Rows), g.Rows/2+1, fmt.Sprintf("%d: %s", i, g.Columns[0].Field.Type)); err != nil {
			failed++
		}
	}
	t.Logf("%d errors of %d; %v", failed, len(all), s.Stats())
	if failed < len(all)/3 {
		t.Errorf("only %d errors of %d", failed, len(all))
	}
}

// agreeOnAll is agree for every column of a batch that a layout lays out, under a random selection each.
func agreeOnAll(t *testing.T, s *simulation, r *rand.Rand, batch arrow.RecordBatch, l kernelstest.Layout, fields []arrow.Field) {
	t.Helper()
	for _, g := range openGroups(t, kernelstest.Write(t, batch, l), fields) {
		for c := range fields {
			sel := kernelstest.RandomSelection(r, g.Rows)
			if err := agree(t, s, g, c, sel, 1+r.Int63n(max(sel.Count(), 1)), l.Name+" "+fields[c].Name); err != nil {
				t.Error(err)
			}
		}
	}
}
