package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	arrowparquet "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/storage"
)

// distantFile is a remote file in memory whose requests are counted.
type distantFile struct {
	memoryFile
	key     string
	access  storage.Access
	version string
	mu      sync.Mutex
	reads   []storage.Range
	expects string
}

func newDistantFile(data []byte) *distantFile {
	return &distantFile{memoryFile: memoryFile{bytes.NewReader(data)}, key: fmt.Sprint(len(data)), version: "1",
		access: storage.Access{Tail: 64 << 10, Whole: 8 << 10, Gap: 4 << 10, Request: 1 << 20, Parallel: 4, Ahead: 4 << 20}}
}

func (d *distantFile) Key() string            { return d.key }
func (d *distantFile) Access() storage.Access { return d.access }
func (d *distantFile) Version() string        { return d.version }
func (d *distantFile) Expect(v string)        { d.expects = v }
func (d *distantFile) ReadAt(p []byte, off int64) (int, error) {
	if d.expects != "" && d.expects != d.version {
		return 0, errors.New("it has changed")
	}
	d.mu.Lock()
	d.reads = append(d.reads, storage.Range{Offset: off, Length: int64(len(p))})
	d.mu.Unlock()
	return d.memoryFile.ReadAt(p, off)
}

// columnFile has that many columns of int64 in row groups of that many rows each.
func columnFile(t *testing.T, columns, rows, groups int, options ...arrowparquet.WriterProperty) ([]byte, *arrow.Schema) {
	t.Helper()
	var fields []arrow.Field
	for i := range columns {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("c%02d", i), Type: arrow.PrimitiveTypes.Int64,
			Metadata: arrow.NewMetadata([]string{"PARQUET:field_id"}, []string{fmt.Sprint(i + 1)})})
	}
	schema := arrow.NewSchema(fields, nil)
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &out, arrowparquet.NewWriterProperties(append(options, arrowparquet.WithDictionaryDefault(false))...), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	for g := range groups {
		b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
		for c := range columns {
			for r := range rows {
				b.Field(c).(*array.Int64Builder).Append(int64(g*rows+r)*int64(columns) + int64(c))
			}
		}
		batch := b.NewRecordBatch()
		if err := w.Write(batch); err != nil {
			t.Fatal(err)
		}
		batch.Release()
		b.Release()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), schema
}

