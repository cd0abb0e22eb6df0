//go:build cgo

package duckdb

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/predicate"
)

// TestFirstRowsAreAskedFor shows, for each way in which the first rows of an order may be asked for, whether the table is told.
func TestFirstRowsAreAskedFor(t *testing.T) {
	f := newFixture(t)
	f.tables["measures"] = newTable(t, `[{"d":1.5,"f":1.5,"k":1}]`, 1, arrow.Field{Name: "d", Type: arrow.PrimitiveTypes.Float64}, arrow.Field{Name: "f", Type: arrow.PrimitiveTypes.Float32},
		arrow.Field{Name: "k", Type: arrow.PrimitiveTypes.Int64})
	for _, c := range []struct {
		sql, field string
		rows       int64
		distinct   bool
	}{
		{"SELECT id, status FROM orders ORDER BY id DESC LIMIT 3", "id", 3, false},
		{"SELECT status FROM orders ORDER BY price, id LIMIT 3 OFFSET 4", "price", 7, false},
		{"SELECT id FROM orders WHERE customer = 7 AND day > DATE '2024-02-01' ORDER BY day LIMIT 2", "day", 2, false},
		{"SELECT DISTINCT status FROM orders ORDER BY status LIMIT 2", "status", 2, true},
		{"SELECT customer, count(*) FROM orders GROUP BY customer ORDER BY customer LIMIT 2", "customer", 2, true},
		{"SELECT o.id, c.name FROM orders o LEFT JOIN customers c ON o.customer = c.id ORDER BY o.id LIMIT 5", "id", 5, false},
		{"SELECT * FROM (SELECT id, upper(status) AS s FROM orders) WHERE true ORDER BY id LIMIT 9", "id", 9, false},
		{"SELECT id FROM orders UNION ALL SELECT id FROM customers ORDER BY 1 LIMIT 2", "id", 2, false},
		{"SELECT d, k FROM measures ORDER BY d DESC LIMIT 3", "d", 3, false},
		{"SELECT k FROM measures WHERE k > 1 ORDER BY d, k LIMIT 3 OFFSET 2", "d", 5, false},
		{"SELECT DISTINCT d FROM measures ORDER BY d LIMIT 2", "d", 2, true},
		{"SELECT max(k) OVER (ORDER BY d) AS m, d FROM measures ORDER BY k LIMIT 2", "", 0, false},
		// A filter that the scan does not test, a join that drops rows, HAVING, an expression, too many rows.
		{"SELECT id FROM orders WHERE upper(status) = 'OPEN' ORDER BY id LIMIT 3", "", 0, false},
		{"SELECT o.id FROM orders o JOIN customers c ON o.customer = c.id ORDER BY o.id LIMIT 5", "", 0, false},
		{"SELECT customer, count(*) AS n FROM orders GROUP BY customer HAVING count(*) > 1 ORDER BY customer LIMIT 2", "", 0, false},
		{"SELECT customer, status, count(*) AS n FROM orders GROUP BY ROLLUP (customer, status) ORDER BY customer LIMIT 2", "", 0, false},
		{"SELECT id FROM orders ORDER BY -id LIMIT 3", "", 0, false},
		{"SELECT id FROM orders ORDER BY id LIMIT 20000", "", 0, false},
		{"SELECT id FROM orders ORDER BY id", "", 0, false},
		{"SELECT DISTINCT ON (status) status, id FROM orders ORDER BY status LIMIT 2", "", 0, false},
		{"SELECT id, row_number() OVER (ORDER BY price) AS r FROM orders ORDER BY id LIMIT 2", "", 0, false},
	} {
		p, err := f.run.Compile(t.Context(), f.query(c.sql, nil))
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		got := p.(*program).pushed.best[0]
		if strings.Join(got.field.Path, ".") != c.field || got.rows != c.rows || got.distinct != c.distinct {
			t.Errorf("%s: %+v", c.sql, got)
		}
	}
}

// TestPlansTellWhatScansAreAskedFor before they run: columns, and the order whose first rows are enough.
func TestPlansTellWhatScansAreAskedFor(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct{ sql, want string }{
		{"SELECT status FROM orders ORDER BY id DESC LIMIT 2", "id,status: id DESC NULLS LAST"},
		{"SELECT count(*) FROM orders WHERE price > 1", "price: "},
		{"SELECT max(id) FROM orders o JOIN customers c USING (id)", "id: "},
	} {
		p, err := f.run.Compile(t.Context(), f.query(c.sql, nil))
		if err != nil {
			t.Fatal(err)
		}
		e := p.Scans()[0].Scan
		slices.Sort(e.Columns)
		if got := strings.Join(e.Columns, ",") + ": " + e.Best; got != c.want {
			t.Errorf("%s: %s, want %s", c.sql, got, c.want)
		}
	}
}

// TestFewRowsLeaveTheTable: once the best rows are known, the others stay in the table.
func TestFewRowsLeaveTheTable(t *testing.T) {
	f := newFixture(t)
	got, err := f.rows(t.Context(), "SELECT id FROM orders ORDER BY id LIMIT 2")
	if err != nil || !strings.Contains(got, `{"id":0}`) || !strings.Contains(got, `{"id":1}`) {
		t.Fatal(got, err)
	}
	if gave := f.tables["orders"].gave; gave != 700 {
		t.Errorf("the table gave %d rows, not those of its first batch", gave)
	}
}

