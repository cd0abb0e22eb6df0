//go:build cgo

package duckdb

import (
	"strings"
	"testing"
)

// TestIntervalsAreKeptApart: a month is thirty days where the engine compares, and nowhere else.
func TestIntervalsAreKeptApart(t *testing.T) {
	f := newFixture(t)
	f.tables["times"] = timesTable(t)
	const day = "FROM times WHERE d = DATE '2024-03-10'"
	for _, spark := range []bool{false, true} {
		f.spark = spark
		for _, row := range []struct{ sql, want string }{
			{"SELECT CAST(d - INTERVAL 3 MONTH AS DATE) AS m, CAST(d - INTERVAL 90 DAY AS DATE) AS n " + day, "2023-12-10 2023-12-11"},
			{"SELECT CAST(d - INTERVAL '90' DAY AS DATE) AS n, CAST(d - INTERVAL '3' MONTH AS DATE) AS m " + day, "2023-12-11 2023-12-10"},
			{"SELECT CAST(d - INTERVAL '90 days' AS DATE) AS n, CAST(d - INTERVAL '3 months' AS DATE) AS m " + day, "2023-12-11 2023-12-10"},
			{"SELECT CAST(d + INTERVAL 30 DAY AS DATE) AS n, CAST(add_months(d, 1) AS DATE) AS m, CAST(d + INTERVAL 1 MONTH AS DATE) AS o " + day, "2024-04-09 2024-04-10 2024-04-10"},
			{"SELECT CAST(dateadd(DAY, 30, d) AS DATE) AS n, CAST(dateadd(MONTH, 1, d) AS DATE) AS m " + day, "2024-04-09 2024-04-10"},
			{"SELECT count(*) AS n FROM times WHERE d - INTERVAL 1 MONTH <> d - INTERVAL 30 DAY AND d = DATE '2024-03-10'", "2"},
			{"SELECT CAST(d - INTERVAL 3 MONTH AS DATE) AS m, CAST(d - INTERVAL 90 DAY AS DATE) AS n FROM (VALUES (DATE '2024-03-10'), (DATE '2024-03-10')) v(d) LIMIT 1", "2023-12-10 2023-12-11"},
		} {
			if _, got, err := f.values(t, row.sql); err != nil || strings.Join(got, " ") != row.want {
				t.Errorf("spark %t: %s gives %s, not %s: %v", spark, row.sql, got, row.want, err)
			}
		}
	}
}