// sum reads the columns of a file group by group, with the next one ahead, and gives the sum of all values.
func sum(ctx context.Context, t *testing.T, f *File, schema *arrow.Schema) (total int64) {
	t.Helper()
	columns := matched(t, f, schema.Fields(), nil)
	groups := f.RowGroups(0, 1<<62, nil, nil)
	decoder := NewFallback()
	defer decoder.Close()
	for i, g := range groups {
		r, err := f.Read(ctx, decoder, g, columns)
		if err != nil {
			t.Fatal(err)
		}
		if i+1 < len(groups) {
			f.Ahead(ctx, decoder, groups[i+1:], columns, nil)
		}
		all := make([]int, len(columns))
		for i := range all {
			all[i] = i
		}
		batch, err := r.Read(ctx, all, kernels.All(g.Rows), 0, g.Rows)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range batch.Columns() {
			for _, v := range c.(*array.Int64).Int64Values() {
				total += v
			}
		}
		batch.Release()
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return total
}

func checkedContext(t *testing.T) context.Context {
	t.Helper()
	checked := memory.NewCheckedAllocator(memory.NewGoAllocator())
	t.Cleanup(func() { checked.AssertSize(t, 0) })
	return resource.With(t.Context(), resource.NewPool(resource.Config{Allocator: checked}).NewStatement("s"))
}

func TestRemoteFilesTakeFewRequests(t *testing.T) {
	for _, c := range []struct{ columns, rows, groups, most int }{
		{16, 10, 1, 1},    // all of it fits into the first request
		{16, 5000, 1, 2},  // the footer, then all columns together
		{16, 20000, 1, 4}, // columns of 2.5 MB, a megabyte a request
		{16, 5000, 3, 4},
		{40, 100, 40, 42}, // the footer takes two
	} {
		data, schema := columnFile(t, c.columns, c.rows, c.groups)
		file := newDistantFile(data)
		f, err := Open(t.Context(), file, "remote.parquet")
		if err != nil {
			t.Fatal(err)
		}
		n := int64(c.columns * c.rows * c.groups)
		if got := sum(checkedContext(t), t, f, schema); got != n*(n-1)/2 {
			t.Errorf("%+v: the sum is %d", c, got)
		}
		if len(file.reads) > c.most {
			t.Errorf("%+v: %d bytes in %d requests: %v", c, len(data), len(file.reads), file.reads)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestColumnsThatNobodyWantsAreNotFetched(t *testing.T) {
	data, schema := columnFile(t, 16, 20000, 1)
	file := newDistantFile(data)
	f, err := Open(t.Context(), file, "remote.parquet")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum(checkedContext(t), t, f, arrow.NewSchema(schema.Fields()[3:5], nil))
	var read int64
	for _, r := range file.reads {
		read += r.Length
	}
	if len(file.reads) != 2 || read > 64<<10+2*8*20000+4096 {
		t.Errorf("%d bytes in %v", read, file.reads)
	}
}

func TestWhatIsPlannedAheadAndNotReadIsGivenBack(t *testing.T) {
	data, schema := columnFile(t, 16, 5000, 2)
	f, err := Open(t.Context(), newDistantFile(data), "remote.parquet")
	if err != nil {
		t.Fatal(err)
	}
	ctx := checkedContext(t)
	columns := matched(t, f, schema.Fields(), nil)
	groups := f.RowGroups(0, 1<<62, nil, nil)
	f.Ahead(ctx, NewFallback(), groups, columns, nil)
	f.Ahead(ctx, NewFallback(), groups, columns, nil)
	f.Ahead(ctx, NewFallback(), groups[:1], columns[:1], nil)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFootersAreReadOnce(t *testing.T) {
	data, schema := columnFile(t, 16, 5000, 1)
	small, smallSchema := columnFile(t, 4, 10, 1)
	cache := NewFooters(1 << 20)
	for i, want := range []int{2, 1, 1} {
		file := newDistantFile(data)
		f, err := cache.Open(t.Context(), file, "remote.parquet")
		if err != nil {
			t.Fatal(err)
		}
		sum(checkedContext(t), t, f, schema)
		f.Close()
		if len(file.reads) != want || (i > 0 && file.expects != "1") {
			t.Errorf("time %d: %v, expecting version %q", i, file.reads, file.expects)
		}
		file = newDistantFile(small)
		if f, err = cache.Open(t.Context(), file, "small.parquet"); err != nil {
			t.Fatal(err)
		}
		sum(checkedContext(t), t, f, smallSchema)
		f.Close()
		if len(file.reads) != max(0, 1-i) {
			t.Errorf("time %d: a small file took %v", i, file.reads)
		}
	}
}

func TestAFooterOfAChangedFileIsNotUsedAgain(t *testing.T) {
	data, schema := columnFile(t, 16, 5000, 1)
	cache := NewFooters(1 << 20)
	f, err := cache.Open(t.Context(), newDistantFile(data), "remote.parquet")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	changed := newDistantFile(data)
	changed.version = "2"
	if f, err = cache.Open(t.Context(), changed, "remote.parquet"); err != nil {
		t.Fatal(err)
	}
	columns := matched(t, f, schema.Fields(), nil)
	r, err := f.Read(t.Context(), NewFallback(), f.RowGroups(0, 1<<62, nil, nil)[0], columns)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(t.Context(), []int{0}, kernels.All(5000), 0, 5000); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("got %v", err)
	}
	r.Close()
	f.Close()
	again := newDistantFile(data)
	again.version = "2"
	if f, err = cache.Open(t.Context(), again, "remote.parquet"); err != nil {
		t.Fatal(err)
	}
	if cache.get(again.key).version != "2" {
		t.Error("the footer of the old version is kept")
	}
	f.Close()
}

func TestFootersAreBounded(t *testing.T) {
	cache := NewFooters(100 << 10)
	for i := range 50 {
		data, _ := columnFile(t, 2, 10+i, 1)
		f, err := cache.Open(t.Context(), newDistantFile(data), "remote.parquet")
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	if cache.used > cache.bound || len(cache.entries) != cache.recent.Len() || len(cache.entries) == 0 || len(cache.entries) > 24 {
		t.Errorf("%d bytes in %d entries of %d", cache.used, len(cache.entries), cache.recent.Len())
	}
}
