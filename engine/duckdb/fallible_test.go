//go:build cgo

package duckdb

import "testing"

// TestGuardsComeFirst: what a condition keeps away from one behind it does not fail there. The engine tries other orders of conditions that cannot fail, once it has seen some ten
// thousand rows.
func TestGuardsComeFirst(t *testing.T) {
	f := newFixture(t)
	f.spark = true
	const from = "FROM (SELECT id % 3 AS b, id AS a, CAST(id % 3 AS DECIMAL(10,2)) AS d, CAST(id AS DECIMAL(10,2)) AS price, CASE id % 3 WHEN 0 THEN 'none' ELSE '12' END AS s, array(1, 2) AS l FROM (SELECT explode(sequence(1, 300000)) AS id) LIMIT 300000) WHERE "
	for _, guarded := range []string{
		"a / b >= 0", "a % b >= 0", "a DIV b >= 0", "pmod(a, b) >= 0", "price / d >= 0", "price % d >= 0", "CAST(s AS INT) > 0", "CAST(s AS DOUBLE) > 0", "CAST(s AS DECIMAL(5,1)) > 0", "int(s) > 0",
		"CAST(concat('2024-01-', s) AS DATE) > DATE '2000-01-01'", "s > 3", "element_at(l, b) > 0", "l[b - 1] > 0", "make_date(2024, b, 1) > DATE '2000-01-01'",
	} {
		_, values, err := f.values(t, "SELECT count(*) AS n "+from+"s NOT LIKE '%n%' AND "+guarded)
		if err != nil || len(values) != 1 || values[0] != "200000" {
			t.Errorf("%s: %v %v", guarded, values, err)
		}
	}
}
