//go:build cgo

package duckdb

import (
	"strings"
	"testing"

	"github.com/skua-data/skua/fault"
)

// TestVariablesStandWhereNoColumnDoes: what a name means is decided at each of its places.
func TestVariablesStandWhereNoColumnDoes(t *testing.T) {
	f := newFixture(t)
	known := map[string]string{"limit_": "CAST('3' AS INT)", "id": "CAST('1' AS BIGINT)", "who": "'it\\'s'", "day0": "CAST('2024-02-01' AS DATE)", "none": "CAST(NULL AS DECIMAL(9,2))"}
	variable := func(parts []string) (string, bool) {
		if len(parts) == 2 && parts[0] == "session" {
			parts = parts[1:]
		}
		text, ok := known[strings.ToLower(parts[0])]
		return text, ok && len(parts) == 1
	}
	for _, c := range []struct{ sql, want string }{
		{"SELECT limit_, limit_ + id AS n, who FROM (SELECT 1) ORDER BY 1", `[{"limit_":3,"n":4,"who":"it's"}]`},
		{"SELECT count(*) AS n FROM orders WHERE id < LIMIT_ + 1", `[{"n":4}]`},
		{"SELECT max(id) AS m, (SELECT who FROM (SELECT 7) q) AS v FROM orders", `[{"m":4999,"v":"it's"}]`},
		{"SELECT (SELECT max(id) FROM orders) AS m, id AS v, limit_ AS who", `[{"m":4999,"v":1,"who":3}]`},
		{"SELECT q.limit_ FROM (SELECT limit_, id AS x FROM customers WHERE id = 2) q ORDER BY q.x", `[{"limit_":3}]`},
		{"SELECT count(*) AS n FROM orders o JOIN customers c ON o.customer = c.id AND c.id <= session.limit_ WHERE o.day >= day0", `[{"n":284}]`},
		{"SELECT count(none) AS n, `limit_` FROM customers GROUP BY 2", `[{"limit_":3,"n":0}]`},
		{"SELECT CASE WHEN limit_ = 3 THEN who ELSE 'x' END AS c FROM customers GROUP BY 1", `[{"c":"it's"}]`},
		{"SELECT transform(array(1, 2), x -> x + limit_) AS l FROM customers GROUP BY 1", `[{"l":[4,5]}]`},
	} {
		q := f.query(c.sql, nil)
		q.Variable = variable
		p, err := f.run.Compile(t.Context(), q)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		if got := strings.NewReplacer("\n", "", " ", "").Replace(read(t, p.(*program))); got != strings.ReplaceAll(c.want, " ", "") {
			t.Errorf("%s: %s, want %s", c.sql, got, c.want)
		}
	}
	for _, sql := range []string{"SELECT nobody, count(*) FROM orders GROUP BY 1", "SELECT other.limit_ FROM orders GROUP BY 1", "SELECT * FROM limit_"} {
		q := f.query(sql, nil)
		q.Variable = variable
		if _, err := f.run.Compile(t.Context(), q); err == nil || fault.KindOf(err) == fault.Internal {
			t.Errorf("%s: %v", sql, err)
		}
	}
	q := f.query("SELECT "+strings.Repeat("limit_ + ", 60)+"1 FROM orders WHERE id IN (SELECT limit_ FROM (SELECT 1 AS limit_))", nil)
	q.Variable = variable
	if _, err := f.run.Compile(t.Context(), q); err == nil || !strings.Contains(err.Error(), "at most 50 places") {
		t.Errorf("60 places: %v", err)
	}
}
