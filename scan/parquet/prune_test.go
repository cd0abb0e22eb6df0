package parquet

import (
	"context"
	"fmt"
	"math"
	"math/rand"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/predicate"
)

func boundField(f arrow.Field, path ...string) predicate.Field {
	id, _ := FieldID(f)
	return predicate.Field{ID: id, Path: append(path, f.Name), Type: f.Type}
}

func lookup(columns []kernels.Column) func(int) (Match, bool) {
	return func(id int) (Match, bool) {
		for _, c := range columns {
			if c.Node.Find(id) != nil {
				return Match{Present: true, Column: c}, true
			}
		}
		return Match{}, false
	}
}

// survivors counts the rows of a row group for which p holds.
func survivors(t *testing.T, f *File, ordinal int, columns []kernels.Column, p predicate.Expr) int64 {
	t.Helper()
	return passing(t, f, ordinal, columns, p).Count()
}

// passing selects them.
func passing(t *testing.T, f *File, ordinal int, columns []kernels.Column, p predicate.Expr) *kernels.Selection {
	t.Helper()
	group := f.RowGroup(ordinal, columns)
	r, err := NewFallback().Open(context.Background(), group)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rest, sel, err := r.Select(context.Background(), p, kernels.All(group.Rows))
	if err != nil || rest != nil {
		t.Fatalf("%s: rest %v, %v", p, rest, err)
	}
	return sel
}

// literals are values of a column to compare it with, and some beside them.
func literals(a arrow.Array, r *rand.Rand) []predicate.Literal {
	var out []predicate.Literal
	for range 6 {
		i := r.Intn(a.Len())
		if a.IsNull(i) {
			continue
		}
		var v any
		switch a := a.(type) {
		case *array.Boolean:
			v = a.Value(i)
		case *array.Int32:
			v = int64(a.Value(i)) + int64(r.Intn(3)) - 1
		case *array.Int64:
			v = a.Value(i) + int64(r.Intn(3)) - 1
		case *array.Date32:
			v = int64(a.Value(i))
		case *array.Time64:
			v = int64(a.Value(i))
		case *array.Timestamp:
			v = int64(a.Value(i))
		case *array.Float32:
			v = float64(a.Value(i))
		case *array.Float64:
			v = a.Value(i)
		case *array.Decimal128:
			v = a.Value(i)
		case *array.String:
			v = strings.Clone(a.Value(i))
		case *array.Binary:
			v = append([]byte{}, a.Value(i)...)
		case *array.FixedSizeBinary:
			v = append([]byte{}, a.Value(i)...)
		case array.ExtensionArray:
			v = append([]byte{}, a.Storage().(*array.FixedSizeBinary).Value(i)...)
		}
		out = append(out, predicate.Literal{Type: a.DataType(), Value: v})
	}
	if a.DataType().ID() == arrow.FLOAT64 || a.DataType().ID() == arrow.FLOAT32 {
		for _, v := range []float64{math.NaN(), math.Copysign(0, -1), math.Inf(1)} {
			out = append(out, predicate.Literal{Type: a.DataType(), Value: v})
		}
	}
	return out
}

func tests(f predicate.Field, values []predicate.Literal) []predicate.Expr {
	out := []predicate.Expr{predicate.IsNull{Field: f}, predicate.Not{Expr: predicate.IsNull{Field: f}}}
	for i, v := range values {
		for op := predicate.Eq; op <= predicate.GtEq; op++ {
			out = append(out, predicate.Comparison{Op: op, Field: f, Value: v}, predicate.Not{Expr: predicate.Comparison{Op: op, Field: f, Value: v}})
		}
		in := predicate.In{Field: f, Values: values[:i+1], HasNull: i%3 == 0}
		out = append(out, in, predicate.Not{Expr: in})
		if s, ok := v.Value.(string); ok {
			p := predicate.StartsWith{Field: f, Prefix: s[:min(len(s), 1+i)]}
			out = append(out, p, predicate.Not{Expr: p})
		}
	}
	if f.Type.ID() == arrow.FLOAT64 || f.Type.ID() == arrow.FLOAT32 {
		out = append(out, predicate.IsNaN{Field: f}, predicate.Not{Expr: predicate.IsNaN{Field: f}})
	}
	for i := 0; i+7 < len(out); i += 7 {
		out = append(out, predicate.And{Left: out[i], Right: out[i+7]}, predicate.Or{Left: out[i], Right: out[i+7]})
	}
	return out
}

