package parquet

import (
	"math"
	"math/rand"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	format "github.com/apache/arrow-go/v18/parquet"

	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/predicate"
)

// indexedFile is a file of a few row groups with many small pages each and a page index.
func indexedFile(t testing.TB, fields []arrow.Field, rows int, nulls float64, seed int64, version format.DataPageVersion) ([]byte, arrow.RecordBatch) {
	batch := kernelstest.Random(fields, rows, nulls, seed, memory.DefaultAllocator)
	return kernelstest.Write(t, batch, kernelstest.Layout{RowGroup: int64(rows)/2 + 1, Options: []format.WriterProperty{
		format.WithPageIndexEnabled(true), format.WithDataPageSize(1), format.WithBatchSize(7), format.WithDictionaryDefault(seed%2 == 0), format.WithDataPageVersion(version)}}), batch
}

func TestNoRowIsOnAPageThatIsLeftOutAndPassesTheFilter(t *testing.T) {
	r := rand.New(rand.NewSource(8))
	left, fields := 0, kernelstest.Flat(true)
	for i, nulls := range []float64{0, 0.5, 0.9, 1} {
		for _, version := range []format.DataPageVersion{format.DataPageV1, format.DataPageV2} {
			data, batch := indexedFile(t, fields, 150, nulls, int64(i), version)
			f := openBytes(t, data)
			columns := matched(t, f, fields, nil)
			for c, field := range fields {
				for _, p := range tests(boundField(field), literals(batch.Column(c), r)) {
					for _, g := range f.RowGroups(0, math.MaxInt64, nil, nil) {
						pages := f.pages(g, p, lookup(columns), 0)
						if pages == nil || pages.Count() == g.Rows {
							continue
						}
						left++
						rows := passing(t, f, g.Ordinal, columns[c:c+1], p)
						if rows.Intersect(pages).Count() != rows.Count() {
							t.Fatalf("%s: row group %d: rows %v pass, and pages of %v are read", p, g.Ordinal, rows.Runs(), pages.Runs())
						}
					}
				}
			}
			batch.Release()
		}
	}
	if left < 1000 {
		t.Errorf("only %d times was a page left out: the test shows nothing", left)
	}
}

func TestPagesOfSeveralColumnsAreIntersected(t *testing.T) {
	fields := []arrow.Field{kernelstest.Flat(false)[2], kernelstest.Flat(false)[3]}
	data, batch := indexedFile(t, fields, 400, 0, 1, format.DataPageV2)
	defer batch.Release()
	f := openBytes(t, data)
	columns := matched(t, f, fields, nil)
	g := f.RowGroups(0, math.MaxInt64, nil, nil)[0]
	least := func(c int) predicate.Expr {
		v := literals(batch.Column(c), rand.New(rand.NewSource(1)))[0]
		return predicate.Comparison{Op: predicate.Eq, Field: boundField(fields[c]), Value: v}
	}
	one, other := f.pages(g, least(0), lookup(columns), 0), f.pages(g, least(1), lookup(columns), 0)
	both := f.pages(g, predicate.And{Left: least(0), Right: least(1)}, lookup(columns), 0)
	if one == nil || other == nil || both == nil || both.Count() != one.Intersect(other).Count() || both.Count() >= g.Rows {
		t.Fatalf("%v and %v give %v", one, other, both)
	}
	if got := f.Pages(g, least(0), lookup(columns)); got != nil {
		t.Errorf("the index of a chunk of some hundred bytes is read: %v", got.Runs())
	}
}

// FuzzPageIndex reads damaged indexes: they may prove anything, and must not do anything else.
func FuzzPageIndex(f *testing.F) {
	fields := kernelstest.Flat(true)
	data, batch := indexedFile(f, fields, 60, 0.3, 1, format.DataPageV2)
	chunk := openBytes(f, data).metadata.RowGroups[0].Columns[3]
	at := func(from *int64, length *int32) []byte { return data[*from : *from+int64(*length)] }
	f.Add(at(chunk.ColumnIndexOffset, chunk.ColumnIndexLength), at(chunk.OffsetIndexOffset, chunk.OffsetIndexLength))
	batch.Release()
	f.Fuzz(func(t *testing.T, column, offsets []byte) {
		x := &pageIndex{}
		if x.readColumnIndex(column) && x.readOffsetIndex(offsets) && x.holds(31) && len(x.first) > len(offsets) {
			t.Errorf("%d pages of %d bytes", len(x.first), len(offsets))
		}
	})
}
