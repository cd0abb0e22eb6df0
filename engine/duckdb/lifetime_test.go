//go:build cgo

package duckdb

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/scan"
)

// poison is memory whose bytes are another value's once they are freed.
type poison struct{ memory.Allocator }

func (p poison) Free(b []byte) {
	for i := range b {
		b[i] = '#'
	}
	p.Allocator.Free(b)
}

// passing is a table whose batches live until the reader is asked for the next one, or until the engine is done with them.
type passing struct{ *memoryTable }

func (p passing) Plan(ctx context.Context, r scan.Request) (scan.Plan, error) {
	plan, err := p.memoryTable.Plan(ctx, r)
	return passingPlan{plan}, err
}

type passingPlan struct{ scan.Plan }

func (p passingPlan) Open(ctx context.Context, from, to int) (array.RecordReader, error) {
	r, err := p.Plan.Open(ctx, from, to)
	return &passingReader{RecordReader: r}, err
}

type passingReader struct {
	array.RecordReader
	batch arrow.RecordBatch
}

func (r *passingReader) RecordBatch() arrow.RecordBatch { return r.batch }

func (r *passingReader) drop() {
	if r.batch != nil {
		r.batch.Release()
	}
	r.batch = nil
}

func (r *passingReader) Release() {
	r.drop()
	r.RecordReader.Release()
}

func (r *passingReader) Next() bool {
	r.drop()
	if !r.RecordReader.Next() {
		return false
	}
	b := r.RecordReader.RecordBatch()
	columns := make([]arrow.Array, b.NumCols())
	for i := range columns {
		columns[i] = copied(b.Column(i))
		defer columns[i].Release()
	}
	r.batch = array.NewRecordBatch(b.Schema(), columns, b.NumRows())
	return true
}

// copied gives an array with memory of its own.
func copied(a arrow.Array) arrow.Array {
	mem := poison{memory.DefaultAllocator}
	in := a.Data()
	var buffers []*memory.Buffer
	for _, b := range in.Buffers() {
		if b == nil {
			buffers = append(buffers, nil)
			continue
		}
		own := memory.NewResizableBuffer(mem)
		own.Resize(b.Len())
		copy(own.Bytes(), b.Bytes())
		defer own.Release()
		buffers = append(buffers, own)
	}
	var children []arrow.ArrayData
	for _, c := range in.Children() {
		child := array.MakeFromData(c)
		own := copied(child)
		child.Release()
		defer own.Release()
		children = append(children, own.Data())
	}
	out := array.NewData(in.DataType(), in.Len(), buffers, children, in.NullN(), in.Offset())
	defer out.Release()
	return array.MakeFromData(out)
}

