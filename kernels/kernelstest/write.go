package kernelstest

import (
	"bytes"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// Layout is a way to write a file.
type Layout struct {
	Name      string
	RowGroup  int64 // rows; 0: all
	Options   []parquet.WriterProperty
	Encodings map[arrow.Type]parquet.Encoding // by type of a flat column, without dictionaries
}

// Layouts are the ways in which every decoder has to read the same values.
func Layouts() []Layout {
	v1, v2 := parquet.WithDataPageVersion(parquet.DataPageV1), parquet.WithDataPageVersion(parquet.DataPageV2)
	small, plain := parquet.WithDataPageSize(900), parquet.WithDictionaryDefault(false)
	codec := func(c compress.Compression) parquet.WriterProperty { return parquet.WithCompression(c) }
	return []Layout{
		{Name: "v1 dictionary snappy", Options: []parquet.WriterProperty{v1, codec(compress.Codecs.Snappy)}},
		{Name: "v2 plain zstd small pages", Options: []parquet.WriterProperty{v2, plain, small, codec(compress.Codecs.Zstd)}, RowGroup: 700},
		{Name: "v1 plain small pages", Options: []parquet.WriterProperty{v1, plain, small}, RowGroup: 1000},
		{Name: "v2 dictionary gzip small pages", Options: []parquet.WriterProperty{v2, small, codec(compress.Codecs.Gzip)}},
		{Name: "dictionary that overflows", Options: []parquet.WriterProperty{v1, small, parquet.WithDictionaryPageSizeLimit(500), codec(compress.Codecs.Lz4Raw)}},
		{Name: "decimals as integers", Options: []parquet.WriterProperty{v1, codec(compress.Codecs.Brotli), parquet.WithStoreDecimalAsInteger(true)}},
		{Name: "delta", Options: []parquet.WriterProperty{v2, plain, small}, Encodings: map[arrow.Type]parquet.Encoding{
			arrow.INT32: parquet.Encodings.DeltaBinaryPacked, arrow.INT64: parquet.Encodings.DeltaBinaryPacked, arrow.DATE32: parquet.Encodings.DeltaBinaryPacked,
			arrow.TIMESTAMP: parquet.Encodings.DeltaBinaryPacked, arrow.STRING: parquet.Encodings.DeltaByteArray, arrow.BINARY: parquet.Encodings.DeltaLengthByteArray,
			arrow.FLOAT32: parquet.Encodings.ByteStreamSplit, arrow.FLOAT64: parquet.Encodings.ByteStreamSplit, arrow.BOOL: parquet.Encodings.RLE,
		}},
		{Name: "page index", Options: []parquet.WriterProperty{v2, small, parquet.WithPageIndexEnabled(true)}, RowGroup: 1500},
	}
}

// Write writes a batch as a Parquet file.
func Write(t testing.TB, batch arrow.RecordBatch, l Layout) []byte {
	t.Helper()
	options := append([]parquet.WriterProperty{}, l.Options...)
	for _, f := range batch.Schema().Fields() {
		if e, ok := l.Encodings[f.Type.ID()]; ok {
			options = append(options, parquet.WithEncodingFor(f.Name, e))
		}
	}
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(batch.Schema(), &out, parquet.NewWriterProperties(options...), pqarrow.NewArrowWriterProperties())
	if err != nil {
		t.Fatal(err)
	}
	table := array.NewTableFromRecords(batch.Schema(), []arrow.RecordBatch{batch})
	defer table.Release()
	rows := l.RowGroup
	if rows == 0 {
		rows = batch.NumRows() + 1
	}
	if err := w.WriteTable(table, rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
