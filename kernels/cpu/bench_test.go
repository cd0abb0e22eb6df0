package cpu_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"sync"
	"syscall"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	format "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/scan/parquet"
)

const (
	benchRows  = 300_000
	benchBatch = 16 << 10
)

// lineitem makes rows as those of an order table: keys, quantities, prices, dates, flags of few values and a comment.
var lineitem = sync.OnceValue(func() arrow.RecordBatch {
	r := rand.New(rand.NewSource(1))
	var fields []arrow.Field
	var arrays []arrow.Array
	add := func(name string, t arrow.DataType, value func(b array.Builder, i int)) {
		b := array.NewBuilder(memory.DefaultAllocator, t)
		for i := range benchRows {
			value(b, i)
		}
		fields, arrays = append(fields, kernelstest.Field(len(fields)+1, name, t, true)), append(arrays, b.NewArray())
	}
	key := func(most int64) func(array.Builder, int) {
		return func(b array.Builder, _ int) { b.(*array.Int64Builder).Append(r.Int63n(most)) }
	}
	price := func(most int64) func(array.Builder, int) {
		return func(b array.Builder, _ int) { b.(*array.Decimal128Builder).Append(decimal128.FromI64(r.Int63n(most))) }
	}
	day := func(b array.Builder, i int) { b.(*array.Date32Builder).Append(arrow.Date32(8000 + r.Intn(2500))) }
	word := func(words ...string) func(array.Builder, int) {
		return func(b array.Builder, _ int) { b.(*array.StringBuilder).Append(words[r.Intn(len(words))]) }
	}
	money := &arrow.Decimal128Type{Precision: 12, Scale: 2}
	add("orderkey", arrow.PrimitiveTypes.Int64, func(b array.Builder, i int) { b.(*array.Int64Builder).Append(int64(i / 4)) })
	add("partkey", arrow.PrimitiveTypes.Int64, key(200_000))
	add("suppkey", arrow.PrimitiveTypes.Int64, key(10_000))
	add("linenumber", arrow.PrimitiveTypes.Int32, func(b array.Builder, i int) { b.(*array.Int32Builder).Append(int32(i % 7)) })
	add("quantity", money, price(5000))
	add("extendedprice", money, price(10_000_000))
	add("discount", money, price(11))
	add("tax", money, price(9))
	add("returnflag", arrow.BinaryTypes.String, word("A", "N", "R"))
	add("linestatus", arrow.BinaryTypes.String, word("O", "F"))
	add("shipdate", arrow.FixedWidthTypes.Date32, day)
	add("commitdate", arrow.FixedWidthTypes.Date32, day)
	add("receiptdate", arrow.FixedWidthTypes.Date32, day)
	add("shipinstruct", arrow.BinaryTypes.String, word("DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"))
	add("shipmode", arrow.BinaryTypes.String, word("AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"))
	add("comment", arrow.BinaryTypes.String, func(b array.Builder, i int) {
		text := make([]byte, 10+r.Intn(34))
		for i := range text {
			text[i] = "abcdefghij klmnop"[r.Intn(17)]
		}
		b.(*array.StringBuilder).Append(string(text))
	})
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, benchRows)
})

// BenchmarkLineitem reads one row group with all columns in batches of 16k rows on one goroutine: this decoder, the fallback and arrow-go's
// own reader, on the layouts of Go's and of Java's writers.
func BenchmarkLineitem(b *testing.B) {
	batch := lineitem()
	for _, layout := range []struct {
		name    string
		options []format.WriterProperty
	}{
		{"go snappy", []format.WriterProperty{format.WithDataPageVersion(format.DataPageV2), format.WithCompression(compress.Codecs.Snappy)}},
		{"java zstd", []format.WriterProperty{format.WithDataPageVersion(format.DataPageV1), format.WithStoreDecimalAsInteger(true), format.WithCompression(compress.Codecs.Zstd)}},
	} {
		data := kernelstest.Write(b, batch, kernelstest.Layout{Options: append(layout.options, format.WithMaxRowGroupLength(benchRows))})
		benchmarkReaders(b, layout.name, data, batch.Schema().Fields())
	}
}

// BenchmarkNested reads lists, maps and structs.
func BenchmarkNested(b *testing.B) {
	batch := kernelstest.Random(kernelstest.Nested(), 100_000, 0.05, 1, memory.DefaultAllocator)
	defer batch.Release()
	data := kernelstest.Write(b, batch, kernelstest.Layout{Options: []format.WriterProperty{format.WithCompression(compress.Codecs.Snappy)}})
	benchmarkReaders(b, "nested", data, kernelstest.Nested())
}

func benchmarkReaders(b *testing.B, name string, data []byte, fields []arrow.Field) {
	for _, d := range []struct {
		name    string
		decoder kernels.Decoder
	}{{"cpu", cpu.New()}, {"fallback", parquet.NewFallback()}} {
		b.Run(name+"/"+d.name, func(b *testing.B) {
			b.ReportAllocs()
			defer reportCPU(b)()
			for b.Loop() {
				readWhole(b, d.decoder, data, fields, kernels.All(benchRows))
			}
		})
		d.decoder.Close()
	}
	b.Run(name+"/pqarrow", func(b *testing.B) {
		b.ReportAllocs()
		defer reportCPU(b)()
		for b.Loop() {
			readPqarrow(b, data)
		}
	})
}

