package scan

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
)

// everyTable calls visit for each table of a folder of recorded answers.
func everyTable(t *testing.T, visit func(t *testing.T, table *Table)) {
	for _, root := range oracleRoots() {
		s := oracleScanner(t, root)
		hints, err := filepath.Glob(filepath.Join(root, "expected", "*.jsonl"))
		if err != nil || len(hints) == 0 {
			t.Fatalf("nothing under %s: %v", root, err)
		}
		for _, path := range hints {
			first := oracleFile(t, path)[0]
			if first.Kind != "table" {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, "warehouse", strings.Join(first.Namespace, "/"), first.Name)); err != nil {
				continue
			}
			table := oracleTable(t, s, root, first.Namespace, first.Name)
			t.Run(filepath.Base(root)+"/"+first.Table, func(t *testing.T) { visit(t, table) })
		}
	}
}

// literalAt takes a value of a column as a literal; false: null or a type without literals.
func literalAt(a arrow.Array, i int) (predicate.Literal, bool) {
	if a.IsNull(i) {
		return predicate.Literal{}, false
	}
	lit := predicate.Literal{Type: a.DataType()}
	switch a := a.(type) {
	case *array.Boolean:
		lit.Value = a.Value(i)
	case *array.Int32:
		lit.Value = int64(a.Value(i))
	case *array.Int64:
		lit.Value = a.Value(i)
	case *array.Date32:
		lit.Value = int64(a.Value(i))
	case *array.Timestamp:
		lit.Value = int64(a.Value(i))
	case *array.Time64:
		lit.Value = int64(a.Value(i))
	case *array.Float32:
		lit.Value = float64(a.Value(i))
	case *array.Float64:
		lit.Value = a.Value(i)
	case *array.Decimal128:
		lit.Value = a.Value(i)
	case *array.String:
		lit.Value = a.Value(i)
	case *array.Binary:
		lit.Value = append([]byte(nil), a.Value(i)...)
	case *array.FixedSizeBinary:
		lit.Value = append([]byte(nil), a.Value(i)...)
	case *extensions.UUIDArray:
		v := a.Value(i)
		lit.Value = v[:]
	default:
		return lit, false
	}
	return lit, true
}

// nudged moves a literal a little, so that it lies between values.
func nudged(l predicate.Literal, by int64) predicate.Literal {
	switch v := l.Value.(type) {
	case int64:
		l.Value = v + by
	case float64:
		l.Value = v + float64(by)/2
	case decimal128.Num:
		l.Value = v.Add(decimal128.FromI64(by))
	case string:
		l.Value = v + "~"
	}
	return l
}

// testsOf makes tests of a column out of its own values.
func testsOf(f predicate.Field, values []predicate.Literal, rnd *rand.Rand) []predicate.Expr {
	out := []predicate.Expr{predicate.IsNull{Field: f}, predicate.Not{Expr: predicate.IsNull{Field: f}}}
	if f.Type.ID() == arrow.FLOAT32 || f.Type.ID() == arrow.FLOAT64 {
		out = append(out, predicate.IsNaN{Field: f}, predicate.Not{Expr: predicate.IsNaN{Field: f}})
		values = append(values, predicate.Literal{Type: f.Type, Value: math.NaN()}, predicate.Literal{Type: f.Type, Value: math.Copysign(0, -1)}, predicate.Literal{Type: f.Type, Value: 0.0})
	}
	for i, v := range values {
		for op := predicate.Eq; op <= predicate.GtEq; op++ {
			c := predicate.Comparison{Op: op, Field: f, Value: v}
			out = append(out, c, predicate.Not{Expr: c})
			c.Value = nudged(v, int64(1-2*(i%2)))
			out = append(out, c)
		}
		pick := []predicate.Literal{v, values[rnd.IntN(len(values))]}
		in := predicate.In{Field: f, Values: pick, HasNull: i%3 == 0}
		out = append(out, in, predicate.Not{Expr: in})
		if s, ok := v.Value.(string); ok {
			for n := range min(len(s), 3) {
				p := predicate.StartsWith{Field: f, Prefix: s[:n+1]}
				out = append(out, p, predicate.Not{Expr: p})
			}
		}
	}
	return out
}

