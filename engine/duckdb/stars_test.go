//go:build cgo

package duckdb

import (
	"strings"
	"testing"
)

// TestStarsAsArgumentsAreColumns: a star among the arguments of a function is the columns of its query, wherever that stands.
func TestStarsAsArgumentsAreColumns(t *testing.T) {
	f := newFixture(t)
	f.spark = true
	for _, c := range []struct{ sql, want string }{
		{"SELECT struct(*) AS s FROM (SELECT 1 AS a, 2 AS b)", `[{"s":{"a":1,"b":2}}]`},
		{"SELECT concat(*) AS c, concat(*, 'x') AS d, array(*) AS e, coalesce(q.*) AS f, greatest(*) AS g FROM (SELECT 1 AS a, 2 AS b) q", `[{"c":"12","d":"12x","e":[1,2],"f":1,"g":2}]`},
		{"SELECT count(*) AS a, count(DISTINCT *) AS b, count(id, name) AS c, count(DISTINCT id, name) AS d FROM customers", `[{"a":4,"b":2,"c":2,"d":2}]`},
		{"SELECT concat(c.*, d.*) AS x FROM (SELECT 1 AS a) c, (SELECT 2 AS a) d", `[{"x":"12"}]`},
		{"SELECT concat(*) AS x FROM (SELECT 1 AS a, 5 AS b) JOIN (SELECT 1 AS a, 6 AS c) USING (a)", `[{"x":"156"}]`},
		{"SELECT concat(at.*) AS x FROM customers WHERE id = 1", `[{"x":"Oslo1"}]`},
		{"SELECT concat(* EXCEPT (tags, at)) AS x FROM customers WHERE id = 1", `[{"x":"1Ann"}]`},
		{"SELECT name FROM customers WHERE coalesce(* EXCEPT (name, tags, at)) = 2", `[{"name":"Bob"}]`},
		{"WITH x AS (SELECT 1 AS a, 2 AS b), y AS (SELECT struct(*) AS s FROM x) SELECT concat(s.*) AS c FROM y", `[{"c":"12"}]`},
		{"WITH z AS (SELECT 7 AS q) SELECT * FROM (WITH x AS (SELECT 1 AS a) SELECT concat(*) AS c FROM x, z)", `[{"c":"17"}]`},
		{"SELECT concat(concat(*), x) AS y FROM (SELECT concat(*) AS x FROM (SELECT 1 AS a, 2 AS b))", `[{"y":"1212"}]`},
		{"SELECT max(struct(*)).b AS m FROM (SELECT 1 AS a, 2 AS b) GROUP BY a", `[{"m":2}]`},
		{"SELECT 2 * (3) AS a, count(*) * 2 AS b FROM customers", `[{"a":6,"b":8}]`},
		{"SELECT struct(q.a, `b c`, 3) AS s FROM (SELECT 1 AS a, 2 AS `b c`) q", `[{"s":{"a":1,"bc":2,"col3":3}}]`},
		{"SELECT concat(*) FROM (SELECT 1 AS a) c, (SELECT 2 AS a) d", "a star as an argument that stands for several columns named a is not supported: name the columns (line 1, pos 14)"},
		{"SELECT count(c.*) FROM customers c", "_LEGACY_ERROR_TEMP_1021"},
		{"SELECT concat(*)", "INVALID_USAGE_OF_STAR_OR_REGEX"},
		{"SELECT concat(" + strings.Repeat("concat(*), ", 60) + "1) FROM customers", "FAILED_TO_PARSE_TOO_COMPLEX"},
	} {
		if got := outcome(t, f, c.sql, nil, nil); got != c.want {
			t.Errorf("%s: %s, want %s", c.sql, got, c.want)
		}
	}
}
