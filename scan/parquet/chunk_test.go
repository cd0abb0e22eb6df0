package parquet

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/resource"
)

// countingFile counts what is read.
type countingFile struct {
	memoryFile
	bytes *int64
}

func (f countingFile) ReadAt(b []byte, at int64) (int, error) {
	*f.bytes += int64(len(b))
	return f.memoryFile.ReadAt(b, at)
}

const bigRows = 1_400_000 // 11 MB of int64: more than is fetched at once

func bigFile(t *testing.T) ([]byte, []arrow.Field) {
	fields := []arrow.Field{kernelstest.Field(1, "n", arrow.PrimitiveTypes.Int64, true)}
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	for i := range int64(bigRows) {
		b.Append(i * 7919)
	}
	column := b.NewArray()
	batch := array.NewRecordBatch(arrow.NewSchema(fields, nil), []arrow.Array{column}, bigRows)
	return kernelstest.Write(t, batch, kernelstest.Layout{RowGroup: bigRows, Options: []parquet.WriterProperty{
		parquet.WithDictionaryDefault(false), parquet.WithMaxRowGroupLength(bigRows), parquet.WithDataPageSize(64 << 10), parquet.WithCompression(compress.Codecs.Uncompressed)}}), fields
}

func TestLargeChunksAreReadInPiecesAndOnlyWhereRowsAreWanted(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 11 MB")
	}
	data, fields := bigFile(t)
	var read int64
	f, err := Open(context.Background(), countingFile{memoryFile{bytes.NewReader(data)}, &read}, "big.parquet")
	if err != nil {
		t.Fatal(err)
	}
	group := f.RowGroup(0, matched(t, f, fields, nil))
	if group.Rows != bigRows {
		t.Fatalf("%d rows in the row group", group.Rows)
	}
	for _, c := range []struct {
		runs []kernels.Run
		most int64
	}{
		{[]kernels.Run{{From: 0, To: bigRows}}, int64(len(data))},
		{[]kernels.Run{{From: 5, To: 6}, {From: 700_000, To: 700_003}, {From: bigRows - 1, To: bigRows}}, int64(len(data))},
		{[]kernels.Run{{From: 10, To: 20}}, 5 << 20},
	} {
		read = 0
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		statement := resource.NewPool(resource.Config{Allocator: mem}).NewStatement("big")
		ctx := resource.With(context.Background(), statement)
		r, err := NewFallback().Open(ctx, group)
		if err != nil {
			t.Fatal(err)
		}
		sel := kernels.NewSelection(c.runs)
		for from := int64(0); from < sel.Count(); from += 8192 {
			batch, err := r.Read(ctx, []int{0}, sel, from, 8192)
			if err != nil {
				t.Fatal(err)
			}
			at := int64(0)
			for _, run := range sel.Slice(from, 8192).Runs() {
				for i := run.From; i < run.To; i++ {
					if got := batch.Column(0).(*array.Int64).Value(int(at)); got != i*7919 {
						t.Fatalf("row %d is %d, want %d", i, got, i*7919)
					}
					at++
				}
			}
			batch.Release()
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		mem.AssertSize(t, 0)
		if read > c.most || statement.Peak() > 8<<20 {
			t.Errorf("%v: %d bytes read and %d held of a file of %d", c.runs, read, statement.Peak(), len(data))
		}
	}
}

// brokenFile fails after the footer.
type brokenFile struct {
	memoryFile
	err error
}

func (f *brokenFile) ReadAt(b []byte, at int64) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return f.memoryFile.ReadAt(b, at)
}

func TestErrorsOfTheStoreKeepTheirKindAndNameFileAndColumn(t *testing.T) {
	fields := []arrow.Field{field(1, "n", i64, true)}
	batch := kernelstest.Random(fields, 10, 0, 1, memory.DefaultAllocator)
	defer batch.Release()
	for _, c := range []struct {
		err  error
		kind fault.Kind
	}{
		{fault.New(fault.Denied, "no"), fault.Denied}, {fmt.Errorf("broken pipe"), fault.Unavailable}, {io.EOF, fault.Corrupt}, {context.Canceled, fault.Canceled},
	} {
		file := &brokenFile{memoryFile: memoryFile{bytes.NewReader(kernelstest.Write(t, batch, kernelstest.Layout{}))}}
		f, err := Open(context.Background(), file, "broken.parquet")
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewFallback().Open(context.Background(), f.RowGroup(0, matched(t, f, fields, nil)))
		if err != nil {
			t.Fatal(err)
		}
		file.err = c.err
		_, err = r.Read(context.Background(), []int{0}, kernels.All(10), 0, 10)
		if !fault.Is(err, c.kind) || !bytes.Contains([]byte(err.Error()), []byte("column n of broken.parquet")) {
			t.Errorf("%v became %s: %v", c.err, fault.KindOf(err), err)
		}
		file.err = nil // a new attempt starts again
		again, err := r.Read(context.Background(), []int{0}, kernels.All(10), 0, 10)
		if err != nil || again.NumRows() != 10 {
			t.Errorf("after %v: %v, %v", c.err, again, err)
		}
	}
}