// TestFiltersGiveWhatTheRowsSay compares filtered scans, with all their pruning, with the same test over all rows.
func TestFiltersGiveWhatTheRowsSay(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of scans of every table")
	}
	everyTable(t, func(t *testing.T, table *Table) {
		source, err := table.Source(t.Context(), Reference{})
		if err != nil {
			t.Fatal(err)
		}
		var fields []predicate.Field
		var ids []int
		for _, f := range append(source.Schema().Fields(), source.MetadataColumns().Fields()...) {
			if f.Name != "_deleted" && readable(f) == nil {
				ids = append(ids, FieldID(f))
				fields = leavesIn(f, nil, fields)
			}
		}
		if len(ids) > 40 {
			ids, fields = append(ids[:20:20], ids[len(ids)-5:]...), append(fields[:20:20], fields[len(fields)-4:]...)
		}
		all, err := readAll(t.Context(), source, Request{Fields: ids, Limit: -1})
		if fault.Is(err, fault.Unsupported) {
			t.Skipf("refused: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer all.Release()
		checkFilters(t, source, all, ids, fields)
	})
}

func leavesIn(f arrow.Field, path []string, out []predicate.Field) []predicate.Field {
	path = append(append([]string(nil), path...), f.Name)
	switch t := f.Type.(type) {
	case *arrow.StructType:
		for _, c := range t.Fields() {
			out = leavesIn(c, path, out)
		}
		return out
	case *arrow.ListType, *arrow.MapType, *arrow.NullType:
		return out
	}
	if FieldID(f) < 0 { // inside of a variant there are no fields of the table
		return out
	}
	return append(out, predicate.Field{ID: FieldID(f), Path: path, Type: f.Type})
}

func checkFilters(t *testing.T, source Source, all arrow.RecordBatch, ids []int, fields []predicate.Field) {
	rnd := rand.New(rand.NewPCG(1, 2))
	frame := frameOf(t, source, all, ids)
	defer frame.release()
	var tests []predicate.Expr
	for _, f := range fields {
		a, err := frame.field(f.ID)
		if err != nil {
			t.Fatal(err)
		}
		var values []predicate.Literal
		for range min(a.Len(), 2) {
			if v, ok := literalAt(a, rnd.IntN(a.Len())); ok {
				values = append(values, v)
			}
		}
		tests = append(tests, testsOf(f, values, rnd)...)
	}
	singles := len(tests)
	for range 10 {
		if singles > 0 {
			a, b := tests[rnd.IntN(singles)], tests[rnd.IntN(singles)]
			tests = append(tests, predicate.And{Left: a, Right: b}, predicate.Or{Left: a, Right: b}, predicate.Not{Expr: predicate.And{Left: a, Right: b}})
		}
	}
	left := map[string]int{}
	for _, e := range tests {
		checkFilter(t, source, frame, all, ids, e, left)
	}
	t.Logf("%d filters over %d rows; left out %v", len(tests), all.NumRows(), left)
}

func frameOf(t *testing.T, source Source, all arrow.RecordBatch, ids []int) *frame {
	t.Helper()
	top := append(source.Schema().Fields(), source.MetadataColumns().Fields()...)
	p, err := project(top, paths(top), source.Schema().NumFields(), ids, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	out := newFrame(p, int(all.NumRows()), memory.DefaultAllocator)
	for i, w := range p.columns {
		for j, id := range ids {
			if FieldID(w.Field) == id {
				out.columns[i] = all.Column(j)
				out.columns[i].Retain()
			}
		}
	}
	return out
}

func checkFilter(t *testing.T, source Source, frame *frame, all arrow.RecordBatch, ids []int, e predicate.Expr, left map[string]int) {
	t.Helper()
	mask, err := predicate.Evaluate(e, frame.rows, frame, memory.DefaultAllocator)
	if err != nil {
		t.Errorf("%s: %v", e, err)
		return
	}
	defer mask.Release()
	runs, n := kept(mask)
	want := map[string]int{}
	for _, r := range runs {
		s := all.NewSlice(int64(r.From), int64(r.To))
		for _, row := range rowsOf(s) {
			want[row]++
		}
		s.Release()
	}
	p, err := source.Plan(context.Background(), Request{Fields: ids, Filter: e, Limit: -1})
	if err != nil {
		t.Errorf("%s: %v", e, err)
		return
	}
	for reason, count := range p.Explain().Files.Pruned {
		left[reason] += count
	}
	got, err := readAll(t.Context(), source, Request{Fields: ids, Filter: e, Limit: -1})
	if err != nil {
		t.Errorf("%s: %v", e, err)
		return
	}
	defer got.Release()
	if int(got.NumRows()) != n {
		t.Errorf("%s: %d rows, want %d", e, got.NumRows(), n)
		return
	}
	for _, row := range rowsOf(got) {
		if want[row]--; want[row] < 0 {
			t.Errorf("%s: row %s is not wanted", e, row)
			return
		}
	}
	if len(runs) > 0 { // and without the filter's columns in the result
		some, err := readAll(t.Context(), source, Request{Fields: ids[:1], Filter: e, Limit: -1})
		if err != nil || int(some.NumRows()) != n {
			t.Errorf("%s: one column: %v", e, err)
		}
		if err == nil {
			some.Release()
		}
	}
}
