package cuda

import (
	"context"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	format "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/kernels/ptxsim"
	"github.com/skua-data/skua/predicate"
)

var update = flag.Bool("update", false, "write the tables in testdata again")

// costCase is a column whose decoding is counted.
type costCase struct {
	name   string
	field  arrow.Field
	append func(b array.Builder, r *rand.Rand, row int)
	layout kernelstest.Layout
	filter func(f predicate.Field) predicate.Expr
}

const costRows = 12_000

func int64s(most int64, run int) func(array.Builder, *rand.Rand, int) {
	var v int64
	return func(b array.Builder, r *rand.Rand, row int) {
		if row%run == 0 {
			v = r.Int63n(most)
		}
		b.(*array.Int64Builder).Append(v * 7)
	}
}

func withNulls(every int, f func(array.Builder, *rand.Rand, int)) func(array.Builder, *rand.Rand, int) {
	return func(b array.Builder, r *rand.Rand, row int) {
		if r.Intn(every) == 0 {
			b.AppendNull()
			return
		}
		f(b, r, row)
	}
}

func costCases() []costCase {
	long := kernelstest.Field(1, "c", arrow.PrimitiveTypes.Int64, false)
	nullable := kernelstest.Field(1, "c", arrow.PrimitiveTypes.Int64, true)
	text := kernelstest.Field(1, "c", arrow.BinaryTypes.String, false)
	decimal := kernelstest.Field(1, "c", &arrow.Decimal128Type{Precision: 12, Scale: 2}, false)
	layout := func(dictionary bool, codec compress.Compression, more ...format.WriterProperty) kernelstest.Layout {
		return kernelstest.Layout{Options: append([]format.WriterProperty{format.WithDataPageVersion(format.DataPageV1), format.WithDictionaryDefault(dictionary),
			format.WithCompression(codec), format.WithDataPageSize(20_000), format.WithDictionaryPageSizeLimit(1 << 20)}, more...)}
	}
	plain, dict := layout(false, compress.Codecs.Uncompressed), layout(true, compress.Codecs.Zstd)
	words := func(b array.Builder, r *rand.Rand, _ int) {
		b.(*array.StringBuilder).Append([]string{"DELIVER IN PERSON", "NONE", "COLLECT COD", "TAKE BACK RETURN"}[r.Intn(4)])
	}
	compare := func(f predicate.Field) predicate.Expr {
		return predicate.Comparison{Op: predicate.Lt, Field: f, Value: predicate.Literal{Type: f.Type, Value: int64(30)}}
	}
	delta := plain
	delta.Encodings = map[arrow.Type]format.Encoding{arrow.INT64: format.Encodings.DeltaBinaryPacked}
	lengths, shared := plain, plain
	lengths.Encodings = map[arrow.Type]format.Encoding{arrow.STRING: format.Encodings.DeltaLengthByteArray}
	shared.Encodings = map[arrow.Type]format.Encoding{arrow.STRING: format.Encodings.DeltaByteArray}
	split := plain
	split.Encodings = map[arrow.Type]format.Encoding{arrow.INT64: format.Encodings.ByteStreamSplit}
	return []costCase{
		{"int64 plain", long, int64s(1<<40, 1), plain, nil},
		{"int64 plain, a tenth null", nullable, withNulls(10, int64s(1<<40, 1)), plain, nil},
		{"int64 plain, snappy", long, int64s(1<<12, 3), layout(false, compress.Codecs.Snappy), nil},
		{"int64 plain, lz4", long, int64s(1<<12, 3), layout(false, compress.Codecs.Lz4Raw), nil},
		{"int64 dictionary of 4", long, int64s(4, 1), dict, nil},
		{"int64 dictionary of 1000", long, int64s(1000, 1), dict, nil},
		{"int64 dictionary of 1000, a tenth null", nullable, withNulls(10, int64s(1000, 1)), dict, nil},
		{"int64 dictionary of 1000, runs of 10", long, int64s(1000, 10), dict, nil},
		{"int64 dictionary of 1000, long runs", long, int64s(1000, 400), dict, nil},
		{"int64 delta", long, func(b array.Builder, r *rand.Rand, row int) {
			b.(*array.Int64Builder).Append(int64(row)*3 + r.Int63n(9))
		}, delta, nil},
		{"int64 byte stream split", long, int64s(1<<40, 1), split, nil},
		{"decimal(12, 2) fixed bytes", decimal, func(b array.Builder, r *rand.Rand, _ int) {
			b.AppendValueFromString(fmt.Sprintf("%d.%02d", r.Intn(100_000), r.Intn(100)))
		}, plain, nil},
		{"boolean", kernelstest.Field(1, "c", arrow.FixedWidthTypes.Boolean, false), func(b array.Builder, r *rand.Rand, _ int) {
			b.(*array.BooleanBuilder).Append(r.Intn(3) == 0)
		}, plain, nil},
		{"string dictionary of 4", text, words, dict, nil},
		{"string plain", text, words, plain, nil},
		{"string delta length", text, words, lengths, nil},
		{"string delta, dates", text, func(b array.Builder, r *rand.Rand, row int) {
			b.(*array.StringBuilder).Append(fmt.Sprintf("2024-%02d-%02dT%02d:%02d:%02d", 1+row/1000, 1+row/40%28, row%24, r.Intn(60), r.Intn(60)))
		}, shared, nil},
		{"list of 4 int64, dictionary of 1000", kernelstest.Field(1, "c", arrow.ListOfField(kernelstest.Field(2, "element", arrow.PrimitiveTypes.Int64, true)), true),
			func(b array.Builder, r *rand.Rand, _ int) {
				of := b.(*array.ListBuilder)
				of.Append(true)
				for range 1 + r.Intn(7) {
					of.ValueBuilder().(*array.Int64Builder).Append(r.Int63n(1000) * 7)
				}
			}, dict, nil},
		{"list of 3 lists of 3 int64, dictionary", kernelstest.Field(1, "c", arrow.ListOfField(kernelstest.Field(3, "element", arrow.ListOfField(kernelstest.Field(2, "element", arrow.PrimitiveTypes.Int64, true)), true)), true),
			func(b array.Builder, r *rand.Rand, _ int) {
				of := b.(*array.ListBuilder)
				of.Append(true)
				for range 1 + r.Intn(5) {
					in := of.ValueBuilder().(*array.ListBuilder)
					in.Append(true)
					for range 1 + r.Intn(5) {
						in.ValueBuilder().(*array.Int64Builder).Append(r.Int63n(1000) * 7)
					}
				}
			}, dict, nil},
		{"map of 3 of int64 to decimal", kernelstest.Field(1, "c", arrow.MapOfFields(kernelstest.Field(2, "key", arrow.PrimitiveTypes.Int64, false), kernelstest.Field(3, "value", &arrow.Decimal128Type{Precision: 12, Scale: 2}, true)), true),
			func(b array.Builder, r *rand.Rand, _ int) {
				of := b.(*array.MapBuilder)
				of.Append(true)
				for range 1 + r.Intn(5) {
					of.KeyBuilder().(*array.Int64Builder).Append(r.Int63n(1000))
					of.ItemBuilder().(*array.Decimal128Builder).Append(decimal128.FromI64(r.Int63n(100_000)))
				}
			}, dict, nil},
		{"struct of int64 and string", kernelstest.Field(1, "c", arrow.StructOf(kernelstest.Field(2, "x", arrow.PrimitiveTypes.Int64, true), kernelstest.Field(3, "y", arrow.BinaryTypes.String, true)), true),
			func(b array.Builder, r *rand.Rand, row int) {
				of := b.(*array.StructBuilder)
				of.Append(true)
				of.FieldBuilder(0).(*array.Int64Builder).Append(r.Int63n(1000) * 7)
				words(of.FieldBuilder(1), r, row)
			}, dict, nil},
		{"filter int64 plain < 30", long, int64s(1<<10, 1), plain, compare},
		{"filter string dictionary in", text, words, dict, func(f predicate.Field) predicate.Expr {
			return predicate.In{Field: f, Values: []predicate.Literal{{Type: f.Type, Value: "NONE"}, {Type: f.Type, Value: "COLLECT COD"}}}
		}},
	}
}