// TestBestRowsBound goes through the bounds that rows make known.
func TestBestRowsBound(t *testing.T) {
	double, text := predicate.Field{ID: 1, Path: []string{"x"}, Type: arrow.PrimitiveTypes.Float64}, predicate.Field{ID: 1, Path: []string{"x"}, Type: arrow.BinaryTypes.String}
	for _, c := range []struct {
		push bestPush
		rows string
		want string
	}{
		{bestPush{field: double, rows: 2}, `[3, null, 1]`, "x <= 3"},
		{bestPush{field: double, rows: 2}, `[3, null]`, "nothing"},
		{bestPush{field: double, rows: 2}, `[3, 2, 1, 5, 1]`, "x <= 1"},
		{bestPush{field: double, rows: 2, distinct: true}, `[3, 2, 1, 5, 1]`, "x <= 2"},
		{bestPush{field: double, rows: 2, descending: true}, `["NaN", "NaN", 1]`, "x >= NaN"},
		{bestPush{field: double, rows: 2, descending: true, distinct: true}, `["NaN", "NaN", 1]`, "x >= 1"},
		{bestPush{field: double, rows: 1, descending: true}, `[-0.0, 0.0]`, "x >= 0"},
		{bestPush{field: double, rows: 2, nullsFirst: true}, `[3, null, 1]`, "(isNull(x) OR x <= 1)"},
		{bestPush{field: double, rows: 2, nullsFirst: true}, `[null, 1, null]`, "isNull(x)"},
		{bestPush{field: double, rows: 2, nullsFirst: true, distinct: true}, `[null, null, 7]`, "(isNull(x) OR x <= 7)"},
		{bestPush{field: text, rows: 1, descending: true}, `["a", "é", "z"]`, "x >= é"},
	} {
		cells := strings.NewReplacer("[", `[{"x":`, ", ", `},{"x":`, "]", "}]").Replace(c.rows)
		batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "x", Type: c.push.field.Type, Nullable: true}}, nil), strings.NewReader(cells))
		if err != nil {
			t.Fatal(c.rows, err)
		}
		b := newBestRows(c.push, 0)
		b.add(batch)
		got := "nothing"
		if e, _ := b.request().Bound(); e != nil {
			got = spell(e)
		}
		if got != c.want {
			t.Errorf("%s of %+v: %s, want %s", c.rows, c.push, got, c.want)
		}
		batch.Release()
	}
}

// TestColumnsAreFollowedThroughOrders: an ORDER BY inside drops the keys that nobody above it reads, and what is above means the columns that are left.
func TestColumnsAreFollowedThroughOrders(t *testing.T) {
	f := newFixture(t)
	var rows []string
	for i := range 200 {
		rows = append(rows, fmt.Sprintf(`{"a":%d,"b":%d,"d":"%d.5"}`, i, 1000-i, i))
	}
	f.tables["pairs"] = newTable(t, "["+strings.Join(rows, ",")+"]", 9, arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int64}, arrow.Field{Name: "b", Type: arrow.PrimitiveTypes.Int64},
		arrow.Field{Name: "d", Type: &arrow.Decimal128Type{Precision: 12, Scale: 1}})
	f.tables["few"] = newTable(t, `[{"k":1000,"n":1},{"k":998,"n":2},{"k":3,"n":3}]`, 2, arrow.Field{Name: "k", Type: arrow.PrimitiveTypes.Int64}, arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int64})
	for _, c := range []struct{ sql, want string }{
		{"SELECT x.b, f.n FROM (SELECT a, b FROM pairs ORDER BY a) x JOIN few f ON x.b = f.k ORDER BY b", `[{"b":998,"n":2},{"b":1000,"n":1}]`},
		{"SELECT f.n, x.b FROM few f LEFT JOIN (SELECT a, b FROM pairs ORDER BY a) x ON x.b = f.k ORDER BY n", `[{"b":1000,"n":1},{"b":998,"n":2},{"b":null,"n":3}]`},
		{"SELECT f.n, x.b FROM few f JOIN (SELECT a, b FROM pairs WHERE a < 3 ORDER BY a) x ON x.b = f.k ORDER BY n", `[{"b":1000,"n":1},{"b":998,"n":2}]`},
		{"SELECT b FROM (SELECT b FROM pairs ORDER BY a LIMIT 100000) ORDER BY b LIMIT 2", `[{"b":801},{"b":802}]`},
		{"SELECT b FROM (SELECT a, b FROM pairs ORDER BY a, d) ORDER BY b LIMIT 2", `[{"b":801},{"b":802}]`},
		{"SELECT b, row_number() OVER () AS r FROM (SELECT b FROM pairs ORDER BY a) ORDER BY b LIMIT 1", `[{"b":801,"r":200}]`},
	} {
		if got := outcome(t, f, c.sql, nil, nil); got != c.want {
			t.Errorf("%s: %s, want %s", c.sql, got, c.want)
		}
	}
}
