// Package kernelstest is the suite that every decoder passes: files written in many layouts, read under many selections and batch sizes,
// and compared with the values that were written. It is for tests only.
package kernelstest

import (
	"context"
	"fmt"
	"math/rand"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/resource"
)

// Opener opens a file's bytes and matches fields in it, all of which it holds: one RowGroup for each row group.
type Opener func(t testing.TB, data []byte, want []arrow.Field) []*kernels.RowGroup

const suiteRows = 1800

// Run tests a decoder on every layout. A decoder that leaves a column to others is asked only for those it takes.
func Run(t *testing.T, d kernels.Decoder, open Opener) {
	for _, kind := range []struct {
		name   string
		fields []arrow.Field
		nulls  float64
	}{
		{"required", Flat(false), 0}, {"nullable", Flat(true), 0.2}, {"nullable without nulls", Flat(true), 0}, {"only nulls", Flat(true), 1},
		{"nested", Nested(), 0.2}, {"nested without nulls", Nested(), 0},
	} {
		batch := Random(kind.fields, suiteRows, kind.nulls, 1, memory.DefaultAllocator)
		defer batch.Release()
		for i, l := range Layouts() {
			if testing.Short() && i > 1 {
				break
			}
			t.Run(kind.name+"/"+l.Name, func(t *testing.T) { RunBatch(t, d, open(t, Write(t, batch, l), kind.fields), batch) })
			if i > 1 {
				continue
			}
			t.Run(kind.name+"/"+l.Name+" and pages without values", func(t *testing.T) {
				groups := open(t, Write(t, batch, l), kind.fields)
				Hollow(t, groups)
				RunBatch(t, d, groups, batch)
			})
		}
	}
}

// RunBatch reads the row groups of one file under many selections and compares with the batch that was written.
func RunBatch(t *testing.T, d kernels.Decoder, groups []*kernels.RowGroup, batch arrow.RecordBatch) {
	t.Helper()
	mem := NewSoiled()
	defer mem.AssertSize(t, 0)
	ctx := resource.With(context.Background(), resource.NewPool(resource.Config{Allocator: mem}).NewStatement("test"))
	var rows int64
	for _, g := range groups {
		if g.FirstRow != rows {
			t.Fatalf("row group %d starts at %d, not %d", g.Ordinal, g.FirstRow, rows)
		}
		rows += g.Rows
		want := batch.NewSlice(g.FirstRow, g.FirstRow+g.Rows)
		taken := takenColumns(d, g)
		for _, s := range selections(g.Rows) {
			readAll(ctx, t, d, g, taken, want, s.rows, s.batch, fmt.Sprintf("row group %d, %s, batches of %d", g.Ordinal, s.name, s.batch))
		}
		readApart(ctx, t, d, g, taken, want)
		want.Release()
	}
	if rows != batch.NumRows() {
		t.Fatalf("%d rows, want %d", rows, batch.NumRows())
	}
}

func takenColumns(d kernels.Decoder, g *kernels.RowGroup) []int {
	var out []int
	for i, r := range d.Route(g) {
		if r.Taken {
			out = append(out, i)
		}
	}
	return out
}

// subset is a selection worth a test, and the size of the batches in which to read it.
type subset struct {
	name  string
	rows  *kernels.Selection
	batch int64
}

func selections(rows int64) []subset {
	r := rand.New(rand.NewSource(rows))
	var odd, few, blocks []kernels.Run
	for i := int64(0); i < rows; i++ {
		if i%2 == 1 {
			odd = append(odd, kernels.Run{From: i, To: i + 1})
		}
		if r.Intn(40) == 0 {
			few = append(few, kernels.Run{From: i, To: i + 1})
		}
	}
	for i := r.Int63n(100); i < rows; i += 100 + r.Int63n(400) {
		blocks = append(blocks, kernels.Run{From: i, To: min(rows, i+r.Int63n(90))})
	}
	return []subset{
		{"all", kernels.All(rows), rows}, {"all", kernels.All(rows), 1024}, {"none", kernels.NewSelection(nil), 10},
		{"last", kernels.NewSelection([]kernels.Run{{From: rows - 1, To: rows}}), 10}, {"odd", kernels.NewSelection(odd), 333},
		{"few", kernels.NewSelection(few), 7}, {"blocks", kernels.NewSelection(blocks), 97},
		{"middle", kernels.NewSelection([]kernels.Run{{From: rows / 3, To: 2 * rows / 3}}), rows / 5},
	}
}

// readAll reads the survivors of sel in batches of n.
func readAll(ctx context.Context, t *testing.T, d kernels.Decoder, g *kernels.RowGroup, columns []int, want arrow.RecordBatch, sel *kernels.Selection, n int64, what string) {
	t.Helper()
	r, err := d.Open(ctx, g)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer r.Close()
	for from := int64(0); from < max(sel.Count(), 1); from += n {
		got, err := r.Read(ctx, columns, sel, from, n)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		Compare(t, got, g, columns, want, sel.Slice(from, n), what)
		got.Release()
	}
}

// readApart reads every column in calls of its own, each at another position, and rows without columns.
func readApart(ctx context.Context, t *testing.T, d kernels.Decoder, g *kernels.RowGroup, columns []int, want arrow.RecordBatch) {
	t.Helper()
	r, err := d.Open(ctx, g)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	sel := kernels.All(g.Rows)
	for i, c := range columns {
		from := int64(i*37) % g.Rows
		got, err := r.Read(ctx, []int{c}, sel, from, 60)
		if err != nil {
			t.Fatal(err)
		}
		Compare(t, got, g, []int{c}, want, sel.Slice(from, 60), "a column alone")
		got.Release()
	}
	none, err := r.Read(ctx, nil, sel, 3, 5)
	if err != nil {
		t.Fatal(err)
	}
	if none.NumRows() != sel.Slice(3, 5).Count() || none.NumCols() != 0 {
		t.Errorf("%d rows of %d columns where only rows were asked for", none.NumRows(), none.NumCols())
	}
	none.Release()
}

// Compare fails where a batch is not the rows of want that sel selects, in the types that the row group's columns say.
func Compare(t *testing.T, got arrow.RecordBatch, g *kernels.RowGroup, columns []int, want arrow.RecordBatch, sel *kernels.Selection, what string) {
	t.Helper()
	if got.NumRows() != sel.Count() || int(got.NumCols()) != len(columns) {
		t.Fatalf("%s: %d rows of %d columns, want %d of %d", what, got.NumRows(), got.NumCols(), sel.Count(), len(columns))
	}
	for i, c := range columns {
		field := g.Columns[c].Field
		if !got.Schema().Field(i).Equal(field) || !arrow.TypeEqual(got.Column(i).DataType(), field.Type, arrow.CheckMetadata()) {
			t.Fatalf("%s: field %s, want %s", what, got.Schema().Field(i), field)
		}
		expected := rowsOf(want.Column(c), sel)
		if !array.Equal(got.Column(i), expected) {
			t.Fatalf("%s: %s is\n%v\nwant\n%v", what, field.Name, got.Column(i), expected)
		}
		expected.Release()
	}
}

func rowsOf(a arrow.Array, sel *kernels.Selection) arrow.Array {
	pieces := []arrow.Array{array.NewSlice(a, 0, 0)}
	for _, r := range sel.Runs() {
		pieces = append(pieces, array.NewSlice(a, r.From, r.To))
	}
	out, err := array.Concatenate(pieces, memory.DefaultAllocator)
	if err != nil {
		panic(err)
	}
	return out
}