// TestCosts counts what the kernels do for a row of some columns, and holds the counts to the table: a guard of speed that needs no GPU.
func TestCosts(t *testing.T) {
	if testing.Short() {
		t.Skip("its pages are not about several goroutines, and the race detector makes them slow")
	}
	var table strings.Builder
	fmt.Fprintf(&table, "# For a row: lane instructions of all kernels; lanes active of 32; sectors of 32 bytes for an access of a warp. Then lane instructions by kernel.\n")
	for _, c := range costCases() {
		r := rand.New(rand.NewSource(1))
		b := array.NewBuilder(memory.DefaultAllocator, c.field.Type)
		for row := range costRows {
			c.append(b, r, row)
		}
		column := b.NewArray()
		batch := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{c.field}, nil), []arrow.Array{column}, costRows)
		data := kernelstest.Write(t, batch, c.layout)
		batch.Release()
		column.Release()
		s := simulate(t, testRoom, ptxsim.Options{NoRaces: true, NoUnwritten: true})
		countOne(t, s, openGroups(t, data, []arrow.Field{c.field})[0], c)
		table.WriteString(costLine(c.name, s))
	}
	path := filepath.Join("testdata", "costs.txt")
	if *update {
		if err := os.WriteFile(path, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if table.String() != string(want) {
		t.Errorf("the kernels cost\n%s\nand did cost\n%s", table.String(), want)
	}
}

func countOne(t *testing.T, s *simulation, g *kernels.RowGroup, c costCase) {
	t.Helper()
	reader, err := s.Open(context.Background(), g)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if c.filter != nil {
		p := c.filter(predicate.Field{ID: 1, Path: []string{"c"}, Type: c.field.Type})
		if rest, _, err := reader.Select(context.Background(), p, kernels.All(g.Rows)); err != nil || rest != nil {
			t.Fatal(rest, err)
		}
	} else {
		batch, err := reader.Read(context.Background(), []int{0}, kernels.All(g.Rows), 0, g.Rows)
		if err != nil {
			t.Fatal(err)
		}
		batch.Release()
	}
	if s.Stats().Chunks.Load()+s.Stats().Filters.Load() != 1 {
		t.Fatalf("%s: %s", c.name, s.Stats())
	}
}

func costLine(name string, s *simulation) string {
	costs := s.device.Costs()
	var names []string
	var lane, warp, accesses, sectors uint64
	for k, c := range costs {
		names = append(names, k)
		lane, warp, accesses, sectors = lane+c.Lane, warp+c.Warp, accesses+c.GlobalAccesses, sectors+c.GlobalSectors
	}
	sort.Strings(names)
	line := fmt.Sprintf("%-40s %6.1f %5.1f %5.2f ", name, float64(lane)/costRows, float64(lane)/float64(warp), float64(sectors)/float64(accesses))
	for _, k := range names {
		line += fmt.Sprintf(" %s %.1f", k, float64(costs[k].Lane)/costRows)
	}
	return line + "\n"
}

// TestRunsStayCheap counts what unpacking of runs costs at many widths, with long runs and with the shortest that writers make.
func TestRunsStayCheap(t *testing.T) {
	if testing.Short() {
		t.Skip("its pages are not about several goroutines, and the race detector makes them slow")
	}
	for _, c := range []struct {
		run  int
		most float64
	}{{1, 130}, {400, 130}, {9, 260}, {12, 260}, {20, 260}} {
		for _, values := range []int64{1, 2, 7, 60, 250, 1000, 8000} {
			field := kernelstest.Field(1, "c", arrow.PrimitiveTypes.Int64, false)
			cost := costCase{field: field, append: int64s(values, c.run)}
			b := array.NewBuilder(memory.DefaultAllocator, field.Type)
			r := rand.New(rand.NewSource(1))
			for row := range costRows {
				cost.append(b, r, row)
			}
			column := b.NewArray()
			batch := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{field}, nil), []arrow.Array{column}, costRows)
			data := kernelstest.Write(t, batch, kernelstest.Layout{Options: []format.WriterProperty{format.WithDictionaryPageSizeLimit(1 << 20)}})
			batch.Release()
			column.Release()
			s := simulate(t, testRoom, ptxsim.Options{NoRaces: true, NoUnwritten: true})
			countOne(t, s, openGroups(t, data, []arrow.Field{field})[0], cost)
			if got := float64(s.device.Costs()["indices"].Lane) / costRows; got > c.most {
				t.Errorf("%d values in runs of %d: %.0f lane instructions a row", values, c.run, got)
			}
		}
	}
}
