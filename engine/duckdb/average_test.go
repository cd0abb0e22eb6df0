//go:build cgo

package duckdb

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

func TestQuotientsRoundHalfUp(t *testing.T) {
	for _, c := range []struct {
		sum      int64
		count    int64
		from, to int32
		want     string
	}{
		{1, 3, 0, 4, "0.3333"}, {2, 3, 0, 4, "0.6667"}, {-2, 3, 0, 4, "-0.6667"}, {1, 8, 0, 2, "0.13"}, {-1, 8, 0, 2, "-0.13"}, {100, 1, 2, 6, "1.000000"}, {0, 5, 2, 6, "0.000000"},
	} {
		if got := quotient(big.NewInt(c.sum), c.count, c.from, c.to); got != c.want {
			t.Errorf("%d by %d: %s, not %s", c.sum, c.count, got, c.want)
		}
	}
}

// TestAveragesOfDecimals have Spark's type in Spark's dialect, wherever they stand.
func TestAveragesOfDecimals(t *testing.T) {
	f := newFixture(t)
	f.spark = true
	for _, c := range []struct{ sql, want, typ string }{
		{"SELECT avg(price) AS a FROM orders WHERE id < 3", `[{"a":"1.01"}]`, "decimal(16, 6)"},
		{"SELECT avg(DISTINCT price) AS a FROM orders WHERE id IN (1, 2)", `[{"a":"1.515"}]`, "decimal(16, 6)"},
		{"SELECT avg(price) FILTER (WHERE id = 1) AS a FROM orders", `[{"a":"1.01"}]`, "decimal(16, 6)"},
		{"SELECT avg(price) OVER (PARTITION BY id) AS a FROM orders WHERE id = 2", `[{"a":"2.02"}]`, "decimal(16, 6)"},
		{"SELECT avg(a) AS b FROM (SELECT avg(price) AS a FROM orders WHERE id < 3 GROUP BY id)", `[{"b":"1.01"}]`, "decimal(20, 10)"},
		{"SELECT avg(avg(price)) OVER () AS b FROM orders WHERE id < 3", `[{"b":"1.01"}]`, "decimal(20, 10)"},
		{"SELECT mean(price) AS a FROM orders WHERE id < 0", `[{"a":null}]`, "decimal(16, 6)"},
		{"SELECT avg(CAST(price AS DECIMAL(38, 37))) AS a FROM orders WHERE id = 0", `[{"a":"0"}]`, "decimal(38, 38)"},
		{"SELECT avg(id) AS a FROM orders WHERE id < 3", `[{"a":1}]`, "float64"},
		{"SELECT count(*) AS n FROM (SELECT customer FROM orders GROUP BY customer HAVING avg(price) > 49.5)", `[{"n":25}]`, "int64"},
	} {
		p, err := f.run.Compile(t.Context(), f.query(c.sql, nil))
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		if got := p.Schema().Field(0).Type.String(); got != c.typ {
			t.Errorf("%s: %s, not %s", c.sql, got, c.typ)
		}
		if got, err := f.rows(t.Context(), c.sql); err != nil || strings.Join(strings.Fields(got), "") != c.want {
			t.Errorf("%s\n got %s %v\nwant %s", c.sql, got, err, c.want)
		}
	}
	f.spark = false
	if got, err := f.rows(t.Context(), "SELECT avg(price) AS a FROM orders WHERE id < 3"); err != nil || !strings.HasPrefix(got, `[{"a":1.01}`) {
		t.Errorf("ansi: %s %v", got, err)
	}
}

// TestZerosKeepTheirSign sorts floats in every place of a statement.
func TestZerosKeepTheirSign(t *testing.T) {
	f := newFixture(t)
	f.tables["floats"] = newTable(t, `[{"id":1,"d":-0.0,"f":-0.0},{"id":2,"d":1,"f":1}]`, 2, arrow.Field{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		arrow.Field{Name: "d", Type: arrow.PrimitiveTypes.Float64}, arrow.Field{Name: "f", Type: arrow.PrimitiveTypes.Float32})
	for _, sql := range []string{
		"SELECT d FROM floats ORDER BY d", "SELECT f FROM floats ORDER BY f DESC, id", "SELECT * EXCLUDE (id) FROM floats ORDER BY d", "SELECT d FROM floats ORDER BY 1 LIMIT 1",
		"SELECT d AS x FROM floats ORDER BY x", "SELECT d FROM (SELECT * FROM floats ORDER BY d LIMIT 1)", "SELECT d, row_number() OVER (PARTITION BY id ORDER BY d) FROM floats",
		"SELECT d, rank() OVER w FROM floats WINDOW w AS (ORDER BY d)", "SELECT d, id FROM floats UNION ALL SELECT f, id FROM floats ORDER BY 1, d",
		"SELECT t.d FROM floats t JOIN floats u ON t.id = u.id ORDER BY t.d", "SELECT max(d) AS m FROM floats GROUP BY id ORDER BY m",
		"WITH c AS (SELECT d FROM floats) SELECT d FROM c UNION ALL SELECT 5.0 ORDER BY d",
	} {
		p, err := f.run.Compile(t.Context(), f.query(sql, nil))
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		r, err := p.Open(t.Context())
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		negative := 0
		for r.Next() {
			for i := range int(r.RecordBatch().NumRows()) {
				switch a := r.RecordBatch().Column(0).(type) {
				case *array.Float64:
					if a.Value(i) == 0 && math.Signbit(a.Value(i)) {
						negative++
					}
				case *array.Float32:
					if a.Value(i) == 0 && math.Signbit(float64(a.Value(i))) {
						negative++
					}
				}
			}
		}
		if err := r.Err(); err != nil || negative == 0 {
			t.Errorf("%s: no negative zero came back (%v)", sql, err)
		}
		r.Release()
	}
}
