package scan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/resource"
)

// everyAggregate is all that can be asked of columns.
func everyAggregate(fields []predicate.Field) []Aggregate {
	out := []Aggregate{{Kind: CountRows}}
	for _, f := range fields {
		out = append(out, Aggregate{CountValues, f.ID}, Aggregate{Minimum, f.ID}, Aggregate{Maximum, f.ID})
	}
	return out
}

// ofValues computes an aggregate of a column's values; nil is null.
func ofValues(g Aggregate, values []any) any {
	count, best := int64(0), any(nil)
	for _, v := range values {
		if v == nil {
			continue
		}
		count++
		if c, _ := compare(v, best); best == nil || g.Kind == Minimum && c < 0 || g.Kind == Maximum && c > 0 {
			best = v
		}
	}
	switch g.Kind {
	case CountRows:
		return int64(len(values))
	case CountValues:
		return count
	}
	return best
}

func same(a, b any) bool {
	if a == nil || b == nil {
		return a == b
	}
	c, ok := compare(a, b)
	return ok && c == 0
}

// TestAggregatesAreThoseOfTheRows asks every table for all aggregates of its columns, one by one, with and without filters, and compares those that
// metadata tells with the rows. A scan that is asked for its rows alone must give as many, counted or read.
func TestAggregatesAreThoseOfTheRows(t *testing.T) {
	told := map[AggregateKind]int{}
	instead := map[string]int{}
	counted := 0
	everyTable(t, func(t *testing.T, table *Table) {
		source, err := table.Source(t.Context(), Reference{})
		if err != nil {
			t.Fatal(err)
		}
		var fields []predicate.Field
		for _, f := range source.Schema().Fields()[:min(12, source.Schema().NumFields())] {
			if readable(f) == nil && !arrow.IsNested(f.Type.ID()) {
				fields = append(fields, predicate.Field{ID: FieldID(f), Path: []string{f.Name}, Type: f.Type})
			}
		}
		ids := []int{}
		for _, f := range fields {
			ids = append(ids, f.ID)
		}
		all, err := readAll(t.Context(), source, Request{Fields: ids, Limit: -1})
		if fault.Is(err, fault.Unsupported) {
			t.Skipf("refused: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer all.Release()
		frame := frameOf(t, source, all, ids)
		defer frame.release()
		filters := []predicate.Expr{nil, predicate.False}
		rnd := rand.New(rand.NewPCG(3, 4))
		for i, f := range fields {
			for range min(int(all.NumRows()), 2) {
				if lit, ok := literalAt(all.Column(i), rnd.IntN(int(all.NumRows()))); ok {
					tests := testsOf(f, []predicate.Literal{lit}, rnd)
					filters = append(filters, tests[0], tests[rnd.IntN(len(tests))], tests[rnd.IntN(len(tests))])
				}
			}
		}
		for n := len(filters); n > 2 && len(filters) < n+6; {
			filters = append(filters, predicate.Or{Left: filters[2+rnd.IntN(n-2)], Right: filters[2+rnd.IntN(n-2)]},
				predicate.And{Left: filters[2+rnd.IntN(n-2)], Right: predicate.Not{Expr: filters[2+rnd.IntN(n-2)]}})
		}
		for _, filter := range filters {
			rows := rowsKept(t, frame, filter)
			got, err := readAll(t.Context(), source, Request{Filter: filter, Limit: -1, Aggregates: []Aggregate{{Kind: CountRows}}})
			if err != nil || got.NumRows() != int64(len(rows)) {
				t.Fatalf("%v: %d rows are counted, want %d, %v", filter, got.NumRows(), len(rows), err)
			}
			got.Release()
			for _, g := range everyAggregate(fields) {
				p, err := source.Plan(t.Context(), Request{Fields: ids, Filter: filter, Limit: -1, Aggregates: []Aggregate{g}})
				if err != nil {
					t.Fatal(err)
				}
				if p.(*tablePlan).counting != nil {
					t.Fatal("a scan of columns is counted")
				}
				values, why := Aggregates(p)
				if why != "" {
					instead[why[:min(len(why), 30)]]++
					continue
				}
				told[g.Kind]++
				at := slices.Index(ids, g.Field)
				column := make([]any, len(rows))
				for i, row := range rows {
					if at >= 0 {
						column[i] = literalValue(all.Column(at), row)
					}
				}
				if want := ofValues(g, column); !same(values[0], want) {
					t.Errorf("%v: aggregate %d of %d is %v, want %v", filter, g.Kind, g.Field, values[0], want)
				}
			}
			if p, err := source.Plan(t.Context(), Request{Filter: filter, Limit: -1, Aggregates: []Aggregate{{Kind: CountRows}}}); err == nil && p.(*tablePlan).counting != nil {
				counted++
			}
		}
	})
	t.Logf("told %v, %d counted, read instead for %d reasons", told, counted, len(instead))
	if len(told) != 4 || told[Minimum] < 20 || counted < 20 {
		t.Errorf("too little is told: %v, %d counted", told, counted)
	}
}

func literalValue(a arrow.Array, row int) any {
	lit, ok := literalAt(a, row)
	if !ok {
		return nil
	}
	return lit.Value
}

// rowsKept lists the rows that a filter keeps.
func rowsKept(t *testing.T, f *frame, filter predicate.Expr) []int {
	t.Helper()
	if filter == nil {
		filter = predicate.True
	}
	mask, err := predicate.Evaluate(filter, f.rows, f, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	defer mask.Release()
	runs, _ := kept(mask)
	var out []int
	for _, r := range runs {
		for i := r.From; i < r.To; i++ {
			out = append(out, int(i))
		}
	}
	return out
}

// TestAggregatesOfRandomTables compares what metadata tells with the rows that the files of random tables would hold: statistics are missing at random,
// columns are promoted, dropped and added, and partitions evolve.
func TestAggregatesOfRandomTables(t *testing.T) {
	tables := envNumber(t, "SKUA_PLANS", 40)
	told := map[AggregateKind]int{}
	for seed := envNumber(t, "SKUA_SEED", 1); tables > 0; seed, tables = seed+1, tables-1 {
		dir := filepath.Join(t.TempDir(), fmt.Sprint(seed))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		x := newRandomTable(t, seed, dir)
		d := newDifferential(t, x)
		source, err := d.ours.Source(t.Context(), Reference{})
		if err != nil {
			t.Fatal(err)
		}
		live := x.live[d.ours.metadata.CurrentSnapshot().SnapshotID]
		for j := range 6 {
			filter := predicate.Simplify(x.filter(1))
			if j == 0 {
				filter = predicate.True
			}
			for _, f := range source.Schema().Fields() {
				id := FieldID(f)
				for _, g := range everyAggregate([]predicate.Field{{ID: id}}) {
					p, err := source.Plan(t.Context(), Request{Filter: filter, Limit: -1, Aggregates: []Aggregate{g}})
					if err != nil {
						t.Fatal(err)
					}
					values, why := Aggregates(p)
					if why != "" {
						continue
					}
					told[g.Kind]++
					var column []any
					for _, file := range live {
						for _, row := range file.rows {
							if truth(x, filter, row) {
								column = append(column, row[id-1])
							}
						}
					}
					if want := ofValues(g, column); !same(values[0], want) {
						t.Errorf("seed %d, %v: aggregate %d of column %d is %v, want %v", seed, filter, g.Kind, id, values[0], want)
					}
				}
			}
		}
	}
	t.Logf("told %v", told)
	if len(told) != 4 || told[Minimum] < 20 {
		t.Errorf("too little is told: %v", told)
	}
}

// TestWhatMetadataCannotTell: every reason to read rows instead.
func TestWhatMetadataCannotTell(t *testing.T) {
	long := arrow.PrimitiveTypes.Int64
	schema := func(typ arrow.DataType, nullable bool) *tableSource {
		return &tableSource{paths: map[int]fieldPath{1: {Index: []int{0}, Names: []string{"c"}, Field: arrow.Field{Name: "c", Type: typ, Nullable: nullable}}}}
	}
	eight := func(n byte) []byte { return []byte{n, 0, 0, 0, 0, 0, 0, 0} }
	zero, nan := make([]byte, 8), []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f}
	type stats struct {
		values, nulls, nans int64
		lower, upper        []byte
	}
	plain := stats{10, 1, -1, eight(3), eight(9)}
	for _, c := range []struct {
		name     string
		typ      arrow.DataType
		required bool
		stats    stats
		file     dataFile
		want     [3]any // count of values, minimum, maximum; a string: the reason
	}{
		{"all known", long, false, plain, dataFile{}, [3]any{int64(9), int64(3), int64(9)}},
		{"nulls unknown", long, false, stats{10, -1, -1, eight(3), eight(9)}, dataFile{}, [3]any{"null is not known", "null is not known", "null is not known"}},
		{"nulls unknown of a required column", long, true, stats{-1, -1, -1, eight(3), eight(9)}, dataFile{}, [3]any{int64(10), int64(3), int64(9)}},
		{"values other than rows", long, false, stats{9, 1, -1, eight(3), eight(9)}, dataFile{}, [3]any{"null is not known", "null is not known", "null is not known"}},
		{"more nulls than rows", long, false, stats{10, 11, -1, eight(3), eight(9)}, dataFile{}, [3]any{"null is not known", "null is not known", "null is not known"}},
		{"only nulls", long, false, stats{10, 10, -1, nil, nil}, dataFile{}, [3]any{int64(0), nil, nil}},
		{"no bounds", long, false, stats{10, 1, -1, nil, nil}, dataFile{}, [3]any{int64(9), "no bound", "no bound"}},
		{"bounds of before a promotion", long, false, stats{10, 1, -1, []byte{3, 0, 0, 0}, []byte{9, 0, 0, 0}}, dataFile{}, [3]any{int64(9), "no bound in its type", "no bound in its type"}},
		{"bounds that contradict", long, false, stats{10, 1, -1, eight(9), eight(3)}, dataFile{}, [3]any{int64(9), "contradict", "contradict"}},
		{"text", arrow.BinaryTypes.String, false, stats{10, 1, -1, []byte("a"), []byte("b")}, dataFile{}, [3]any{int64(9), "need not be values", "need not be values"}},
		{"bytes", arrow.BinaryTypes.Binary, false, stats{10, 1, -1, []byte("a"), []byte("b")}, dataFile{}, [3]any{int64(9), "need not be values", "need not be values"}},
		{"fixed bytes", &arrow.FixedSizeBinaryType{ByteWidth: 8}, false, plain, dataFile{}, [3]any{int64(9), "need not be values", "need not be values"}},
		{"floats of which NaN is unknown", arrow.PrimitiveTypes.Float64, false, plain, dataFile{}, [3]any{int64(9), "may be NaN", "may be NaN"}},
		{"floats with NaN", arrow.PrimitiveTypes.Float64, false, stats{10, 1, 2, eight(3), eight(9)}, dataFile{}, [3]any{int64(9), "may be NaN", "may be NaN"}},
		{"floats with a zero", arrow.PrimitiveTypes.Float64, false, stats{10, 1, 0, zero, eight(9)}, dataFile{}, [3]any{int64(9), "either sign", math.Float64frombits(9)}},
		{"floats with NaN for a bound", arrow.PrimitiveTypes.Float64, false, stats{10, 1, 0, eight(3), nan}, dataFile{}, [3]any{int64(9), math.Float64frombits(3), "NaN"}},
		{"deletes", long, false, plain, dataFile{Deletes: []*deleteFile{{}}}, [3]any{"are deleted", "are deleted", "are deleted"}},
		{"a decimal past its precision", &arrow.Decimal128Type{Precision: 2}, false, stats{10, 0, -1, []byte{1}, []byte{1, 0}}, dataFile{}, [3]any{int64(10), decimal128.FromI64(1), "no bound in its type"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			column := &columnStats{counts: [3][]int64{{c.stats.values}, {c.stats.nulls}, {c.stats.nans}}}
			if c.stats.lower != nil {
				column.lower.put(0, c.stats.lower)
			}
			if c.stats.upper != nil {
				column.upper.put(0, c.stats.upper)
			}
			f := c.file
			f.fileEntry, f.Spec = &fileEntry{Path: "f", Records: 10}, &spec{}
			for i, g := range []Aggregate{{CountValues, 1}, {Minimum, 1}, {Maximum, 1}} {
				one := &tablePlan{source: schema(c.typ, !c.required), request: Request{Aggregates: []Aggregate{g}}}
				one.sums = newAggregation(one)
				one.sums.add(&f, fileStats{&manifestStats{ids: []int{1}, columns: []*columnStats{column}}, 0}, one.decide)
				values, why := Aggregates(one)
				reason, refused := c.want[i].(string)
				if refused != (why != "") || refused && !strings.Contains(why, reason) || !refused && !same(values[0], c.want[i]) {
					t.Errorf("aggregate %d is %v (%s), want %v", g.Kind, values, why, c.want[i])
				}
			}
		})
	}
	if _, why := Aggregates(&metaPlan{}); why == "" {
		t.Error("a metadata table told an aggregate")
	}
}

// TestCountingOpensNoDataFile counts a table's rows where positions are deleted, with the data files gone.
func TestCountingOpensNoDataFile(t *testing.T) {
	source := posDeletes(t)
	all, err := readAll(t.Context(), source, Request{Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	statement := resource.NewPool(resource.Config{Cores: 2}).NewStatement("s")
	got, err := readAll(resource.With(t.Context(), statement), source, Request{Limit: -1, Aggregates: []Aggregate{{Kind: CountRows}}})
	if err != nil || got.NumRows() != all.NumRows() || got.NumRows() == 0 {
		t.Fatalf("%d rows, want %d, %v", got.NumRows(), all.NumRows(), err)
	}
	if n := statement.Counters.DataBytes.Load(); n != 0 {
		t.Errorf("%d bytes of data files were read", n)
	}
	for _, c := range []Request{{Limit: -1}, {Limit: -1, Fields: []int{1}, Aggregates: []Aggregate{{Kind: CountRows}}}, {Limit: -1, Aggregates: []Aggregate{{Kind: CountRows}, {Minimum, 1}}}} {
		p, err := source.Plan(t.Context(), c)
		if err != nil || p.(*tablePlan).counting != nil {
			t.Errorf("%v is counted, %v", c, err)
		}
	}
}
