package cpu

import (
	"context"
	"fmt"
	"io"
	"math/rand"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/parquet"
)

// holed is a file of which some bytes must not be read.
type holed struct {
	io.ReaderAt
	holes []kernels.Page
}

func (h holed) ReadAt(p []byte, off int64) (int, error) {
	for _, hole := range h.holes {
		if off < hole.Offset+hole.Length && off+int64(len(p)) > hole.Offset {
			return 0, fmt.Errorf("the page at %d, which has no survivors, is read at %d+%d", hole.Offset, off, len(p))
		}
	}
	return h.ReaderAt.ReadAt(p, off)
}

// pagesOf walks a column chunk outside of lists and tells where its data pages lie.
func pagesOf(t *testing.T, d *Decoder, g *kernels.RowGroup, leaf int) (out []kernels.Page) {
	t.Helper()
	walk, err := d.OpenPages(g, leaf)
	if err != nil {
		t.Fatal(err)
	}
	defer walk.Close()
	row := int64(0)
	for {
		begin := walk.pages.Chunk.Offset()
		h, more, err := walk.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return out
		}
		if err := walk.Skip(&h); err != nil {
			t.Fatal(err)
		}
		if !h.Dictionary {
			out = append(out, kernels.Page{Offset: begin, Length: walk.pages.Chunk.Offset() - begin, FirstRow: row})
			row += int64(h.Values)
		}
	}
}

// TestNothingIsReadOfPagesWithoutSurvivors reads flat columns and structs, with dictionaries and without, where the places of pages are known, by the
// decoder here and by the fallback; and filters them.
func TestNothingIsReadOfPagesWithoutSurvivors(t *testing.T) {
	fields := append(kernelstest.Flat(true), kernelstest.Nested()[0])
	ours, theirs := New(), parquet.NewFallback()
	defer ours.Close()
	mem := kernelstest.NewSoiled()
	defer mem.AssertSize(t, 0)
	ctx := resource.With(context.Background(), resource.NewPool(resource.Config{Allocator: mem}).NewStatement("test"))
	r := rand.New(rand.NewSource(3))
	left := 0
	for i, options := range [][]pq.WriterProperty{
		{pq.WithDataPageVersion(pq.DataPageV1), pq.WithCompression(compress.Codecs.Snappy)},
		{pq.WithDataPageVersion(pq.DataPageV2), pq.WithDictionaryDefault(false)},
		{pq.WithDataPageVersion(pq.DataPageV2), pq.WithCompression(compress.Codecs.Zstd)},
	} {
		batch := repetitive(t, fields, 50, 3000, 0.2, int64(i))
		groups, err := groupsOf(kernelstest.Write(t, batch, kernelstest.Layout{Options: append(options, pq.WithDataPageSize(300), pq.WithBatchSize(64))}))
		if err != nil {
			t.Fatal(err)
		}
		whole := groups[0]
		places := map[int][]kernels.Page{}
		for _, c := range whole.Columns {
			for _, leaf := range c.Leaves {
				places[leaf] = pagesOf(t, ours, whole, leaf)
			}
		}
		for range 6 {
			from := int64(r.Intn(2500))
			sel := kernels.NewSelection([]kernels.Run{{From: from, To: from + int64(1+r.Intn(200))}, {From: 2600 + int64(r.Intn(50)), To: 2700 + int64(r.Intn(300))}})
			g := *whole
			var holes []kernels.Page
			for _, pages := range places {
				for k, p := range pages {
					to := whole.Rows
					if k+1 < len(pages) {
						to = pages[k+1].FirstRow
					}
					if sel.Intersect(kernels.NewSelection([]kernels.Run{{From: p.FirstRow, To: to}})).Count() == 0 {
						holes = append(holes, p)
					}
				}
			}
			left += len(holes)
			g.File, g.Near, g.Pages = holed{whole.File, holes}, false, func(leaf int) []kernels.Page { return places[leaf] }
			for c := range g.Columns {
				want, err := readColumn(ctx, theirs, whole, c, sel, 90)
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range []kernels.Decoder{ours, theirs} {
					got, err := readColumn(ctx, d, &g, c, sel, 90)
					if err != nil {
						t.Fatalf("column %s: %v", g.Columns[c].Field.Name, err)
					}
					if len(got) != len(want) {
						t.Fatalf("%d batches, want %d", len(got), len(want))
					}
					for k := range got {
						x, y := exact(got[k]), exact(want[k])
						if !array.Equal(x, y) {
							t.Fatalf("column %s: %v, want %v", g.Columns[c].Field.Name, x, y)
						}
						x.Release()
						y.Release()
						got[k].Release()
					}
				}
				for _, a := range want {
					a.Release()
				}
			}
			for c, f := range fields[:len(fields)-1] {
				for _, p := range testsOf(f, batch.Column(c))[:min(6, 2+c)] {
					var want *kernels.Selection
					for k, d := range []kernels.Decoder{theirs, ours, theirs} {
						group := &g
						if k == 0 {
							group = whole
						}
						a, rows := selected(t, ctx, d, group, c, p, sel)
						a.Release()
						if k == 0 {
							want = rows
						}
						if fmt.Sprint(rows.Runs()) != fmt.Sprint(want.Runs()) {
							t.Fatalf("%s: rows %v, want %v", p, rows.Runs(), want.Runs())
						}
					}
				}
			}
		}
		batch.Release()
	}
	if left < 500 {
		t.Errorf("only %d pages have no survivors: the test shows nothing", left)
	}
}

// TestPagesThatAreNotWhereTheIndexSaysAreAnError moves the places, and the rows.
func TestPagesThatAreNotWhereTheIndexSaysAreAnError(t *testing.T) {
	batch := repetitive(t, []arrow.Field{kernelstest.Flat(false)[2]}, 50, 3000, 0, 1)
	defer batch.Release()
	groups, err := groupsOf(kernelstest.Write(t, batch, kernelstest.Layout{Options: []pq.WriterProperty{pq.WithDataPageSize(300), pq.WithBatchSize(64)}}))
	if err != nil {
		t.Fatal(err)
	}
	d := New()
	defer d.Close()
	g := *groups[0]
	places := pagesOf(t, d, &g, 0)
	for _, off := range []kernels.Page{{Offset: -7}, {Offset: 5}, {FirstRow: -1}, {FirstRow: 2}, {Offset: places[1].Offset - places[0].Offset}} {
		moved := append([]kernels.Page(nil), places...)
		for i := range moved[1:] {
			moved[i+1].Offset += off.Offset
			moved[i+1].FirstRow += off.FirstRow * int64(i%7)
		}
		g.Pages = func(int) []kernels.Page { return moved }
		for _, decoder := range []kernels.Decoder{d, parquet.NewFallback()} {
			checked := memory.NewCheckedAllocator(memory.DefaultAllocator)
			ctx := resource.With(context.Background(), resource.NewPool(resource.Config{Allocator: checked}).NewStatement("test"))
			out, err := readColumn(ctx, decoder, &g, 0, kernels.NewSelection([]kernels.Run{{From: 2000, To: 2900}}), 500)
			if err == nil {
				t.Errorf("%d rows are read from pages that begin elsewhere", len(out))
			}
			checked.AssertSize(t, 0)
		}
	}
}
