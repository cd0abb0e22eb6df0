package parquet

import (
	"bytes"
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/kernelstest"
)

// BenchmarkRead compares the fallback with arrow-go's own reader, both in batches of 16k rows on one goroutine.
func BenchmarkRead(b *testing.B) {
	for _, shape := range []struct {
		name   string
		fields []arrow.Field
	}{{"flat", kernelstest.Flat(true)}, {"nested", kernelstest.Nested()}} {
		batch := kernelstest.Random(shape.fields, 200_000, 0.05, 1, memory.DefaultAllocator)
		defer batch.Release()
		data := kernelstest.Write(b, batch, kernelstest.Layout{Options: []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Snappy)}})
		b.Run(shape.name+"/fallback", func(b *testing.B) {
			for b.Loop() {
				benchmarkFallback(b, data, shape.fields)
			}
		})
		b.Run(shape.name+"/pqarrow", func(b *testing.B) {
			for b.Loop() {
				benchmarkPqarrow(b, data)
			}
		})
	}
}

func benchmarkFallback(b *testing.B, data []byte, fields []arrow.Field) {
	all := make([]int, len(fields))
	for i := range all {
		all[i] = i
	}
	for _, g := range openGroups(b, data, fields) {
		r, err := NewFallback().Open(context.Background(), g)
		if err != nil {
			b.Fatal(err)
		}
		for from := int64(0); from < g.Rows; from += window {
			batch, err := r.Read(context.Background(), all, kernels.All(g.Rows), from, window)
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

func benchmarkPqarrow(b *testing.B, data []byte) {
	f, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		b.Fatal(err)
	}
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{BatchSize: window}, memory.DefaultAllocator)
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
