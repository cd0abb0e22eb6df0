package cpu

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/parquet"
)

// filters are over the flat fields of kernelstest, and one inside a struct.
func filters() []predicate.Expr {
	flat := kernelstest.Flat(true)
	field := func(i int) predicate.Field {
		return predicate.Field{ID: i, Path: []string{flat[i-1].Name}, Type: flat[i-1].Type}
	}
	inner := predicate.Field{ID: 102, Path: []string{"point", "x"}, Type: arrow.PrimitiveTypes.Int32}
	positive := predicate.Comparison{Op: predicate.Gt, Field: field(3), Value: predicate.Literal{Type: field(3).Type, Value: int64(0)}}
	empty := predicate.Comparison{Op: predicate.Eq, Field: field(11), Value: predicate.Literal{Type: field(11).Type, Value: "a"}}
	small := predicate.In{Field: inner, Values: []predicate.Literal{{Type: inner.Type, Value: int64(1)}, {Type: inner.Type, Value: int64(-3)}}}
	isNull := predicate.IsNull{Field: field(1)}
	return []predicate.Expr{
		positive, empty, small, isNull, predicate.Not{Expr: isNull}, predicate.And{Left: positive, Right: empty}, predicate.Or{Left: small, Right: predicate.Not{Expr: positive}},
		predicate.And{Left: predicate.Or{Left: positive, Right: isNull}, Right: predicate.Not{Expr: empty}}, predicate.True, predicate.False,
	}
}