func readWhole(b *testing.B, d kernels.Decoder, data []byte, fields []arrow.Field, sel *kernels.Selection) {
	all := make([]int, len(fields))
	for i := range all {
		all[i] = i
	}
	ctx := context.Background()
	for _, g := range openGroups(b, data, fields) {
		r, err := d.Open(ctx, g)
		if err != nil {
			b.Fatal(err)
		}
		sel := sel.Intersect(kernels.All(g.Rows))
		for from := int64(0); from < sel.Count(); from += benchBatch {
			batch, err := r.Read(ctx, all, sel, from, benchBatch)
			if err != nil {
				b.Fatal(err)
			}
			batch.Release()
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func readPqarrow(b *testing.B, data []byte) {
	f, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		b.Fatal(err)
	}
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{BatchSize: benchBatch}, memory.DefaultAllocator)
	if err != nil {
		b.Fatal(err)
	}
	batches, err := r.GetRecordReader(context.Background(), nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer batches.Release()
	for batches.Next() {
		_ = batches.RecordBatch()
	}
	if err := batches.Err(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkEncodings reads one column of each encoding, without nulls and with one in ten; bytes are those of the file.
func BenchmarkEncodings(b *testing.B) {
	text, fixed := arrow.BinaryTypes.String, &arrow.FixedSizeBinaryType{ByteWidth: 16}
	for _, c := range []struct {
		name     string
		typ      arrow.DataType
		encoding format.Encoding // Plain with dictionary: a dictionary
		indexed  bool
	}{
		{"plain int64", arrow.PrimitiveTypes.Int64, format.Encodings.Plain, false}, {"plain double", arrow.PrimitiveTypes.Float64, format.Encodings.Plain, false},
		{"plain boolean", arrow.FixedWidthTypes.Boolean, format.Encodings.Plain, false}, {"plain text", text, format.Encodings.Plain, false},
		{"plain fixed", fixed, format.Encodings.Plain, false}, {"plain decimal", &arrow.Decimal128Type{Precision: 12, Scale: 2}, format.Encodings.Plain, false},
		{"dictionary int64", arrow.PrimitiveTypes.Int64, format.Encodings.Plain, true}, {"dictionary double", arrow.PrimitiveTypes.Float64, format.Encodings.Plain, true},
		{"dictionary text", text, format.Encodings.Plain, true}, {"rle boolean", arrow.FixedWidthTypes.Boolean, format.Encodings.RLE, false},
		{"delta int64", arrow.PrimitiveTypes.Int64, format.Encodings.DeltaBinaryPacked, false}, {"delta int32", arrow.PrimitiveTypes.Int32, format.Encodings.DeltaBinaryPacked, false},
		{"delta length text", text, format.Encodings.DeltaLengthByteArray, false}, {"delta text", text, format.Encodings.DeltaByteArray, false},
		{"split double", arrow.PrimitiveTypes.Float64, format.Encodings.ByteStreamSplit, false}, {"split float", arrow.PrimitiveTypes.Float32, format.Encodings.ByteStreamSplit, false},
	} {
		for _, nulls := range []float64{0, 0.1} {
			fields := []arrow.Field{kernelstest.Field(1, "c", c.typ, true)}
			batch := kernelstest.Random(fields, benchRows, nulls, 1, memory.DefaultAllocator)
			data := kernelstest.Write(b, batch, kernelstest.Layout{RowGroup: benchRows, Options: []format.WriterProperty{format.WithDataPageVersion(format.DataPageV2),
				format.WithDictionaryDefault(c.indexed), format.WithEncoding(c.encoding), format.WithMaxRowGroupLength(benchRows)}})
			batch.Release()
			for _, d := range []struct {
				name    string
				decoder kernels.Decoder
			}{{"cpu", cpu.New()}, {"fallback", parquet.NewFallback()}} {
				b.Run(fmt.Sprintf("%s/%.1f/%s", c.name, nulls, d.name), func(b *testing.B) {
					b.SetBytes(int64(len(data)))
					defer reportCPU(b)()
					for b.Loop() {
						readWhole(b, d.decoder, data, fields, kernels.All(benchRows))
					}
				})
				d.decoder.Close()
			}
		}
	}
}

// BenchmarkSelection reads rows with holes: five in a hundred deleted, and one in a hundred wanted.
func BenchmarkSelection(b *testing.B) {
	batch := lineitem()
	data := kernelstest.Write(b, batch, kernelstest.Layout{Options: []format.WriterProperty{format.WithCompression(compress.Codecs.Snappy), format.WithMaxRowGroupLength(benchRows)}})
	for _, kept := range []float64{0.95, 0.01} {
		r := rand.New(rand.NewSource(2))
		var runs []kernels.Run
		for i := range int64(benchRows) {
			if r.Float64() < kept {
				runs = append(runs, kernels.Run{From: i, To: i + 1})
			}
		}
		sel := kernels.NewSelection(runs)
		for _, d := range []struct {
			name    string
			decoder kernels.Decoder
		}{{"cpu", cpu.New()}, {"fallback", parquet.NewFallback()}} {
			b.Run(fmt.Sprintf("%.2f/%s", kept, d.name), func(b *testing.B) {
				defer reportCPU(b)()
				for b.Loop() {
					readWhole(b, d.decoder, data, batch.Schema().Fields(), sel)
				}
			})
			d.decoder.Close()
		}
	}
}

// reportCPU adds the processor time of an iteration, which other processes disturb less than the clock.
func reportCPU(b *testing.B) func() {
	start := processorTime(b)
	return func() { b.ReportMetric(float64(processorTime(b)-start)/1e6/float64(b.N), "cpu-ms/op") }
}

func processorTime(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
