package cpu

import (
	"context"
	"fmt"
	"math/rand"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/parquet"
)

// repetitive repeats few rows of random values, some in runs. The caller releases it.
func repetitive(t testing.TB, fields []arrow.Field, distinct, rows int, nulls float64, seed int64) arrow.RecordBatch {
	few := kernelstest.Random(fields, distinct, nulls, seed, memory.DefaultAllocator)
	defer few.Release()
	r := rand.New(rand.NewSource(seed))
	var runs []arrow.RecordBatch
	defer func() {
		for _, b := range runs {
			b.Release()
		}
	}()
	for n := 0; n < rows; {
		from := r.Intn(distinct)
		length := min(1+r.Intn(distinct-from), rows-n)
		times := 1
		if r.Intn(3) == 0 {
			length, times = 1, min(1+r.Intn(60), rows-n)
		}
		for range times {
			runs = append(runs, few.NewSlice(int64(from), int64(from+length)))
		}
		n += length * times
	}
	columns := make([]arrow.Array, len(fields))
	for c := range columns {
		parts := make([]arrow.Array, len(runs))
		for i := range runs {
			parts[i] = runs[i].Column(c)
		}
		var err error
		if columns[c], err = array.Concatenate(parts, memory.DefaultAllocator); err != nil {
			t.Fatal(err)
		}
		defer columns[c].Release()
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, int64(rows))
}

// testsOf are tests of a field against some of its values: few pass, many, all, none, and nulls too.
func testsOf(f arrow.Field, a arrow.Array) []predicate.Expr {
	id, _ := kernels.FieldID(f)
	field := predicate.Field{ID: id, Path: []string{f.Name}, Type: f.Type}
	null := predicate.IsNull{Field: field}
	out := []predicate.Expr{null, predicate.Not{Expr: null}}
	var values []predicate.Literal
	for i := 0; i < a.Len() && len(values) < 3; i += 1 + i {
		if v, ok := literalOf(a, i); ok {
			values = append(values, predicate.Literal{Type: f.Type, Value: v})
		}
	}
	for i, v := range values {
		is := predicate.Comparison{Op: predicate.Op(i * 2 % 6), Field: field, Value: v}
		other := predicate.Comparison{Op: predicate.Op((i*2 + 1) % 6), Field: field, Value: v}
		in := predicate.In{Field: field, Values: values[:i+1]}
		out = append(out, is, other, in, predicate.Not{Expr: in}, predicate.Or{Left: null, Right: is}, predicate.Or{Left: is, Right: other}, predicate.And{Left: is, Right: other})
	}
	return out
}

func literalOf(a arrow.Array, i int) (any, bool) {
	if a.IsNull(i) {
		return nil, false
	}
	switch a := a.(type) {
	case *array.Int32:
		return int64(a.Value(i)), true
	case *array.Int64:
		return a.Value(i), true
	case *array.Date32:
		return int64(a.Value(i)), true
	case *array.Time64:
		return int64(a.Value(i)), true
	case *array.Timestamp:
		return int64(a.Value(i)), true
	case *array.Float32:
		return float64(a.Value(i)), true
	case *array.Float64:
		return a.Value(i), true
	case *array.Decimal128:
		return a.Value(i), true
	case *array.String:
		return a.Value(i), true
	case *array.Binary:
		return a.Value(i), true
	case *array.FixedSizeBinary:
		return a.Value(i), true
	case array.ExtensionArray:
		return literalOf(a.Storage(), i)
	}
	return nil, false
}

