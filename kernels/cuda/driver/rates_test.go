//go:build cuda

package driver_test

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	format "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/cuda"
	"github.com/skua-data/skua/kernels/cuda/device"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/predicate"
)

// rateRows is how many rows a measured column has on a device.
const rateRows = 2_000_000

// rate is a column that is measured.
type rate struct {
	name   string
	typ    arrow.DataType
	layout kernelstest.Layout
	value  func(b array.Builder, r *rand.Rand)
}

func rates() []rate {
	layout := func(dictionary bool, c compress.Compression) kernelstest.Layout {
		return kernelstest.Layout{Options: []format.WriterProperty{format.WithDictionaryDefault(dictionary), format.WithCompression(c), format.WithDataPageSize(160 << 10),
			format.WithDictionaryPageSizeLimit(2 << 20)}}
	}
	number := func(most int64) func(array.Builder, *rand.Rand) {
		return func(b array.Builder, r *rand.Rand) { b.(*array.Int64Builder).Append(r.Int63n(most)) }
	}
	text := func(b array.Builder, r *rand.Rand) {
		b.(*array.StringBuilder).Append([]string{"DELIVER IN PERSON", "NONE", "COLLECT COD", "TAKE BACK RETURN"}[r.Intn(4)])
	}
	shared := layout(false, compress.Codecs.Snappy)
	shared.Encodings = map[arrow.Type]format.Encoding{arrow.STRING: format.Encodings.DeltaByteArray}
	return []rate{
		{"int64 plain, not packed", arrow.PrimitiveTypes.Int64, layout(false, compress.Codecs.Uncompressed), number(1 << 40)},
		{"int64 plain, snappy", arrow.PrimitiveTypes.Int64, layout(false, compress.Codecs.Snappy), number(1000)},
		{"int64 plain, zstd", arrow.PrimitiveTypes.Int64, layout(false, compress.Codecs.Zstd), number(1000)},
		{"int64 dictionary of 1000, zstd", arrow.PrimitiveTypes.Int64, layout(true, compress.Codecs.Zstd), number(1000)},
		{"string dictionary of 4, zstd", arrow.BinaryTypes.String, layout(true, compress.Codecs.Zstd), text},
		{"string plain, snappy", arrow.BinaryTypes.String, layout(false, compress.Codecs.Snappy), text},
		{"string delta, dates, snappy", arrow.BinaryTypes.String, shared, func(b array.Builder, r *rand.Rand) {
			b.(*array.StringBuilder).Append(fmt.Sprintf("2024-07-01T%02d:%02d:%02d", r.Intn(24), r.Intn(60), r.Intn(60)))
		}},
		{"lists of 2 int64, dictionary, zstd", arrow.ListOfField(kernelstest.Field(2, "element", arrow.PrimitiveTypes.Int64, true)), layout(true, compress.Codecs.Zstd),
			func(b array.Builder, r *rand.Rand) {
				of := b.(*array.ListBuilder)
				of.Append(true)
				for range r.Intn(5) {
					of.ValueBuilder().(*array.Int64Builder).Append(r.Int63n(1000))
				}
			}},
	}
}

// TestRates measures the link, the kernels and some columns, beside one core of the CPU. It prints a table and fails only where rows differ.
func TestRates(t *testing.T) {
	d, dev := open(t, device.Room{In: 96 << 20, Scratch: 256 << 20, Out: 128 << 20})
	if standIn {
		t.Skip("the stand-in has no speed")
	}
	info := dev.Info()
	costs, err := cuda.Calibrate(context.Background(), dev, cpu.New(), cuda.CostsOf(info))
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%s, architecture %s, driver %s: up %.1f GB/s, back %.1f GB/s, plain values of 8 bytes %.1f GB/s\n", info.Name, info.Capability, info.Driver,
		costs.Up, costs.Down, costs.Kernel)
	fmt.Fprintf(&table, "%-34s %10s %10s %12s %12s\n", "column", "bytes up", "bytes back", "GPU ns/row", "1 core ns/row")
	for _, c := range rates() {
		up, back := d.Stats().Bytes.Load(), d.Stats().Back.Load()
		gpu, core := c.measure(t, d)
		fmt.Fprintf(&table, "%-34s %10.2f %10.2f %12.2f %12.2f\n", c.name, float64(d.Stats().Bytes.Load()-up)/rateRows/2, float64(d.Stats().Back.Load()-back)/rateRows/2, gpu, core)
	}
	t.Log("\n" + table.String())
	if d.Broken() != nil || d.Stats().Refused.Load() > 0 {
		t.Error(d.Broken(), d.Stats())
	}
}

// measure reads a column twice on each side and gives the second time, in nanoseconds a row; and it filters it once.
func (c rate) measure(t *testing.T, d *cuda.Decoder) (gpu, core float64) {
	t.Helper()
	f := kernelstest.Field(1, "c", c.typ, false)
	b, r := array.NewBuilder(memory.DefaultAllocator, c.typ), rand.New(rand.NewSource(1))
	for range rateRows {
		c.value(b, r)
	}
	column := b.NewArray()
	defer column.Release()
	batch := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{f}, nil), []arrow.Array{column}, rateRows)
	defer batch.Release()
	g := openGroups(t, kernelstest.Write(t, batch, c.layout), []arrow.Field{f})[0]
	base := cpu.New()
	defer base.Close()
	for range 2 {
		gpu, core = readTime(t, d, g, batch), readTime(t, base, g, batch)
	}
	filterBoth(t, d, base, g)
	return gpu, core
}

func readTime(t *testing.T, d kernels.Decoder, g *kernels.RowGroup, want arrow.RecordBatch) float64 {
	t.Helper()
	start := time.Now()
	r, err := d.Open(context.Background(), g)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := r.Read(context.Background(), []int{0}, kernels.All(g.Rows), 0, g.Rows)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	defer got.Release()
	if !array.Equal(got.Column(0), want.Column(0)) {
		t.Error("other values")
	}
	return float64(took.Nanoseconds()) / float64(g.Rows)
}

func filterBoth(t *testing.T, d, base kernels.Decoder, g *kernels.RowGroup) {
	t.Helper()
	f := predicate.Field{ID: 1, Path: []string{"c"}, Type: g.Columns[0].Field.Type}
	if f.Type.ID() == arrow.LIST {
		return // there is no test of lists
	}
	var value any = int64(30)
	if f.Type.ID() == arrow.STRING {
		value = "NONE"
	}
	p := predicate.Comparison{Op: predicate.Eq, Field: f, Value: predicate.Literal{Type: f.Type, Value: value}}
	var kept [2]int64
	for i, decoder := range []kernels.Decoder{d, base} {
		r, err := decoder.Open(context.Background(), g)
		if err != nil {
			t.Fatal(err)
		}
		_, out, err := r.Select(context.Background(), p, kernels.All(g.Rows))
		if err != nil {
			t.Fatal(err)
		}
		kept[i] = out.Count()
		r.Close()
	}
	if kept[0] != kept[1] {
		t.Errorf("%d rows are kept, the CPU keeps %d", kept[0], kept[1])
	}
}
