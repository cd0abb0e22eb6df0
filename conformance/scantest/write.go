package scantest

import (
	"bytes"
	"os"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// writeRows writes rows in the format that a file's name says, and gives its size.
func (t *table) writeRows(name string, fields []*field, rows []record, withIDs bool) int64 {
	if formatOf(name) == "AVRO" {
		return t.writeAvro(name, fields, rows, withIDs)
	}
	return t.writeParquet(name, fields, rows, withIDs)
}

// extension is the format of the next file.
func (t *table) extension() string {
	if t.avro && t.r.Intn(3) == 0 {
		return "avro"
	}
	return "parquet"
}

// writeParquet writes rows in a random layout and gives the file's size.
func (t *table) writeParquet(name string, fields []*field, rows []record, withIDs bool) int64 {
	if !withIDs {
		t.has("files without field ids")
	}
	if t.r.Intn(2) == 0 || slices.ContainsFunc(fields, func(f *field) bool { return f.typ.holds(variants) }) {
		return t.writeParts(name, fields, rows, withIDs)
	}
	raw, err := t.writeArrow(fields, rows, withIDs)
	if err != nil { // it cannot write what it should, such as some pages of few values
		t.has("files that one of two writers failed at")
		return t.writeParts(name, fields, rows, withIDs)
	}
	if err := os.WriteFile(name, raw, 0o600); err != nil {
		panic(err)
	}
	return int64(len(raw))
}

// writeArrow writes a batch of the rows.
func (t *table) writeArrow(fields []*field, rows []record, withIDs bool) ([]byte, error) {
	s := arrow.NewSchema(arrowFields(fields, withIDs), nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	for _, row := range rows {
		for i, f := range fields {
			appendValue(b.Field(i), f.typ, row[f.id])
		}
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	var out bytes.Buffer
	options, group := t.layout(int64(len(rows)))
	var arrowOptions []pqarrow.WriterOption
	if t.r.Intn(6) == 0 {
		arrowOptions = append(arrowOptions, pqarrow.WithStoreSchema())
	}
	properties := parquet.NewWriterProperties(append(options, t.encodings(fields, "")...)...)
	w, err := pqarrow.NewFileWriter(s, &out, properties, pqarrow.NewArrowWriterProperties(arrowOptions...))
	if err != nil {
		return nil, err
	}
	for from := int64(0); from < batch.NumRows(); from += group {
		part := batch.NewSlice(from, min(from+group, batch.NumRows()))
		err := w.Write(part)
		part.Release()
		if err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// layout chooses pages, codecs and what else a file's bytes depend on, and the rows of a row group.
func (t *table) layout(rows int64) ([]parquet.WriterProperty, int64) {
	r := t.r
	codecs := []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Zstd, compress.Codecs.Lz4Raw, compress.Codecs.Brotli}
	options := []parquet.WriterProperty{
		parquet.WithCompression(oneOf(r, codecs...)), parquet.WithDataPageVersion(oneOf(r, parquet.DataPageV1, parquet.DataPageV2)),
		parquet.WithDictionaryDefault(r.Intn(2) == 0), parquet.WithDataPageSize(oneOf[int64](r, 40, 200, 1<<20)), parquet.WithBatchSize(oneOf[int64](r, 7, 64, 1024)),
		parquet.WithStats(r.Intn(6) > 0), parquet.WithPageIndexEnabled(r.Intn(2) == 0), parquet.WithStoreDecimalAsInteger(r.Intn(2) == 0),
		parquet.WithDictionaryPageSizeLimit(oneOf[int64](r, 20, 1<<20)), parquet.WithBloomFilterEnabled(r.Intn(4) == 0), parquet.WithMaxBloomFilterBytes(512),
	}
	return options, max(oneOf(r, rows, rows, 1+rows/2, 1+rows/5), 1)
}

// encodings chooses an encoding for some columns, which it finds by their types.
func (t *table) encodings(fields []*field, prefix string) []parquet.WriterProperty {
	var out []parquet.WriterProperty
	for _, f := range fields {
		at := prefix + f.name
		switch f.typ.kind {
		case structure:
			out = append(out, t.encodings(f.typ.fields, at+".")...)
		case list:
			out = append(out, t.encodings(f.typ.fields, at+".list.")...)
		case mapping:
			out = append(out, t.encodings(f.typ.fields, at+".key_value.")...)
		default:
			if f.id == idPath { // PyArrow reads it into a dictionary, which it cannot from every encoding
				continue
			}
			if e, ok := encodingOf(t, f.typ, f.required && prefix == ""); ok {
				out = append(out, parquet.WithDictionaryFor(at, false), parquet.WithEncodingFor(at, e))
			}
		}
	}
	return out
}

// encodingOf chooses an encoding that a type's columns can be written in; false: the writer's own choice. It leaves out RLE of booleans and
// deltas of text that may be null: the writer gives some rows the values of others then, and pages without values a block of none.
func encodingOf(t *table, of *typ, required bool) (parquet.Encoding, bool) {
	e := parquet.Encodings
	switch of.kind {
	case integer, long, date, clock, timestamp, timestampTZ, timestampNS, timestampTZNS:
		return oneOf(t.r, e.DeltaBinaryPacked, e.Plain, t.splitBytes()), t.r.Intn(2) == 0
	case float, double:
		return oneOf(t.r, e.ByteStreamSplit, e.Plain), t.r.Intn(2) == 0
	case text, binary, geometry:
		return oneOf(t.r, e.DeltaByteArray, e.DeltaLengthByteArray, e.Plain), required && t.r.Intn(2) == 0
	case fixed, uuid:
		return oneOf(t.r, t.splitBytes(), e.Plain), t.r.Intn(2) == 0
	}
	return e.Plain, false
}

// splitStreams is a feature that DuckDB lacks.
const splitStreams = "byte streams of what is no float"

// splitBytes is the encoding by byte streams for what is no float, in some tables: not every reader knows it.
func (t *table) splitBytes() parquet.Encoding {
	if t.seed%4 == 0 {
		t.has(splitStreams)
		return parquet.Encodings.ByteStreamSplit
	}
	return parquet.Encodings.Plain
}

// appendValue appends a value to a builder of its type.
func appendValue(b array.Builder, t *typ, v any) {
	if v == nil {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(v.(bool))
	case *array.Int32Builder:
		b.Append(int32(v.(int64)))
	case *array.Int64Builder:
		b.Append(v.(int64))
	case *array.Float32Builder:
		b.Append(float32(v.(float64)))
	case *array.Float64Builder:
		b.Append(v.(float64))
	case *array.Decimal128Builder:
		b.Append(v.(decimal128.Num))
	case *array.Date32Builder:
		b.Append(arrow.Date32(v.(int64)))
	case *array.Time64Builder:
		b.Append(arrow.Time64(v.(int64)))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v.(int64)))
	case *array.StringBuilder:
		b.Append(v.(string))
	case *array.BinaryBuilder:
		b.Append(v.([]byte))
	case *array.FixedSizeBinaryBuilder:
		b.Append(v.([]byte))
	case *extensions.UUIDBuilder:
		b.AppendBytes([16]byte(v.([]byte)))
	case *array.StructBuilder:
		b.Append(true)
		for i, f := range t.fields {
			appendValue(b.FieldBuilder(i), f.typ, v.(record)[f.id])
		}
	case *array.ListBuilder:
		b.Append(true)
		for _, e := range v.([]any) {
			appendValue(b.ValueBuilder(), t.fields[0].typ, e)
		}
	case *array.MapBuilder:
		b.Append(true)
		for _, e := range v.([][2]any) {
			appendValue(b.KeyBuilder(), t.fields[0].typ, e[0])
			appendValue(b.ItemBuilder(), t.fields[1].typ, e[1])
		}
	default:
		panic(t)
	}
}