func TestSelectKeepsTheRowsThatTheFallbackKeeps(t *testing.T) {
	fields := append(kernelstest.Flat(true), kernelstest.Nested()[0])
	ours, theirs := New(), parquet.NewFallback()
	defer ours.Close()
	mem := kernelstest.NewSoiled()
	defer mem.AssertSize(t, 0)
	ctx := resource.With(context.Background(), resource.NewPool(resource.Config{Allocator: mem}).NewStatement("test"))
	kept := int64(0)
	for i, l := range kernelstest.Layouts() {
		l.RowGroup = 0
		batch := kernelstest.Random(fields, 20_000, 0.1, int64(i), memory.DefaultAllocator)
		groups, err := groupsOf(kernelstest.Write(t, batch, l))
		batch.Release()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range filters() {
			in := kernels.NewSelection([]kernels.Run{{From: 7, To: 9000}, {From: 9010, To: 9011}, {From: 15_000, To: 20_000}})
			var out [2]*kernels.Selection
			for i, d := range []kernels.Decoder{ours, theirs} {
				r, err := d.Open(ctx, groups[0])
				if err != nil {
					t.Fatal(err)
				}
				var rest predicate.Expr
				if rest, out[i], err = r.Select(ctx, p, in); err != nil || rest != nil {
					t.Fatalf("%s: rest %v, %v", p, rest, err)
				}
				if err := r.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if fmt.Sprint(out[0].Runs()) != fmt.Sprint(out[1].Runs()) {
				t.Errorf("%s: %s: %d rows, want %d", l.Name, p, out[0].Count(), out[1].Count())
			}
			kept += out[0].Count()
		}
	}
	if kept == 0 {
		t.Error("no filter keeps a row")
	}
}

// TestFilterColumnsAreKeptForReading reads survivors after Select, in steps, with the selection that it gave and with a smaller one, and compares
// them with what a reader gives that never filtered. Filters keep few rows, many, and more than is kept.
func TestFilterColumnsAreKeptForReading(t *testing.T) {
	fields := kernelstest.Flat(true)
	d := New()
	defer d.Close()
	mem := kernelstest.NewSoiled()
	defer mem.AssertSize(t, 0)
	ctx := resource.With(context.Background(), resource.NewPool(resource.Config{Allocator: mem}).NewStatement("test"))
	batch := kernelstest.Random(fields, 60_000, 0.1, 3, memory.DefaultAllocator)
	groups, err := groupsOf(kernelstest.Write(t, batch, kernelstest.Layout{}))
	batch.Release()
	if err != nil {
		t.Fatal(err)
	}
	g := groups[0]
	kept, passed := 0, 0
	for i, p := range filters() {
		in := kernels.NewSelection([]kernels.Run{{From: 7, To: 9000}, {From: 9010, To: 9011}, {From: 15_000, To: g.Rows}})
		opened, err := d.Open(ctx, g)
		if err != nil {
			t.Fatal(err)
		}
		_, out, err := opened.Select(ctx, p, in)
		if err != nil {
			t.Fatal(err)
		}
		if s := opened.(*reader).kept; s != nil && len(s.pieces) > 0 {
			kept++
		} else {
			passed++
		}
		if i%3 == 2 {
			out = out.Intersect(kernels.NewSelection([]kernels.Run{{From: 100, To: 30_000}}))
		}
		for column := range fields {
			for from := int64(0); from < out.Count(); from += 7001 {
				compareRead(t, ctx, d, opened, g, column, out, from, 7001)
			}
		}
		if err := opened.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if kept == 0 || passed == 0 {
		t.Errorf("%d filters kept what they read, %d did not", kept, passed)
	}
}

// compareRead compares what a reader gives with what a fresh one gives.
func compareRead(t *testing.T, ctx context.Context, d *Decoder, opened kernels.Reader, g *kernels.RowGroup, column int, sel *kernels.Selection, from, n int64) {
	t.Helper()
	fresh, err := d.Open(ctx, g)
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	got, err := opened.Read(ctx, []int{column}, sel, from, n)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Release()
	want, err := fresh.Read(ctx, []int{column}, sel, from, n)
	if err != nil {
		t.Fatal(err)
	}
	defer want.Release()
	a, b := exact(got.Column(0)), exact(want.Column(0))
	defer a.Release()
	defer b.Release()
	if !array.Equal(a, b) {
		t.Fatalf("column %d from %d: %v, want %v", column, from, got.Column(0), want.Column(0))
	}
}

func TestSelectLeavesWhatItCannotRead(t *testing.T) {
	batch := kernelstest.Random(kernelstest.Flat(true)[:3], 100, 0, 1, memory.DefaultAllocator)
	defer batch.Release()
	groups, err := groupsOf(kernelstest.Write(t, batch, kernelstest.Layout{}))
	if err != nil {
		t.Fatal(err)
	}
	d := New()
	defer d.Close()
	r, err := d.Open(context.Background(), groups[0])
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	known, unknown := predicate.IsNull{Field: predicate.Field{ID: 1}}, predicate.IsNull{Field: predicate.Field{ID: 77}}
	rest, out, err := r.Select(context.Background(), predicate.And{Left: known, Right: unknown}, kernels.All(100))
	if err != nil || rest == nil || rest.String() != unknown.String() || out.Count() != 0 {
		t.Errorf("rest %v, %d rows, %v", rest, out.Count(), err)
	}
	if rest, out, err = r.Select(context.Background(), unknown, kernels.All(100)); err != nil || rest == nil || out.Count() != 100 {
		t.Errorf("rest %v, %d rows, %v", rest, out.Count(), err)
	}
	if rest, out, err = r.Select(context.Background(), nil, kernels.All(100)); err != nil || rest != nil || out.Count() != 100 {
		t.Errorf("rest %v, %d rows, %v", rest, out.Count(), err)
	}
}

func TestADecoderServesManyReadersAtOnce(t *testing.T) {
	fields := append(kernelstest.Flat(true), kernelstest.Nested()...)
	layouts := kernelstest.Layouts()
	ours, theirs := New(), parquet.NewFallback()
	defer ours.Close()
	var wait sync.WaitGroup
	for i := range 4 {
		batch := kernelstest.Random(fields, 3000, 0.1, int64(i), memory.DefaultAllocator)
		groups, err := groupsOf(kernelstest.Write(t, batch, layouts[i]))
		batch.Release()
		if err != nil {
			t.Fatal(err)
		}
		wait.Go(func() {
			for column := range groups[0].Columns {
				if out := agree(t, ours, theirs, groups[0], column, kernels.All(groups[0].Rows), 700); out != (outcome{}) {
					t.Error(out)
				}
			}
		})
	}
	wait.Wait()
}

// TestAStatementOverItsMemoryStops reads with next to nothing to spend: texts, and lists inside of one row.
func TestAStatementOverItsMemoryStops(t *testing.T) {
	list := kernelstest.Field(1, "l", arrow.ListOfField(kernelstest.Field(2, "element", arrow.PrimitiveTypes.Int64, true)), true)
	for _, field := range []arrow.Field{kernelstest.Flat(true)[10], list} {
		batch := kernelstest.Random([]arrow.Field{field}, 50_000, 0, 1, memory.DefaultAllocator)
		groups, err := groupsOf(kernelstest.Write(t, batch, kernelstest.Layout{}))
		batch.Release()
		if err != nil {
			t.Fatal(err)
		}
		d := New()
		defer d.Close()
		statement := resource.NewPool(resource.Config{StatementMemory: 4096}).NewStatement("small")
		_, err = readColumn(resource.With(context.Background(), statement), d, groups[0], 0, kernels.All(50_000), 50_000)
		if !fault.Is(err, fault.Exhausted) || statement.Used() != 0 {
			t.Errorf("%s: %v, %d bytes still in use", field.Name, err, statement.Used())
		}
	}
}
