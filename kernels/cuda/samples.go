package cuda

import (
	"bytes"
	"fmt"
	"math/rand"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/skua-data/skua/kernels"
)

// samples says how large the chunks are on which costs are measured.
type samples struct {
	rows, page int // of the chunk that a core reads, and of each of its pages
	times      int // how many times the device has those pages
}

// usualSamples are pages as writers of tables make them, and enough of them to fill a device.
var usualSamples = samples{rows: 80_000, page: 20_000, times: 32}

// make makes a column chunk of a class, in zstd as tables are.
func (s samples) make(c class) (*kernels.RowGroup, error) {
	r := rand.New(rand.NewSource(int64(c)))
	number := func(listed bool) int64 {
		if listed {
			return r.Int63n(1000)
		}
		return r.Int63n(1 << 30)
	}
	listed := c == listedNumbers || c == listedDecimals || c == listedTexts
	var b array.Builder
	var appendOne func()
	switch c {
	case booleans:
		of := array.NewBooleanBuilder(memory.DefaultAllocator)
		b, appendOne = of, func() { of.Append(r.Intn(3) == 0) }
	case plainDecimals, listedDecimals:
		of := array.NewDecimal128Builder(memory.DefaultAllocator, &arrow.Decimal128Type{Precision: 12, Scale: 2})
		b, appendOne = of, func() { of.Append(decimal128.FromI64(number(listed))) }
	case plainTexts, listedTexts:
		of := array.NewStringBuilder(memory.DefaultAllocator)
		b, appendOne = of, func() { of.Append(fmt.Sprintf("the text %d", number(listed))) }
	default:
		of := array.NewInt64Builder(memory.DefaultAllocator)
		b, appendOne = of, func() { of.Append(number(listed)) }
	}
	defer b.Release()
	for range s.rows {
		appendOne()
	}
	column := b.NewArray()
	defer column.Release()
	field := arrow.Field{Name: "sample", Type: column.DataType()}
	batch := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{field}, nil), []arrow.Array{column}, int64(s.rows))
	defer batch.Release()
	return sampleOf(batch, parquet.WithCompression(compress.Codecs.Zstd), parquet.WithDictionaryDefault(listed), parquet.WithStoreDecimalAsInteger(true),
		parquet.WithStats(false), parquet.WithBatchSize(int64(s.page)), parquet.WithDataPageSize(1))
}

// repeat gives a chunk that has the data pages of another several times.
func repeat(rg *kernels.RowGroup, times int) (*kernels.RowGroup, error) {
	footer := *rg.Metadata.FileMetaData
	groups := slices.Clone(footer.RowGroups)
	group := *groups[0]
	group.Columns = slices.Clone(group.Columns)
	chunk := *group.Columns[0]
	m := *chunk.MetaData
	from := m.DataPageOffset
	if d := m.DictionaryPageOffset; d != nil {
		from = min(from, *d)
	}
	all := make([]byte, m.TotalCompressedSize)
	if _, err := rg.File.ReadAt(all, from); err != nil {
		return nil, err
	}
	head := m.DataPageOffset - from
	data := append([]byte("PAR1"), all[:head]...)
	for range times {
		data = append(data, all[head:]...)
	}
	first := int64(4)
	if m.DictionaryPageOffset != nil {
		m.DictionaryPageOffset = &first
	}
	m.DataPageOffset, m.NumValues, m.TotalCompressedSize = first+head, m.NumValues*int64(times), int64(len(data))-first
	m.TotalUncompressedSize = head + (m.TotalUncompressedSize-head)*int64(times) // dictionaries hardly shrink
	chunk.MetaData, group.Columns[0], group.NumRows, groups[0], footer.RowGroups = &m, &chunk, m.NumValues, &group, groups
	metadata := *rg.Metadata
	metadata.FileMetaData = &footer
	out := *rg
	out.File, out.Metadata, out.Rows = bytes.NewReader(data), &metadata, m.NumValues
	return &out, nil
}

// sampleOf writes a column without nulls and opens it.
func sampleOf(batch arrow.RecordBatch, options ...parquet.WriterProperty) (*kernels.RowGroup, error) {
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(batch.Schema(), &out, parquet.NewWriterProperties(options...), pqarrow.NewArrowWriterProperties())
	if err != nil {
		return nil, err
	}
	if err := w.Write(batch); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	in := bytes.NewReader(out.Bytes())
	f, err := file.NewParquetReader(in)
	if err != nil {
		return nil, err
	}
	field := batch.Schema().Field(0)
	return &kernels.RowGroup{Name: "sample", File: in, Near: true, Metadata: f.MetaData(), Rows: batch.NumRows(),
		Columns: []kernels.Column{{Field: field, Leaves: []int{0}, Node: kernels.Node{Kind: kernels.Leaf, Field: field}}}}, nil
}
