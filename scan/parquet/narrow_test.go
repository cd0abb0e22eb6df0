package parquet

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	arrowparquet "github.com/apache/arrow-go/v18/parquet"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/storage"
)

// TestPagesWithoutSurvivorsAreNotFetched reads some rows of a remote file: with a page index in the tail of the file, with one that takes a request,
// and without; near rows and far ones; and counts what is asked for.
func TestPagesWithoutSurvivorsAreNotFetched(t *testing.T) {
	const columns, rows = 3, 100_000 // 2.4 MB in pages of 16 KB
	indexed := []arrowparquet.WriterProperty{arrowparquet.WithPageIndexEnabled(true), arrowparquet.WithDataPageSize(16 << 10), arrowparquet.WithBatchSize(512)}
	few := kernels.NewSelection([]kernels.Run{{From: 10, To: 20}, {From: 70_000, To: 70_100}})
	many := kernels.NewSelection([]kernels.Run{{From: 0, To: 49_000}, {From: 49_100, To: rows}})
	for _, c := range []struct {
		name    string
		options []arrowparquet.WriterProperty
		tail    int64
		rows    *kernels.Selection
		bytes   int64 // at most, beside the tail
		least   int64
	}{
		{"few rows, index in the tail", indexed, 64 << 10, few, 200 << 10, 0},
		{"few rows, index before the tail", indexed, 2 << 10, few, 260 << 10, 0},
		{"few rows, no index", indexed[1:], 64 << 10, few, 8 * columns * rows * 11 / 10, 8 * columns * rows * 9 / 10},
		{"nearly all rows", indexed, 64 << 10, many, 8 * columns * rows * 11 / 10, 8 * columns * rows * 9 / 10},
		{"all rows", indexed, 64 << 10, kernels.All(rows), 8 * columns * rows * 11 / 10, 8 * columns * rows * 9 / 10},
	} {
		data, schema := columnFile(t, columns, rows, 1, c.options...)
		file := newDistantFile(data)
		file.access.Tail = c.tail
		f, err := Open(t.Context(), file, "remote.parquet")
		if err != nil {
			t.Fatal(err)
		}
		want := matched(t, f, schema.Fields(), nil)
		file.reads = nil
		decoder := NewFallback()
		r, err := f.Read(checkedContext(t), decoder, f.RowGroups(0, 1<<62, nil, nil)[0], want)
		if err != nil {
			t.Fatal(err)
		}
		for from := int64(0); from < c.rows.Count(); from += 30_000 {
			n := min(30_000, c.rows.Count()-from)
			batch, err := r.Read(t.Context(), []int{0, 1, 2}, c.rows, from, n)
			if err != nil {
				t.Fatal(err)
			}
			at := 0
			for _, run := range c.rows.Slice(from, n).Runs() {
				for row := run.From; row < run.To; row++ {
					for k, a := range batch.Columns() {
						if v := a.(*array.Int64).Value(at); v != row*columns+int64(k) {
							t.Fatalf("%s: column %d of row %d is %d", c.name, k, row, v)
						}
					}
					at++
				}
			}
			batch.Release()
		}
		r.Close()
		f.Close()
		var read int64
		for _, r := range file.reads {
			read += r.Length
		}
		if read > c.bytes || read < c.least {
			t.Errorf("%s: %d bytes of %d in %v", c.name, read, len(data), file.reads)
		}
	}
}

// TestPagesOfRowGroupsAheadAreNotFetched narrows what is asked for before it is read.
func TestPagesOfRowGroupsAheadAreNotFetched(t *testing.T) {
	const rows = 50_000
	data, schema := columnFile(t, 2, rows, 2, arrowparquet.WithPageIndexEnabled(true), arrowparquet.WithDataPageSize(16<<10), arrowparquet.WithBatchSize(512))
	file := newDistantFile(data)
	f, err := Open(t.Context(), file, "remote.parquet")
	if err != nil {
		t.Fatal(err)
	}
	columns := matched(t, f, schema.Fields(), nil)
	groups := f.RowGroups(0, 1<<62, nil, nil)
	ctx, decoder := checkedContext(t), NewFallback()
	rowsOf := func(g Group) *kernels.Selection {
		return kernels.NewSelection([]kernels.Run{{From: int64(g.Ordinal) * 100, To: int64(g.Ordinal)*100 + 50}})
	}
	file.reads = nil
	for i, g := range groups {
		r, err := f.Read(ctx, decoder, g, columns)
		if err != nil {
			t.Fatal(err)
		}
		f.Ahead(ctx, decoder, groups[i+1:], columns, rowsOf)
		batch, err := r.Read(ctx, []int{1}, rowsOf(g), 0, 50)
		if err != nil {
			t.Fatal(err)
		}
		if first := batch.Column(0).(*array.Int64).Value(0); first != (int64(i)*rows+int64(i)*100)*2+1 {
			t.Errorf("row group %d begins with %d", i, first)
		}
		batch.Release()
		r.Close()
	}
	f.Close()
	var read int64
	for _, r := range file.reads {
		read += r.Length
	}
	if read > 150<<10 {
		t.Errorf("%d bytes in %v", read, file.reads)
	}
}

func TestWhatDoesNotFitTheChunkIsNoIndex(t *testing.T) {
	data, _ := columnFile(t, 1, 20_000, 1, arrowparquet.WithPageIndexEnabled(true), arrowparquet.WithDataPageSize(16<<10), arrowparquet.WithBatchSize(512))
	f := openBytes(t, data)
	chunk := f.metadata.RowGroups[0].Columns[0]
	index := data[*chunk.OffsetIndexOffset:][:*chunk.OffsetIndexLength]
	if pages := f.pagesOf(0, 0, index); len(pages) < 5 || pages[0].FirstRow != 0 {
		t.Fatalf("%d pages", len(pages))
	}
	chunk.MetaData.TotalCompressedSize -= 100
	if pages := f.pagesOf(0, 0, index); pages != nil {
		t.Error("a page ends behind its chunk")
	}
	chunk.MetaData.TotalCompressedSize += 100
	f.metadata.RowGroups[0].NumRows = 3000
	if pages := f.pagesOf(0, 0, index); pages != nil {
		t.Error("a page begins behind the last row")
	}
	for n := range index {
		f.pagesOf(0, 0, index[:n])
	}
}

func TestGapsBetweenRows(t *testing.T) {
	rows := kernels.NewSelection([]kernels.Run{{From: 100, To: 200}, {From: 210, To: 300}, {From: 600, To: 700}})
	if got := gapBytes(rows, 1000, 10_000, 500); got != 1000+3000+3000 {
		t.Errorf("%d bytes", got)
	}
	pages := []kernels.Page{{Offset: 0, Length: 10}, {Offset: 10, Length: 10, FirstRow: 150}, {Offset: 20, Length: 10, FirstRow: 300}, {Offset: 30, Length: 10, FirstRow: 650}, {Offset: 40, Length: 10, FirstRow: 700}}
	var got int64
	for _, r := range withRows(pages, rows) {
		got += r.Length << r.Offset
	}
	if want := int64(10 + 10<<10 + 10<<20 + 10<<30); got != want {
		t.Errorf("pages %v", storage.Coalesce(withRows(pages, rows), 0, 0))
	}
}
