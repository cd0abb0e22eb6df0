package cpu

import (
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	format "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/kernelstest"
)

// counted is the number of a row: few different ones, then many.
func counted(row int64) int64 {
	if row < 100_000 {
		return row % 20_000 * 7919
	}
	return row * 7919
}

// counters makes a row group with a column of such numbers, whose dictionary is given up after some rows, in pages of about 64 KiB.
func counters(t *testing.T, rows int, codec compress.Compression) *kernels.RowGroup {
	t.Helper()
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	for i := range int64(rows) {
		b.Append(counted(i))
	}
	a := b.NewArray()
	defer a.Release()
	fields := []arrow.Field{kernelstest.Field(1, "n", arrow.PrimitiveTypes.Int64, false)}
	batch := array.NewRecordBatch(arrow.NewSchema(fields, nil), []arrow.Array{a}, int64(rows))
	defer batch.Release()
	groups, err := groupsOf(kernelstest.Write(t, batch, kernelstest.Layout{RowGroup: int64(rows), Options: []format.WriterProperty{format.WithDictionaryDefault(true),
		format.WithDataPageSize(64 << 10), format.WithDictionaryPageSizeLimit(256 << 10), format.WithCompression(codec)}}))
	if err != nil {
		t.Fatal(err)
	}
	return groups[0]
}

func TestOfANearFileNoMoreThanAPageIsHeld(t *testing.T) {
	const rows, step = 300_000, 10_000
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy} {
		g := counters(t, rows, codec)
		d := New()
		opened, err := d.Open(context.Background(), g)
		if err != nil {
			t.Fatal(err)
		}
		r, had := opened.(*reader), false
		for from := int64(0); from < rows; from += step {
			batch, err := r.Read(context.Background(), []int{0}, kernels.All(rows), from, step)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range batch.Column(0).(*array.Int64).Int64Values() {
				if v != counted(from+int64(i)) {
					t.Fatalf("%s: row %d is %d", codec, from+int64(i), v)
				}
			}
			batch.Release()
			l := r.columns[0].order[0]
			if held := l.pages.Chunk.Held() + cap(l.pages.body); held > 3*nearRead {
				t.Errorf("%s: %d bytes are held at row %d", codec, held, from)
			}
			had = had || l.dictionary != nil
		}
		if l := r.columns[0].order[0]; had != (codec == compress.Codecs.Snappy) || l.dictionary != nil { // the writer makes one where that saves bytes
			t.Errorf("%s: a dictionary was used: %t; it is held at the end: %t", codec, had, l.dictionary != nil)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		d.Close()
	}
}

func TestADictionaryThatWasGivenBackIsReadAgain(t *testing.T) {
	g := counters(t, 300_000, compress.Codecs.Snappy)
	d := New()
	defer d.Close()
	opened, err := d.Open(context.Background(), g)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	r := opened.(*reader)
	read := func(from int64) {
		batch, err := r.Read(context.Background(), []int{0}, kernels.All(g.Rows), from, 1000)
		if err != nil {
			t.Fatal(err)
		}
		defer batch.Release()
		if got := batch.Column(0).(*array.Int64).Value(0); got != counted(from) {
			t.Errorf("row %d is %d", from, got)
		}
	}
	read(0)
	l := r.columns[0].order[0]
	for range 3 { // as if pages with and without the dictionary took turns
		l.spare()
		if err := l.openDictionary(); err != nil {
			t.Fatal(err)
		}
		if l.dictionary == nil || l.dictionary.n == 0 || !l.given {
			t.Fatal("the dictionary is not there again")
		}
	}
}