func TestNoRowIsPrunedThatAFilterKeeps(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	pruned := 0
	for _, nulls := range []float64{0, 0.5, 0.9, 1} {
		fields := kernelstest.Flat(true)
		batch := kernelstest.Random(fields, 120, nulls, r.Int63(), memory.DefaultAllocator)
		for _, i := range []int{0, 1, 4, 6} { // small row groups, so that statistics tell something
			l := kernelstest.Layouts()[i]
			l.RowGroup = 12
			f := openBytes(t, kernelstest.Write(t, batch, l))
			columns := matched(t, f, fields, nil)
			for c, field := range fields {
				for _, p := range tests(boundField(field), literals(batch.Column(c), r)) {
					for _, g := range f.RowGroups(0, math.MaxInt64, p, lookup(columns)) {
						if g.Pruned == "" {
							continue
						}
						pruned++
						if n := survivors(t, f, g.Ordinal, columns[c:c+1], p); n > 0 {
							t.Fatalf("%s: row group %d with %d such rows is pruned: %s", p, g.Ordinal, n, g.Pruned)
						}
					}
				}
			}
		}
		batch.Release()
	}
	if pruned < 1000 {
		t.Errorf("only %d row groups pruned: the test shows nothing", pruned)
	}
}

func TestWhatStatisticsProve(t *testing.T) {
	point := arrow.StructOf(field(21, "x", i32, false))
	fields := []arrow.Field{
		field(1, "i", i32, true), field(2, "d", arrow.PrimitiveTypes.Float64, true), field(3, "s", utf8, true), field(4, "n", i64, true),
		field(5, "m", &arrow.Decimal128Type{Precision: 9, Scale: 2}, true), field(20, "p", point, true),
	}
	f := fileOf(t, fields, `[
		{"i": 1, "d": 1.5, "s": "banana", "n": null, "m": "1.00", "p": {"x": 1}}, {"i": null, "d": 2.5, "s": "band", "n": null, "m": "2.00", "p": null},
		{"i": 9, "d": null, "s": null, "n": null, "m": "2.00", "p": {"x": 1}}, {"i": null, "d": 2, "s": "bare", "n": null, "m": null, "p": {"x": 1}}]`)
	want := append([]arrow.Field{}, fields...)
	want[0], want[4] = field(1, "i", i64, true), field(5, "m", &arrow.Decimal128Type{Precision: 30, Scale: 2}, true)
	columns := matched(t, f, want, nil)
	i, d, s, n, m := boundField(want[0]), boundField(want[1]), boundField(want[2]), boundField(want[3]), boundField(want[4])
	x := boundField(point.Field(0), "p")
	of := func(f predicate.Field, v any) predicate.Literal { return predicate.Literal{Type: f.Type, Value: v} }
	cmp := func(op predicate.Op, f predicate.Field, v any) predicate.Expr {
		return predicate.Comparison{Op: op, Field: f, Value: of(f, v)}
	}
	for _, c := range []struct {
		p      predicate.Expr
		pruned bool
	}{
		{cmp(predicate.Eq, i, int64(5)), false}, // as many nulls as values is not "all nulls"
		{cmp(predicate.Eq, i, int64(10)), true}, {cmp(predicate.Gt, i, int64(9)), true}, {cmp(predicate.GtEq, i, int64(9)), false},
		{cmp(predicate.Lt, i, int64(1)), true}, {cmp(predicate.LtEq, i, int64(1)), false}, {cmp(predicate.NotEq, i, int64(1)), false},
		{predicate.IsNull{Field: i}, false}, {predicate.Not{Expr: predicate.IsNull{Field: i}}, false},
		{predicate.IsNull{Field: n}, false}, {predicate.Not{Expr: predicate.IsNull{Field: n}}, true}, {cmp(predicate.NotEq, n, int64(1)), true},
		{cmp(predicate.Gt, d, 3.0), false}, // NaN would be above
		{cmp(predicate.Eq, d, 3.0), true}, {cmp(predicate.Lt, d, 1.5), true}, {cmp(predicate.Lt, d, math.NaN()), false}, {cmp(predicate.Eq, d, math.NaN()), false},
		{predicate.StartsWith{Field: s, Prefix: "ban"}, false}, {predicate.StartsWith{Field: s, Prefix: "bb"}, true}, {predicate.StartsWith{Field: s, Prefix: "ba"}, false},
		{predicate.StartsWith{Field: s, Prefix: "az"}, true}, {predicate.Not{Expr: predicate.StartsWith{Field: s, Prefix: "b"}}, false},
		{predicate.In{Field: s, Values: []predicate.Literal{of(s, "a"), of(s, "z")}}, true}, {predicate.In{Field: s, Values: []predicate.Literal{of(s, "a"), of(s, "band")}}, false},
		{cmp(predicate.Gt, m, decimal128.FromI64(200)), true}, {cmp(predicate.Gt, m, decimal128.FromI64(199)), false},
		{predicate.IsNull{Field: x}, false}, // the field is required and its struct is not
		{cmp(predicate.Gt, x, int64(1)), true}, {cmp(predicate.NotEq, x, int64(1)), true},
		{predicate.And{Left: cmp(predicate.Eq, i, int64(1)), Right: cmp(predicate.Eq, s, "z")}, true},
		{predicate.Or{Left: cmp(predicate.Eq, i, int64(1)), Right: cmp(predicate.Eq, s, "z")}, false},
		{predicate.Or{Left: cmp(predicate.Eq, i, int64(0)), Right: cmp(predicate.Eq, s, "z")}, true},
		{cmp(predicate.Eq, predicate.Field{ID: 77, Type: i32}, int64(0)), false}, // not in the file
	} {
		groups := f.RowGroups(0, math.MaxInt64, c.p, lookup(columns))
		if len(groups) != 1 || (groups[0].Pruned != "") != c.pruned {
			t.Errorf("%s: %+v, want pruned %t", c.p, groups, c.pruned)
		}
	}
}

