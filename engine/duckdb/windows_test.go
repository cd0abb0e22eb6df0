//go:build cgo

package duckdb

import (
	"fmt"
	"strings"
	"testing"
)

// TestListaggIsOrderedInBothDialects: the engine's aggregate of texts has its order inside, listagg behind it.
func TestListaggIsOrderedInBothDialects(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct{ sql, want string }{
		{"SELECT listagg(x, '-') WITHIN GROUP (ORDER BY x DESC) AS a FROM (VALUES ('b'), (NULL), ('c'), ('a')) v(x)", `[{"a":"c-b-a"}]`},
		{"SELECT listagg(x, '-') WITHIN GROUP (ORDER BY n) AS a FROM (VALUES ('b', 3), ('c', 1), ('a', 2)) v(x, n)", `[{"a":"c-a-b"}]`},
		{"SELECT listagg(DISTINCT x, ',') WITHIN GROUP (ORDER BY x) AS a FROM (VALUES ('b'), ('a'), ('b')) v(x)", `[{"a":"a,b"}]`},
		{"SELECT listagg(x, ',') WITHIN GROUP (ORDER BY x) FILTER (WHERE x <> 'a') AS a FROM (VALUES ('b'), ('a'), ('c')) v(x)", `[{"a":"b,c"}]`},
		{"SELECT listagg(x, ',') WITHIN GROUP (ORDER BY x) AS a FROM (VALUES ('b')) v(x) WHERE false", `[{"a":null}]`},
	} {
		for _, f.spark = range []bool{false, true} {
			if got, err := f.rows(t.Context(), c.sql); strings.ReplaceAll(got, "\n", "") != c.want || err != nil {
				t.Errorf("%s, spark: %t: %s, not %s (%v)", c.sql, f.spark, got, c.want, err)
			}
		}
	}
}

// TestMomentsOverWholePartitions are those of all rows, however the window says so and however many rows there are.
func TestMomentsOverWholePartitions(t *testing.T) {
	f := newFixture(t)
	f.spark = true
	for _, over := range []string{"OVER ()", "OVER (PARTITION BY 1)", "OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)",
		"OVER (RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)", "OVER (PARTITION BY 1 ORDER BY id RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"} {
		for _, rows := range []int{1, 2, 17, 5000} {
			sql := fmt.Sprintf("SELECT count(*) AS n, round(max(c), 6) AS c, round(min(v), 3) AS v FROM (SELECT covar_pop(id, id) %s AS c, var_pop(id) %[1]s AS v FROM range(%d) r)", over, rows)
			want := fmt.Sprintf("SELECT count(*) AS n, round(covar_pop(id, id), 6) AS c, round(var_pop(id), 3) AS v FROM range(%d) r", rows)
			got, err := f.rows(t.Context(), sql)
			expected, errExpected := f.rows(t.Context(), want)
			if got != expected || err != nil || errExpected != nil {
				t.Errorf("%s of %d rows: %s, not %s (%v, %v)", over, rows, got, expected, err, errExpected)
			}
		}
	}
}

// TestWindowsByNameWithParameters stay names, since a parameter counts once.
func TestWindowsByNameWithParameters(t *testing.T) {
	f := newFixture(t)
	for _, f.spark = range []bool{false, true} {
		sql := "SELECT max(id) OVER w AS m, min(id) OVER w AS n FROM orders WINDOW w AS (PARTITION BY id + ?)"
		p, err := f.run.Compile(t.Context(), f.query(sql, nil))
		if err != nil {
			t.Errorf("spark %t: %v", f.spark, err)
			continue
		}
		if n := p.Parameters().NumFields(); n != 1 {
			t.Errorf("spark %t: %d parameters", f.spark, n)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
