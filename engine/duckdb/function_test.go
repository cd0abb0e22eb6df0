//go:build cgo

package duckdb

import (
	"strings"
	"testing"

	"github.com/skua-data/skua/engine/syntax"
)

// single gives the only value of a query in Spark's dialect as JSON.
func single(t *testing.T, f *fixture, expression string) string {
	t.Helper()
	f.spark = true
	got, err := f.rows(t.Context(), "SELECT "+expression+" AS x")
	if err != nil {
		t.Errorf("%s: %v", expression, err)
		return ""
	}
	got = strings.TrimSpace(got)
	return strings.TrimSuffix(strings.TrimPrefix(got, `[{"x":`), "}\n]")
}

// TestTransforms holds the values that Iceberg's specification gives for its hashes, taken modulo a great number of buckets, and its examples.
func TestTransforms(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct{ expression, want string }{
		{"cat.system.bucket(2147483647, 34)", "2017239379"},
		{"cat.system.bucket(2147483647, 34L)", "2017239379"},
		{"cat.system.bucket(2147483647, 14.20)", "1646729059"},                             // -500754589
		{"cat.system.bucket(2147483647, DATE '2017-11-16')", "1494153226"},                 // -653330422
		{"cat.system.bucket(2147483647, TIMESTAMP_NTZ '2017-11-16 22:31:08')", "99539207"}, // -2047944441 and the sign bit
		{"cat.system.bucket(2147483647, 'iceberg')", "1210000089"},
		{"cat.system.bucket(2147483647, X'00010203')", "1958800441"}, // -188683207
		{"cat.system.bucket(16, CAST(NULL AS BIGINT))", "null"},
		{"cat.system.truncate(10, 1)", "0"}, {"cat.system.truncate(10, -1)", "-10"}, {"cat.system.truncate(10, -1L)", "-10"},
		{"cat.system.truncate(50, 10.65)", `"10.5"`}, {"cat.system.truncate(50, CAST('-0.05' AS decimal(38,2)))", `"-0.5"`},
		{"cat.system.truncate(3, 'iceberg')", `"ice"`}, {"cat.system.truncate(2, '日本語')", `"日本"`}, {"hex(cat.system.truncate(1, X'0102'))", `"01"`},
		{"cat.system.years(DATE '1969-12-31')", "-1"}, {"cat.system.hours(TIMESTAMP '1969-12-31 23:00:00')", "-1"},
		{"cat.system.truncate(3, CAST(-2147483648 AS int))", "2147483647"}, {"isnan(CAST(NULL AS double))", "false"}, {"isnan(CAST('NaN' AS double))", "true"},
		{"typeof(cat.system.truncate(5, CAST(1 AS decimal(9,2))))", `"decimal(9,2)"`},
		{"xxhash64(777L)", "178858239811702061"}, {"crc32('Spark')", "1557323817"}, {"hash('Spark', array(123), 2)", "-1321691492"},
		{"xxhash64('Spark', array(123), 2)", "5602566077635097486"}, {"xxhash64(NULL)", "42"}, {"xxhash64(-0.0d) = xxhash64(0.0d)", "true"},
	} {
		if got := single(t, f, c.expression); got != c.want {
			t.Errorf("%s: %s, want %s", c.expression, got, c.want)
		}
	}
	f.spark = false
	for _, sql := range []string{"SELECT cat.system.bucket(0, 1)", "SELECT cat.system.truncate(-1, 'a')", "SELECT cat.system.bucket(4, 1.5::double)"} {
		if _, err := f.rows(t.Context(), sql); err == nil {
			t.Errorf("%s: no error", sql)
		}
	}
}

// TestFunctionsOverColumns calls functions with the batches and the workers of a table.
func TestFunctionsOverColumns(t *testing.T) {
	f := newFixture(t)
	got, err := f.rows(t.Context(), "SELECT count(*) AS n, count(DISTINCT xxhash64(id, status)) AS h, count(cat.system.bucket(8, status)) AS s, max(cat.system.truncate(100, id)) AS t, "+
		"sum(cat.system.truncate(100, price) - price) < 0 AS p FROM orders")
	if want := `[{"h":5000,"n":5000,"p":true,"s":3334,"t":4900}`; err != nil || !strings.HasPrefix(strings.TrimSpace(got), want) {
		t.Errorf("%s %v, want %s", got, err, want)
	}
}

func TestTransformsAreNamedAsSparkDoes(t *testing.T) {
	f := newFixture(t)
	f.spark = true
	q := f.query("SELECT cat.system.bucket(4, id), cat.system.truncate(3, status), cat.system.days(day), cat.system.years(day) AS y FROM orders WHERE id = 7", nil)
	q.Name = func(e syntax.Expr) string { return e.String() }
	p, err := f.run.Compile(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	got := p.Schema().String()
	for _, want := range []string{"Function$BucketLong.invoke(4, id))", "TruncateFunction$TruncateString.invoke(3, status))", "DaysFunction$DateToDaysFunction.invoke(day))", "y:"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s: no %s", got, want)
		}
	}
}
