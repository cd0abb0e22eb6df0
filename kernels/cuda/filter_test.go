package cuda

import (
	"context"
	"fmt"
	"math"
	"math/rand"
	"reflect"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/kernels/ptxsim"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/resource"
)

// literalOf gives a value of a column as a literal, nil for a null and for types without literals.
func literalOf(a arrow.Array, i int) any {
	if a.IsNull(i) {
		return nil
	}
	switch a := a.(type) {
	case *array.Boolean:
		return a.Value(i)
	case *array.Int32:
		return int64(a.Value(i))
	case *array.Int64:
		return a.Value(i)
	case *array.Float32:
		return float64(a.Value(i))
	case *array.Float64:
		return a.Value(i)
	case *array.Date32:
		return int64(a.Value(i))
	case *array.Time64:
		return int64(a.Value(i))
	case *array.Timestamp:
		return int64(a.Value(i))
	case *array.String:
		return a.Value(i)
	case *array.Binary:
		return a.Value(i)
	case *array.FixedSizeBinary:
		return a.Value(i)
	case *extensions.UUIDArray:
		id := a.Value(i)
		return id[:]
	case *array.Decimal128:
		return a.Value(i)
	}
	return nil
}

// randomTest makes a test of a field, most often with a value that it has.
func randomTest(r *rand.Rand, f predicate.Field, values arrow.Array) predicate.Expr {
	literal := func() predicate.Literal {
		for range 50 {
			if v := literalOf(values, r.Intn(values.Len())); v != nil {
				return predicate.Literal{Type: f.Type, Value: v}
			}
		}
		return predicate.Literal{Type: f.Type}
	}
	l := literal()
	switch n := r.Intn(12); {
	case n == 0 || l.Value == nil:
		return predicate.IsNull{Field: f}
	case n == 1:
		return predicate.Not{Expr: predicate.IsNull{Field: f}}
	case n == 2 && f.Type.ID() == arrow.STRING:
		return predicate.StartsWith{Field: f, Prefix: l.Value.(string)[:min(1, len(l.Value.(string)))]}
	case n == 3:
		return predicate.In{Field: f, Values: []predicate.Literal{l, literal(), literal()}}
	case n == 4:
		return predicate.Or{Left: predicate.IsNull{Field: f}, Right: predicate.Comparison{Op: predicate.Eq, Field: f, Value: l}}
	case n == 5 && arrow.IsFloating(f.Type.ID()):
		return predicate.Comparison{Op: predicate.Op(r.Intn(6)), Field: f, Value: predicate.Literal{Type: f.Type, Value: []float64{math.NaN(), math.Copysign(0, -1), math.Inf(1), math.Inf(-1)}[r.Intn(4)]}}
	}
	return predicate.Comparison{Op: predicate.Op(r.Intn(6)), Field: f, Value: l}
}

// specialFloats puts numbers that are compared in a way of their own among others.
func specialFloats(r *rand.Rand, rows int) (fields []arrow.Field, out arrow.RecordBatch) {
	fields = []arrow.Field{kernelstest.Field(1, "f", arrow.PrimitiveTypes.Float32, true), kernelstest.Field(2, "d", arrow.PrimitiveTypes.Float64, true)}
	f, d := array.NewFloat32Builder(memory.DefaultAllocator), array.NewFloat64Builder(memory.DefaultAllocator)
	for range rows {
		v := []float64{math.NaN(), 0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), 1.5, -1.5, math.Float64frombits(0xfff8000000000001)}[r.Intn(8)]
		f.Append(float32(v))
		d.Append(v)
	}
	arrays := []arrow.Array{f.NewArray(), d.NewArray()}
	return fields, array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, int64(rows))
}

func TestFiltersKeepTheRowsThatTheCPUKeeps(t *testing.T) {
	s := simulate(t, testRoom, ptxsim.Options{})
	r := rand.New(rand.NewSource(4))
	for i, l := range kernelstest.Layouts() {
		for round := range 3 {
			fields := kernelstest.Flat(round > 0)
			batch := kernelstest.Random(fields, 500, 0.2, int64(i), memory.DefaultAllocator)
			if round == 2 {
				batch.Release()
				fields, batch = specialFloats(r, 500)
			}
			for _, g := range openGroups(t, kernelstest.Write(t, batch, l), fields) {
				for range 15 {
					filterBoth(t, s, g, batch, r)
				}
			}
			batch.Release()
		}
	}
	t.Log(s.Stats())
	if s.Stats().Filters.Load() < 300 {
		t.Error("few tests went to the device")
	}
}

func filterBoth(t *testing.T, s *simulation, g *kernels.RowGroup, batch arrow.RecordBatch, r *rand.Rand) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	ctx := resource.With(context.Background(), resource.NewPool(resource.Config{Allocator: mem}).NewStatement("test"))
	var tests []predicate.Expr
	for range 1 + r.Intn(3) {
		c := r.Intn(len(g.Columns))
		f := g.Columns[c].Field
		tests = append(tests, randomTest(r, predicate.Field{ID: c + 1, Path: []string{f.Name}, Type: f.Type}, batch.Column(c)))
	}
	p, in := predicate.Join(tests), kernelstest.RandomSelection(r, g.Rows)
	rest, got := selectWith(ctx, t, s, g, p, in)
	wantRest, want := selectWith(ctx, t, s.cpu, g, p, in)
	if fmt.Sprint(rest) != fmt.Sprint(wantRest) || !reflect.DeepEqual(got.Runs(), want.Runs()) {
		t.Fatalf("%s keeps %v with the rest %v, the CPU %v with %v", p, got.Runs(), rest, want.Runs(), wantRest)
	}
}

func selectWith(ctx context.Context, t *testing.T, d kernels.Decoder, g *kernels.RowGroup, p predicate.Expr, in *kernels.Selection) (predicate.Expr, *kernels.Selection) {
	t.Helper()
	reader, err := d.Open(ctx, g)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	rest, out, err := reader.Select(ctx, p, in)
	if err != nil {
		t.Fatalf("%s: %v", p, err)
	}
	return rest, out
}

// TestLiteralsOutsideOfTheKernels compares decimals that do not fit eight bytes, which are left to the CPU.
func TestLiteralsOutsideOfTheKernels(t *testing.T) {
	f := &leaf{back: 8, widened: true}
	wide := decimal128.New(1, 5)
	if _, _, _, ok := comparison(predicate.Comparison{Op: predicate.Lt, Value: predicate.Literal{Value: wide}}, f); ok {
		t.Error("a decimal of 16 bytes is compared in 8")
	}
	if kind, op, literal, ok := comparison(predicate.Comparison{Op: predicate.GtEq, Value: predicate.Literal{Value: decimal128.FromI64(-3)}}, f); !ok || kind != 1 || op != 5 || int64(literal) != -3 {
		t.Error(kind, op, literal, ok)
	}
}