// TestTestsOfEntriesKeepTheRowsThatTestsOfValuesKeep compares rows and values with those of the fallback, which looks at values: columns of few
// distinct values, with and without nulls, in pages of both versions, and dictionaries that overflow in the middle of a chunk.
func TestTestsOfEntriesKeepTheRowsThatTestsOfValuesKeep(t *testing.T) {
	ours, theirs := New(), parquet.NewFallback()
	defer ours.Close()
	mem := kernelstest.NewSoiled()
	defer mem.AssertSize(t, 0)
	ctx := resource.With(context.Background(), resource.NewPool(resource.Config{Allocator: mem}).NewStatement("test"))
	judged, left := 0, 0
	for i, l := range []kernelstest.Layout{
		{Name: "v1", Options: []pq.WriterProperty{pq.WithDataPageVersion(pq.DataPageV1), pq.WithCompression(compress.Codecs.Snappy)}},
		{Name: "v2 small pages", Options: []pq.WriterProperty{pq.WithDataPageVersion(pq.DataPageV2), pq.WithDataPageSize(300), pq.WithBatchSize(100)}},
		{Name: "v2 whose headers count no nulls", Options: []pq.WriterProperty{pq.WithDataPageVersion(pq.DataPageV2), pq.WithStats(false)}},
		{Name: "v1 overflow", Options: []pq.WriterProperty{pq.WithDictionaryPageSizeLimit(150), pq.WithDataPageSize(300), pq.WithBatchSize(100)}},
	} {
		for k, nulls := range []float64{0, 0.3, 1} {
			fields := kernelstest.Flat(nulls > 0 || i == 1)
			batch := repetitive(t, fields, 40, 2500, nulls, int64(10*i+k))
			groups, err := groupsOf(kernelstest.Write(t, batch, l))
			if err != nil {
				t.Fatal(err)
			}
			for c, f := range fields {
				for n, p := range testsOf(f, batch.Column(c)) {
					in := kernels.NewSelection([]kernels.Run{{From: 3, To: 1800}, {From: 1810, To: 1811}, {From: 1900, To: 2500}})
					if n%2 == 1 {
						in = scattered(2500, int64(n))
					}
					a, rows := selected(t, ctx, ours, groups[0], c, p, in)
					b, want := selected(t, ctx, theirs, groups[0], c, p, in)
					x, y := exact(a), exact(b)
					if fmt.Sprint(rows.Runs()) != fmt.Sprint(want.Runs()) || !array.Equal(x, y) {
						t.Fatalf("%s, nulls %v: %s: %d rows, want %d", l.Name, nulls, p, rows.Count(), want.Count())
					}
					for _, a := range []arrow.Array{a, b, x, y} {
						a.Release()
					}
					used, gaveUp := usesJudge(t, ctx, ours, groups[0], p, in)
					judged, left = judged+used, left+gaveUp
				}
			}
			batch.Release()
		}
	}
	if judged < 300 || left < 50 {
		t.Errorf("%d tests looked at entries, %d gave that up in the middle", judged, left)
	}
}

// scattered selects rows near each other and far apart.
func scattered(rows, seed int64) *kernels.Selection {
	r := rand.New(rand.NewSource(seed))
	var runs []kernels.Run
	for at := int64(1); at < rows; {
		to := min(at+1+r.Int63n(12), rows)
		runs = append(runs, kernels.Run{From: at, To: to})
		at = to + 1 + r.Int63n(20)
		if r.Intn(20) == 0 {
			at += 100
		}
	}
	return kernels.NewSelection(runs)
}

// selected filters and reads one column of what is left.
func selected(t *testing.T, ctx context.Context, d kernels.Decoder, g *kernels.RowGroup, c int, p predicate.Expr, in *kernels.Selection) (arrow.Array, *kernels.Selection) {
	t.Helper()
	r, err := d.Open(ctx, g)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rest, out, err := r.Select(ctx, p, in)
	if err != nil || rest != nil {
		t.Fatalf("%s: rest %v, %v", p, rest, err)
	}
	batch, err := r.Read(ctx, []int{c}, out, 0, out.Count())
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Release()
	a := batch.Column(0)
	a.Retain()
	return a, out
}

// usesJudge says whether a test of all rows looks at entries to the end, or begins to and gives it up.
func usesJudge(t *testing.T, ctx context.Context, d *Decoder, g *kernels.RowGroup, p predicate.Expr, in *kernels.Selection) (used, gaveUp int) {
	t.Helper()
	opened, err := d.Open(ctx, g)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	f := &filter{reader: opened.(*reader), columns: map[int]*column{}, arrays: map[int]arrow.Array{}}
	f.survivors = newSurvivors(f.reader)
	f.tests = f.order([]predicate.Expr{p})
	defer f.close()
	f.tests[0].judge = f.newJudge(p)
	if f.tests[0].judge == nil {
		return 0, 0
	}
	f.rows = in
	begun := f.tests[0].judge
	done, err := f.judge(ctx, &f.tests[0], in.Count())
	if err != nil {
		t.Fatal(err)
	}
	return one(done), one(!done && begun.passes != nil)
}