// lasting are statements that keep texts of one batch while they read others.
var lasting = []string{
	"SELECT n, lag(s) OVER (ORDER BY n), lag(s, 3, s) OVER (ORDER BY n) FROM one",
	"SELECT n, lead(s) OVER (ORDER BY n), lead(s, 2000) OVER (ORDER BY n) FROM one",
	"SELECT n, first_value(s) OVER (ORDER BY n), last_value(s) OVER (ORDER BY n ROWS BETWEEN 3 PRECEDING AND CURRENT ROW), nth_value(s, 2) OVER (ORDER BY n) FROM one",
	"SELECT n, min(s) OVER (ORDER BY n ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING), max(s) OVER (PARTITION BY n % 5 ORDER BY n) FROM one",
	"SELECT sum(length(a)), count(b), max(b) FROM (SELECT lag(s) OVER () AS a, lead(s) OVER () AS b FROM one)",
	"SELECT count(*), max(f), min(f) FROM (SELECT first_value(s) OVER () AS f FROM one WHERE n > 3)",
	"SELECT count(*) FROM (SELECT s, max(s) OVER (ROWS UNBOUNDED PRECEDING) AS m FROM one) WHERE length(m) < length(s) - 100",
	"SELECT n % 7, min(s), max(s), arg_min(s, n), arg_max(s, n), min_by(s, n), max_by(s, n) FROM one GROUP BY 1",
	"SELECT n % 7, string_agg(s, '|' ORDER BY n), list(s ORDER BY n), count(DISTINCT s), first(s ORDER BY n), last(s ORDER BY n), any_value(s ORDER BY n) FROM one GROUP BY 1",
	"SELECT min(s), max(s), list(s ORDER BY n)[1:5], string_agg(s, ',' ORDER BY s), mode(s || length(s)) IS NULL FROM one",
	"SELECT s, count(*), min(b), max(d) FROM one GROUP BY s",
	"SELECT histogram(s) FROM one", "SELECT max(s, 4), min(s, 4), arg_max(s, n, 3) FROM one", "SELECT quantile_disc(s, 0.5), approx_count_distinct(s) > 3 FROM one",
	"SELECT x.n, y.n, x.s, y.s, y.b FROM one x JOIN two y ON x.s = y.s",
	"SELECT x.n, y.n, x.s, y.s FROM one x LEFT JOIN two y ON x.s = y.s AND x.n < y.n", "SELECT x.n, y.n, x.s, y.s FROM one x FULL JOIN two y ON x.n = y.n + 3 AND x.d = y.d",
	"SELECT x.n, y.n, x.s, y.s FROM one x JOIN two y ON x.s < y.s AND x.n > y.n WHERE x.n < 60", "SELECT x.n, y.n, x.s, y.s FROM one x JOIN two y ON x.s < y.s WHERE y.n < 30 AND x.n < 90",
	"SELECT x.n, y.n, x.s, y.s FROM one x LEFT JOIN two y ON x.s < y.s AND x.n > y.n AND y.n < 40", "SELECT x.n, y.n, x.s, y.s FROM one x JOIN two y ON x.s <> y.s AND x.n > y.n + 100 AND y.n < 9",
	"SELECT x.n, y.n, x.s, y.s FROM one x JOIN two y ON x.s LIKE y.s || '%'", "SELECT x.n, y.s FROM one x ASOF JOIN two y ON x.n >= y.n", "SELECT x.n, y.s FROM one x ASOF LEFT JOIN two y ON x.d = y.d AND x.s >= y.s AND y.s <> ''",
	"SELECT count(*), max(x.s || y.s) FROM one x, two y WHERE x.n < 50", "SELECT x.s, y.s FROM one x, two y WHERE y.n < 3", "SELECT n, s FROM one x WHERE s IN (SELECT s FROM two WHERE s > 'b')",
	"SELECT n, s FROM one x WHERE s NOT IN (SELECT s FROM two WHERE s IS NOT NULL AND n > 50)", "SELECT n, s, s IN (SELECT s FROM two) FROM one", "SELECT n, s FROM one x WHERE EXISTS (SELECT 1 FROM two y WHERE y.s = x.s AND y.n <> x.n)",
	"SELECT n, (SELECT max(y.s) FROM two y WHERE y.d = x.d) FROM one x", "SELECT n, (SELECT y.s FROM two y WHERE y.n = x.n) FROM one x",
	"SELECT DISTINCT s FROM one", "SELECT DISTINCT s, b, d FROM one", "SELECT DISTINCT ON (d) d, s FROM one ORDER BY d, n", "SELECT s FROM one UNION SELECT s FROM two", "SELECT s FROM one UNION ALL SELECT s FROM two",
	"SELECT s FROM one INTERSECT SELECT s FROM two", "SELECT s FROM one EXCEPT SELECT s FROM two", "SELECT s FROM one EXCEPT ALL SELECT s FROM two", "SELECT s FROM one INTERSECT ALL SELECT s FROM two",
	"WITH c AS MATERIALIZED (SELECT * FROM one) SELECT x.n, x.s, y.s FROM c x JOIN c y ON x.n = y.n + 1",
	"WITH RECURSIVE c(n, s) AS (SELECT n, s FROM one WHERE n < 3 UNION ALL SELECT y.n, y.s FROM c JOIN one y ON y.n = c.n + 3) SELECT n, s FROM c",
	"WITH RECURSIVE c(n, s) AS (SELECT n, s FROM one WHERE n < 3 UNION SELECT y.n, y.s FROM c JOIN one y ON y.n = c.n + 3 WHERE c.n < 100) SELECT * FROM c",
	"SELECT * FROM one ORDER BY s NULLS LAST, n LIMIT 20", "SELECT * FROM one ORDER BY s DESC NULLS FIRST, n LIMIT 20 OFFSET 7", "SELECT * FROM one ORDER BY n LIMIT 300 OFFSET 20", "SELECT s, n FROM one ORDER BY d, s, n",
	"SELECT s, n FROM (SELECT * FROM one ORDER BY n LIMIT 50) UNION ALL SELECT s, n FROM (SELECT * FROM two ORDER BY s NULLS LAST, n LIMIT 10)", "SELECT count(*), count(s) FROM (SELECT s FROM one LIMIT 100 OFFSET 13)",
	"SELECT n, unnest([s, b, 'x']) FROM one", "SELECT n, unnest(string_split(s, '1')) FROM one", "SELECT n, unnest(range(n % 3)) AS g, s FROM one", "SELECT n, s, g FROM one, unnest([1, 2, n]) AS t(g)",
	"SELECT n, row(s, b), [s, b], map([n], [s]) FROM one", "SELECT list(row(s, n) ORDER BY n) FROM one", "SELECT map_from_entries(list(row(n, s) ORDER BY n)) FROM one",
	"SELECT d, s, b, count(*), max(s) FROM one GROUP BY CUBE (d, s, b)", "SELECT CASE WHEN n % 2 = 0 THEN s ELSE b END, coalesce(s, b, ''), nullif(s, b), greatest(s, b), least(s, b) FROM one",
	"SELECT substr(s, 2), left(s, 13), s[2:15], trim(s), upper(s), s || b, replace(s, '1', '22'), split_part(s, '1', 1), regexp_extract(s, '[a-z]+') FROM one", "SELECT n, s FROM one WHERE s LIKE '%1%' AND s > 'a' OR n % 5 = 1",
	"SELECT * FROM (SELECT n, s, row_number() OVER (PARTITION BY d ORDER BY n) AS r FROM one) WHERE r < 3", "SELECT n, s, sum(d) OVER (PARTITION BY s ORDER BY n), count(*) OVER (PARTITION BY b) FROM one",
	"SELECT * FROM (SELECT n % 3 AS k, n % 2 AS g, s FROM one) PIVOT (max(s) FOR g IN (0, 1) GROUP BY k)", "SELECT n, v FROM one UNPIVOT (v FOR k IN (s, b))", "SELECT x.s, y.s FROM one x POSITIONAL JOIN two y",
	"SELECT count(*) FROM (SELECT s FROM one USING SAMPLE reservoir(50 ROWS)) WHERE s IS NULL OR s IN (SELECT s FROM one)", "SELECT count(*) FROM (SELECT s FROM one USING SAMPLE 50%) WHERE s IS NOT NULL AND s NOT IN (SELECT s FROM one WHERE s IS NOT NULL)",
	"SELECT sum(d), min(d), max(d), avg(d), list(d ORDER BY n) FROM one", "SELECT d, count(*) FROM one GROUP BY d", "SELECT arg_min(d, s || n), arg_max(s, d * 1000 + n), arg_min(s, s) FROM one WHERE s IS NOT NULL",
	"SELECT n, lag(d) OVER (ORDER BY n), s FROM one QUALIFY lag(s) OVER (ORDER BY n) < s", "SELECT n, s FROM one x WHERE s = (SELECT max(s) FROM one y WHERE y.d = x.d)",
	"SELECT x.n, x.s, y.s, z.s FROM one x JOIN two y ON x.n = y.n JOIN one z ON z.s = y.s", "SELECT x.s, y.s FROM one x LEFT JOIN (SELECT s, count(*) AS c FROM two GROUP BY s) y ON x.s = y.s WHERE y.c IS NULL OR y.c > 0",
	"SELECT n, l.s FROM one x, LATERAL (SELECT y.s FROM two y WHERE y.n < x.n AND y.d = x.d ORDER BY y.n DESC LIMIT 1) l", "SELECT n, s FROM (SELECT * FROM one ORDER BY n LIMIT 40 OFFSET 3) WHERE s IS NOT NULL",
}