func TestRowGroupsBelongToTheRangeTheyStartIn(t *testing.T) {
	fields := kernelstest.Flat(true)[:3]
	batch := kernelstest.Random(fields, 100, 0.1, 3, memory.DefaultAllocator)
	defer batch.Release()
	data := kernelstest.Write(t, batch, kernelstest.Layout{RowGroup: 9})
	f := openBytes(t, data)
	for _, size := range []int64{1, 17, 100, 333, 1 << 20} {
		seen, rows := map[int]int{}, int64(0)
		for start := int64(0); start < int64(len(data)); start += size {
			for _, g := range f.RowGroups(start, size, nil, nil) {
				seen[g.Ordinal]++
				rows += g.Rows
				if g.FirstRow != int64(g.Ordinal)*9 {
					t.Errorf("row group %d starts at row %d", g.Ordinal, g.FirstRow)
				}
			}
		}
		if rows != 100 || len(seen) != 12 || f.Rows() != 100 {
			t.Errorf("ranges of %d give %d rows of %d row groups: %v", size, rows, len(seen), seen)
		}
	}
}

func TestSelectLeavesWhatItDoesNotKnow(t *testing.T) {
	fields := []arrow.Field{field(1, "i", i32, true), field(2, "p", arrow.StructOf(field(3, "x", i32, true)), true)}
	f := fileOf(t, fields, `[{"i": 1, "p": null}, {"i": 2, "p": {"x": 5}}, {"i": 3, "p": {"x": null}}, {"i": null, "p": {"x": 7}}]`)
	r, err := NewFallback().Open(context.Background(), f.RowGroup(0, matched(t, f, fields, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	unknown := predicate.IsNull{Field: predicate.Field{ID: 50, Path: []string{"u"}, Type: i32}}
	x := predicate.Field{ID: 3, Path: []string{"p", "x"}, Type: i32}
	for _, c := range []struct {
		p    predicate.Expr
		rest string
		runs string
	}{
		{predicate.And{Left: predicate.IsNull{Field: x}, Right: unknown}, unknown.String(), "[{0 1} {2 3}]"},
		{predicate.Or{Left: predicate.IsNull{Field: x}, Right: unknown}, predicate.Or{Left: predicate.IsNull{Field: x}, Right: unknown}.String(), "[{0 4}]"},
		{predicate.Comparison{Op: predicate.Gt, Field: x, Value: predicate.Literal{Type: i32, Value: int64(4)}}, "", "[{1 2} {3 4}]"},
		{predicate.Comparison{Op: predicate.Lt, Field: boundField(fields[0]), Value: predicate.Literal{Type: i32, Value: int64(9)}}, "", "[{0 3}]"},
	} {
		rest, sel, err := r.Select(context.Background(), c.p, kernels.All(4))
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		if rest != nil {
			text = rest.String()
		}
		if text != c.rest || fmt.Sprint(sel.Runs()) != c.runs {
			t.Errorf("%s: rest %q, rows %v, want %q, %s", c.p, text, sel.Runs(), c.rest, c.runs)
		}
	}
	// The columns are read from the first row, whatever the filter has read.
	batch, err := r.Read(context.Background(), []int{0}, kernels.All(4), 0, 10)
	if err != nil || batch.NumRows() != 4 {
		t.Fatalf("%v, %v", batch, err)
	}
	batch.Release()
}
