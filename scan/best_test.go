package scan

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/resource"
)

// bestTable has files of ten rows, two a row group, whose first column grows inside of each: file i holds the numbers from 10·i on. The files are not
// in their order, one has nulls, one has no statistics, and of the last some rows are deleted.
func bestTable(t *testing.T) *madeTable {
	m := makeTable(t, `{"id":1,"name":"x","type":"long","required":false},{"id":2,"name":"s","type":"string","required":false}`)
	fields := []arrow.Field{withID(1, "x", arrow.PrimitiveTypes.Int64), withID(2, "s", arrow.BinaryTypes.String)}
	for _, i := range []int{3, 0, 6, 1, 5, 2, 4} {
		var rows []string
		for n := range 10 {
			x := fmt.Sprint(10*i + n)
			if i == 4 && n == 9 {
				x = "null"
			}
			rows = append(rows, fmt.Sprintf(`{"x":%s,"s":"row %d of %d"}`, x, n, i))
		}
		f := madeFile{fields: fields, rows: "[" + strings.Join(rows, ",") + "]", group: 2, bounds: &[2]int64{int64(10 * i), int64(10*i + 9)}}
		switch i {
		case 4:
			f.bounds[1], f.nulls = 48, 1
		case 2:
			f.bounds = nil
		}
		m.commit(f)
	}
	m.commit(madeFile{fields: fields[:1], rows: `[{"x":69},{"x":0}]`, keys: []int{1}})
	return m
}

// TestBestRowsComeFromFewFiles reads the first rows of an order the way that an engine does, which learns their bound as they come.
func TestBestRowsComeFromFewFiles(t *testing.T) {
	for _, c := range []struct {
		name              string
		descending, nulls bool
		rows              int
		filter            predicate.Op // of x against 30; Eq: none
		want              string
		passed, groups    int // files never opened, and how many row groups at least are left out of those opened: the reader is ahead of who learns
	}{
		{name: "first", rows: 3, want: "1 2 3", passed: 5, groups: 5},
		{name: "last", descending: true, rows: 3, want: "66 67 68", passed: 5, groups: 5},
		{name: "nulls first", nulls: true, rows: 3, want: "1 2 <nil>", passed: 4, groups: 5},
		{name: "filtered", rows: 2, filter: predicate.Gt, want: "31 32", passed: 3, groups: 5},
		{name: "all", rows: 1000, want: "", passed: 0, groups: 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			checked := kernelstest.NewSoiled()
			defer checked.AssertSize(t, 0)
			ctx := resource.With(t.Context(), resource.NewPool(resource.Config{Cores: 1, Allocator: checked}).NewStatement(""))
			source, err := bestTable(t).open().Source(ctx, Reference{})
			if err != nil {
				t.Fatal(err)
			}
			x := predicate.Field{ID: 1, Path: []string{"x"}, Type: arrow.PrimitiveTypes.Int64}
			literal := func(n int64) predicate.Literal { return predicate.Literal{Type: x.Type, Value: n} }
			learner := &bestLearner{field: x, descending: c.descending, nulls: c.nulls, rows: c.rows}
			request := Request{Fields: []int{1, 2}, Limit: -1, Best: &Best{Field: x, Descending: c.descending, NullsFirst: c.nulls, Bound: learner.bound}}
			if c.filter != predicate.Eq {
				request.Filter = predicate.Comparison{Op: c.filter, Field: x, Value: literal(30)}
			}
			plan, err := source.Plan(ctx, request)
			if err != nil {
				t.Fatal(err)
			}
			r, err := plan.Open(ctx, 0, plan.Splits())
			if err != nil {
				t.Fatal(err)
			}
			defer r.Release()
			came := 0
			for r.Next() {
				learner.add(r.RecordBatch())
				came += int(r.RecordBatch().NumRows())
			}
			if r.Err() != nil {
				t.Fatal(r.Err())
			}
			if got := learner.best(); c.want != "" && got != c.want {
				t.Errorf("the best rows are %s, want %s", got, c.want)
			}
			if c.want == "" && came != 68 {
				t.Errorf("%d rows came, want all", came)
			}
			e := plan.Explain()
			left := 0
			for _, n := range e.RowGroups.Pruned {
				left += n
			}
			if e.Files.Pruned[byBest] != c.passed || left < c.groups {
				t.Errorf("%d files were passed and %d row groups left out, want %d and %d: %+v", e.Files.Pruned[byBest], left, c.passed, c.groups, e.RowGroups)
			}
			if !strings.HasPrefix(e.Best, "x") || strings.Contains(e.Best, "DESC") != c.descending || strings.Contains(e.Best, "NULLS FIRST") != c.nulls {
				t.Errorf("the plan tells of %q", e.Best)
			}
		})
	}
}

// bestLearner keeps the best numbers seen, in the plainest way. Nulls are the best or the worst.
type bestLearner struct {
	field             predicate.Field
	descending, nulls bool
	rows              int
	mu                sync.Mutex // of what follows: bounds are asked for while rows come
	seen              []*int64
}

func (l *bestLearner) add(b arrow.RecordBatch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	column := b.Column(0).(*array.Int64)
	for i := range column.Len() {
		if column.IsNull(i) {
			l.seen = append(l.seen, nil)
			continue
		}
		v := column.Value(i)
		l.seen = append(l.seen, &v)
	}
	slices.SortStableFunc(l.seen, func(a, b *int64) int {
		switch {
		case a == nil && b == nil:
			return 0
		case a == nil || b == nil:
			return order((a == nil) == l.nulls)
		case l.descending:
			a, b = b, a
		}
		return int(*a - *b)
	})
	l.seen = l.seen[:min(len(l.seen), l.rows)]
}

func (l *bestLearner) bound() (predicate.Expr, int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.seen) < l.rows || l.seen[l.rows-1] == nil {
		return nil, 0
	}
	last := *l.seen[l.rows-1]
	op := predicate.LtEq
	if l.descending {
		op = predicate.GtEq
	}
	var e predicate.Expr = predicate.Comparison{Op: op, Field: l.field, Value: predicate.Literal{Type: l.field.Type, Value: last}}
	if l.nulls {
		e = predicate.Or{Left: predicate.IsNull{Field: l.field}, Right: e}
	}
	return e, last + 1_000_000
}

func (l *bestLearner) best() string {
	out := make([]string, len(l.seen))
	for i, v := range l.seen {
		out[i] = "<nil>"
		if v != nil {
			out[i] = fmt.Sprint(*v)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}
