//go:build cgo

package duckdb

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
)

// TestWholeCasts: in Spark a cast to a whole number cuts the fraction off, whatever the number is made of; under ansi it rounds as the engine does.
func TestWholeCasts(t *testing.T) {
	f := newFixture(t)
	f.tables["numbers"] = newTable(t, `[{"k":0,"f":2.5,"d":"2.50","w":"99999999999999999.99"},{"k":1,"f":-2.5,"d":"-2.50","w":"-99999999999999999.99"},{"k":2,"f":0.9,"d":"0.99","w":"0.99"},
		{"k":3,"f":-0.9,"d":"-0.99","w":"-0.99"},{"k":4,"f":3.49,"d":"3.49","w":"9007199254740993.50"},{"k":5,"f":null,"d":null,"w":null}]`, 4, arrow.Field{Name: "k", Type: arrow.PrimitiveTypes.Int64},
		arrow.Field{Name: "f", Type: arrow.PrimitiveTypes.Float64}, arrow.Field{Name: "d", Type: &arrow.Decimal128Type{Precision: 4, Scale: 2}},
		arrow.Field{Name: "w", Type: &arrow.Decimal128Type{Precision: 20, Scale: 2}})
	floats := []float64{2.5, -2.5, 0.9, -0.9, 3.49}
	wide := []int64{99999999999999999, -99999999999999999, 0, 0, 9007199254740993}
	for expr, want := range map[string]func(i int) int64{
		"CAST(f AS INT)": func(i int) int64 { return int64(math.Trunc(floats[i])) }, "TRY_CAST(f AS BIGINT)": func(i int) int64 { return int64(math.Trunc(floats[i])) },
		"CAST(d AS INT)": func(i int) int64 { return int64(math.Trunc(floats[i])) }, "CAST(d AS TINYINT)": func(i int) int64 { return int64(math.Trunc(floats[i])) },
		"CAST(w AS BIGINT)": func(i int) int64 { return wide[i] }, "CAST(k AS SMALLINT)": func(i int) int64 { return int64(i) },
		"CAST(CAST(k AS STRING) AS INT)": func(i int) int64 { return int64(i) }, "CAST(max(f) AS INT)": func(i int) int64 { return int64(math.Trunc(floats[i])) },
		"f::INT": func(i int) int64 { return int64(math.Trunc(floats[i])) }, "d::double::int": func(i int) int64 { return int64(math.Trunc(floats[i])) },
		"CAST((SELECT f) AS INT)":                                      func(i int) int64 { return int64(math.Trunc(floats[i])) },
		"TRY_CAST((CASE WHEN EXISTS (SELECT 1) THEN d END) AS BIGINT)": func(i int) int64 { return int64(math.Trunc(floats[i])) },
		"CAST(CAST(f AS FLOAT) * 1 AS INT)":                            func(i int) int64 { return int64(math.Trunc(floats[i])) },
	} {
		q := f.query("SELECT k, "+expr+" AS v FROM numbers GROUP BY ALL", nil)
		if expr != "CAST(max(f) AS INT)" {
			q = f.query("SELECT k, "+expr+" AS v FROM numbers GROUP BY k, "+expr, nil)
		}
		q.Dialect, q.Zone = "spark", time.UTC
		p, err := f.run.Compile(t.Context(), q)
		if err != nil {
			t.Errorf("%s: %v", expr, err)
			continue
		}
		r, err := p.Open(t.Context())
		if err != nil {
			t.Errorf("%s: %v", expr, err)
			continue
		}
		seen := 0
		for r.Next() {
			b := r.RecordBatch()
			for i := range int(b.NumRows()) {
				k, _ := strconv.Atoi(b.Column(0).ValueStr(i))
				seen++
				if got := b.Column(1).ValueStr(i); k < len(floats) && got != fmt.Sprint(want(k)) {
					t.Errorf("%s in row %d: %s, want %d", expr, k, got, want(k))
				}
			}
		}
		if r.Err() != nil || seen != 6 {
			t.Errorf("%s: %d rows, %v", expr, seen, r.Err())
		}
		r.Release()
	}
	f.spark = true
	p, err := f.run.Compile(t.Context(), f.query("SELECT id FROM orders WHERE CAST(customer AS INT) = 5 AND CAST(id AS BIGINT) < 100", nil))
	if err != nil {
		t.Fatal(err)
	}
	if got := spell(p.(*program).pushed.filter(0)); got != "(customer = 5 AND id < 100)" && got != "(id < 100 AND customer = 5)" {
		t.Errorf("casts that change nothing are pushed down as %q", got)
	}
	if _, err := f.rows(t.Context(), "SELECT system.truncate(10, CAST(-99.99 AS DECIMAL(4, 2))) FROM orders WHERE id = 1"); err == nil || !strings.Contains(err.Error(), "NUMERIC_VALUE_OUT_OF_RANGE") {
		t.Errorf("a truncated decimal that its type cannot hold: %v", err)
	}
}

// TestWholeCastsOfTexts: in Spark a text with a fraction or an exponent is no whole number.
func TestWholeCastsOfTexts(t *testing.T) {
	f := newFixture(t)
	f.spark = true
	const invalid = "CAST_INVALID_INPUT"
	for _, c := range []struct{ sql, want string }{
		{"SELECT CAST(x AS INT) AS v FROM (SELECT '2.5' AS x)", invalid}, {"SELECT CAST(x AS BIGINT) AS v FROM (SELECT '1e3' AS x)", invalid},
		{"SELECT x::int AS v FROM (SELECT '1_000' AS x)", invalid}, {"SELECT CAST(x AS INT) AS v FROM (SELECT '0x1F' AS x)", invalid},
		{"SELECT TRY_CAST(x AS INT) AS v FROM (SELECT '2.5' AS x)", `[{"v":null}]`}, {"SELECT TRY_CAST('2.7' AS INT) AS v FROM customers WHERE id = 1", `[{"v":null}]`},
		{"SELECT CAST(x AS INT) AS v FROM (SELECT ' -25 ' AS x)", `[{"v":-25}]`}, {"SELECT CAST(x AS TINYINT) AS v FROM (SELECT '+12' AS x)", `[{"v":12}]`},
		{"SELECT 2.5::int AS v FROM customers WHERE id = 1", `[{"v":2}]`}, {"SELECT -2.5::int AS v FROM customers WHERE id = 1", `[{"v":-2}]`},
		{"SELECT sum(id) OVER (ORDER BY id)::int AS v FROM customers WHERE id = 1", `[{"v":1}]`}, {"SELECT CASE WHEN true THEN 2 END::int AS v FROM customers WHERE id = 1", `[{"v":2}]`},
		{"SELECT (SELECT max(price) FROM orders)::int AS v FROM customers WHERE id = 1", `[{"v":99}]`}, {"SELECT count(*) FILTER (WHERE id > 1)::int AS v FROM customers", `[{"v":2}]`},
		{"SELECT CAST(max(name) AS INT) AS v FROM (SELECT '7' AS name) GROUP BY ALL", `[{"v":7}]`},
	} {
		if got := outcome(t, f, c.sql, nil, nil); got != c.want {
			t.Errorf("%s: %s, want %s", c.sql, got, c.want)
		}
	}
}