// lastingText gives a text of a length about those where the engine's form changes.
func lastingText(r *rand.Rand) (string, bool) {
	n := []int{0, 1, 3, 4, 5, 8, 11, 12, 13, 14, 20, 40, 300}[r.IntN(13)]
	return strings.Repeat(string([]rune("ab1é")[r.IntN(4)]), n) + []string{"", "1", "x"}[r.IntN(3)], r.IntN(6) > 0
}

// fieldNames are the names in the text of a row, which the engine counts where they are the same.
var fieldNames = regexp.MustCompile(`'[^']*': `)

// bare sorts the texts of rows, without names.
func bare(rows []string) {
	for i := range rows {
		rows[i] = fieldNames.ReplaceAllString(rows[i], "")
	}
	sort.Strings(rows)
}

// TestTextsOutliveTheirBatches: whatever keeps a text while other batches come has a copy, though long texts lie in the batch. The batches' memory is
// overwritten once it is free.
func TestTextsOutliveTheirBatches(t *testing.T) {
	f := newFixture(t)
	native := nativeTables(t, f)
	r := rand.New(rand.NewPCG(1, 7))
	for name, rows := range map[string]int{"one": 150, "two": 70} {
		var json, sql []string
		for n := range rows {
			cell := func(v string, valid bool) (string, string) {
				if !valid {
					return "null", "NULL"
				}
				return `"` + v + `"`, "'" + v + "'"
			}
			js, ss := cell(lastingText(r))
			jb, sb := cell(lastingText(r))
			d := fmt.Sprintf("%d.%02d", r.IntN(9), r.IntN(3))
			json = append(json, fmt.Sprintf(`{"n":%d,"s":%s,"b":%s,"d":"%s"}`, n, js, jb, d))
			sql = append(sql, fmt.Sprintf("(%d, %s, %s, %s)", n, ss, sb, d))
		}
		f.tables[name] = newTable(t, "["+strings.Join(json, ",")+"]", 3, arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int64}, arrow.Field{Name: "s", Type: arrow.BinaryTypes.String},
			arrow.Field{Name: "b", Type: arrow.BinaryTypes.String}, arrow.Field{Name: "d", Type: &arrow.Decimal128Type{Precision: 12, Scale: 2}})
		if err := native.exec("CREATE TEMP TABLE " + name + " (n BIGINT, s VARCHAR, b VARCHAR, d DECIMAL(12, 2)); INSERT INTO " + name + " VALUES " + strings.Join(sql, ", ")); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string][]string{}
	for _, sql := range lasting {
		rows, err := native.column("SELECT CAST(q AS VARCHAR) AS v FROM (" + sql + ") AS q")
		if err != nil {
			t.Errorf("%s: %v", sql, err)
		}
		want[sql] = rows
		bare(want[sql])
	}
	query := func(sql string) engine.Query {
		q := f.query("SELECT CAST(q AS VARCHAR) AS v FROM ("+sql+") AS q", nil)
		q.Dialect = "ansi"
		resolve := q.Resolve
		q.Resolve = passingTables(resolve)
		return q
	}
	var all sync.WaitGroup
	for range 2 { // side by side
		all.Go(func() {
			for _, sql := range lasting {
				got, err := f.column(t, query(sql))
				bare(got)
				if err != nil || strings.Join(got, "\n") != strings.Join(want[sql], "\n") {
					t.Errorf("%s: %d rows, not %d: %v\n got %.2000v\nwant %.2000v", sql, len(got), len(want[sql]), err, got, want[sql])
				}
			}
		})
	}
	all.Wait()
}

// passingTables makes the tables of a query such whose batches pass.
func passingTables(resolve func(context.Context, syntax.TableRef) (engine.Table, error)) func(context.Context, syntax.TableRef) (engine.Table, error) {
	return func(ctx context.Context, ref syntax.TableRef) (engine.Table, error) {
		t, err := resolve(ctx, ref)
		if err == nil {
			t.Source = passing{t.Source.(*memoryTable)}
		}
		return t, err
	}
}