// TestPagesOfWhichNothingPassesAreNotUnpacked damages the bodies of all data pages.
func TestPagesOfWhichNothingPassesAreNotUnpacked(t *testing.T) {
	fields := kernelstest.Flat(false)[1:2]
	batch := repetitive(t, fields, 20, 5000, 0, 1)
	defer batch.Release()
	data := kernelstest.Write(t, batch, kernelstest.Layout{Options: []pq.WriterProperty{pq.WithCompression(compress.Codecs.Snappy), pq.WithDataPageSize(500), pq.WithBatchSize(100)}})
	groups, err := groupsOf(data)
	if err != nil {
		t.Fatal(err)
	}
	g := groups[0]
	d := New()
	defer d.Close()
	walk, err := d.OpenPages(g, 0)
	if err != nil {
		t.Fatal(err)
	}
	damaged := append([]byte(nil), data...)
	for {
		h, more, err := walk.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			break
		}
		if err := walk.Fetch(&h); err != nil {
			t.Fatal(err)
		}
		if !h.Dictionary {
			end := walk.pages.Chunk.Offset()
			for i := end - int64(h.Packed); i < end; i++ {
				damaged[i] = 0xff
			}
		}
	}
	walk.Close()
	broken, err := groupsOf(damaged)
	if err != nil {
		t.Fatal(err)
	}
	field := predicate.Field{ID: 2, Path: []string{fields[0].Name}, Type: fields[0].Type}
	for _, c := range []struct {
		op   predicate.Op
		rows int64
		fail bool
	}{{predicate.Gt, 0, false}, {predicate.LtEq, 5000, false}, {predicate.Eq, 0, true}} {
		value := int64(1 << 31)
		if c.op == predicate.Eq {
			value = int64(batch.Column(0).(*array.Int32).Value(0))
		} else {
			value--
		}
		r, err := d.Open(context.Background(), broken[0])
		if err != nil {
			t.Fatal(err)
		}
		_, out, err := r.Select(context.Background(), predicate.Comparison{Op: c.op, Field: field, Value: predicate.Literal{Type: field.Type, Value: value}}, kernels.All(5000))
		if (err != nil) != c.fail || err == nil && out.Count() != c.rows {
			t.Errorf("operator %s: %v, %v", c.op, out, err)
		}
		r.Close()
	}
}

// BenchmarkFilter tests a column of few distinct values by its entries and value by value.
func BenchmarkFilter(b *testing.B) {
	const rows = 1 << 20
	fields := []arrow.Field{kernelstest.Flat(false)[2], kernelstest.Flat(true)[10], kernelstest.Flat(false)[16]}
	few := kernelstest.Random(fields, 2000, 0.1, 1, memory.DefaultAllocator)
	defer few.Release()
	r := rand.New(rand.NewSource(1))
	columns := make([]arrow.Array, len(fields))
	for c := range columns {
		taken := array.NewBuilder(memory.DefaultAllocator, fields[c].Type)
		for range rows {
			i := r.Intn(2000)
			if few.Column(c).IsNull(i) {
				taken.AppendNull()
				continue
			}
			if err := taken.AppendValueFromString(few.Column(c).ValueStr(i)); err != nil {
				b.Fatal(err)
			}
		}
		columns[c] = taken.NewArray()
		taken.Release()
	}
	batch := array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, rows)
	defer batch.Release()
	groups, err := groupsOf(kernelstest.Write(b, batch, kernelstest.Layout{Options: []pq.WriterProperty{pq.WithCompression(compress.Codecs.Zstd),
		pq.WithDictionaryCostFallbackFor(fields[0].Name, false), pq.WithDictionaryCostFallbackFor(fields[1].Name, false), pq.WithDictionaryCostFallbackFor(fields[2].Name, false)}}))
	if err != nil {
		b.Fatal(err)
	}
	d := New()
	defer d.Close()
	for c, f := range fields {
		tests := testsOf(f, few.Column(c))
		for _, t := range []struct {
			name string
			expr predicate.Expr
		}{{"equal", tests[2]}, {"greater or equal", tests[3+7]}, {"list", tests[4+14]}} {
			for _, way := range []string{"values", "entries"} {
				b.Run(f.Type.String()+"/"+t.name+"/"+way, func(b *testing.B) {
					b.SetBytes(rows)
					for b.Loop() {
						opened, err := d.Open(context.Background(), groups[0])
						if err != nil {
							b.Fatal(err)
						}
						f := &filter{reader: opened.(*reader), columns: map[int]*column{}, arrays: map[int]arrow.Array{}}
						f.tests, f.survivors = f.order([]predicate.Expr{t.expr}), newSurvivors(f.reader)
						if way == "entries" {
							f.tests[0].judge = f.newJudge(t.expr)
						}
						if _, err := f.apply(context.Background(), kernels.All(rows)); err != nil {
							b.Fatal(err)
						}
						f.survivors.release()
						f.close()
						opened.Close()
					}
				})
			}
		}
	}
}
