//go:build cgo

package duckdb

import (
	"strings"
	"testing"
)

// TestGeneratorsGiveRowsAndColumns: Spark's generators in a select list, in LATERAL VIEW and where a table stands, with the columns that Spark gives them.
func TestGeneratorsGiveRowsAndColumns(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct{ sql, want string }{
		{"SELECT explode(array(1, 2))", `[{"col":1},{"col":2}]`},
		{"SELECT id, explode(tags) FROM customers ORDER BY id, 2", `[{"col":"a","id":1},{"col":"b","id":1},{"col":"c","id":null}]`},
		{"SELECT id, explode_outer(tags) AS x FROM customers WHERE id > 1 ORDER BY id", `[{"id":2,"x":null},{"id":3,"x":null}]`},
		{"SELECT explode(m) FROM (SELECT map('a', 1, 'b', 2) AS m)", `[{"key":"a","value":1},{"key":"b","value":2}]`},
		{"SELECT value, key FROM (SELECT explode(m) FROM (SELECT map('a', 1) AS m))", `[{"key":"a","value":1}]`},
		{"SELECT explode(map('a', 1)) AS (k, v)", `[{"k":"a","v":1}]`},
		{"SELECT posexplode(array('x', 'y')), 7 AS n", `[{"col":"x","n":7,"pos":0},{"col":"y","n":7,"pos":1}]`},
		{"SELECT posexplode(map('x', 1))", `[{"key":"x","pos":0,"value":1}]`},
		{"SELECT posexplode_outer(array()) AS (p, c)", `[{"c":null,"p":null}]`},
		{"SELECT inline(array(struct(1 AS a, 'x' AS b), struct(2 AS a, 'y' AS b)))", `[{"a":1,"b":"x"},{"a":2,"b":"y"}]`},
		{"SELECT inline(array(struct(1 AS a, 'x' AS b))) AS (p, `q r`)", `[{"p":1,"qr":"x"}]`},
		{"SELECT stack(2, 1, 'a', 2)", `[{"col0":1,"col1":"a"},{"col0":2,"col1":null}]`},
		{"SELECT stack(3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12) AS (a, b, c, d)", `[{"a":1,"b":2,"c":3,"d":4},{"a":5,"b":6,"c":7,"d":8},{"a":9,"b":10,"c":11,"d":12}]`},
		{`SELECT json_tuple('{"a": 1, "b c": "x"}', 'a', 'b c')`, `[{"c0":"1","c1":"x"}]`},
		{"SELECT * FROM explode(array(1, 2))", `[{"col":1},{"col":2}]`},
		{"SELECT * FROM posexplode(array(5)) AS t(a, b)", `[{"a":0,"b":5}]`},
		{"SELECT id, e.* FROM customers, LATERAL explode(tags) AS e(x) ORDER BY x LIMIT 1", `[{"id":1,"x":"a"}]`},
		{"SELECT id, x FROM customers LATERAL VIEW OUTER explode(tags) t AS x WHERE id > 1 ORDER BY id", `[{"id":2,"x":null},{"id":3,"x":null}]`},
		{"SELECT * FROM (SELECT 1 AS id) LATERAL VIEW explode(map('a', 5)) t LATERAL VIEW posexplode(array(7)) AS p, c", `[{"c":7,"id":1,"key":"a","p":0,"value":5}]`},
		{"SELECT a, b FROM (SELECT 1) LATERAL VIEW stack(2, 1, 2, 3, 4) t AS a, b", `[{"a":1,"b":2},{"a":3,"b":4}]`},
		{"SELECT explode(array(1)), explode(array(2))", "UNSUPPORTED_GENERATOR.MULTI_GENERATOR"},
		{"SELECT posexplode(array(1)) AS p", "UDTF_ALIAS_NUMBER_MISMATCH"},
		{"SELECT inline(array(struct(1 AS a, 'x' AS b))) AS (p)", "UDTF_ALIAS_NUMBER_MISMATCH"},
		{"SELECT inline(array(struct(1 AS a, 'x' AS b))) AS p", "UDTF_ALIAS_NUMBER_MISMATCH"},
		{"SELECT inline_outer(array(struct(1 AS a, 'x' AS b))) AS (p, q, r)", "UDTF_ALIAS_NUMBER_MISMATCH"},
		{"SELECT * FROM (SELECT array(struct(1 AS a, 'x' AS b)) AS l) LATERAL VIEW inline(l) t AS p", "UDTF_ALIAS_NUMBER_MISMATCH"},
		{"SELECT p FROM (SELECT array(struct(1 AS a, 'x' AS b), NULL) AS l) LATERAL VIEW inline(l) t AS p, q", `[{"p":1},{"p":null}]`},
		{"SELECT stack(n, 1) FROM (SELECT 1 AS n)", "WRONG_NUM_ARGS.WITHOUT_SUGGESTION"},
		{"SELECT explode(array((SELECT max(x) FROM explode(array((SELECT max(x) FROM explode(array((SELECT max(x) FROM explode(array(1)) t(x)))) t(x)))) t(x))))", "FAILED_TO_PARSE_TOO_COMPLEX"},
	} {
		if got := outcome(t, f, c.sql, nil, nil); got != c.want {
			t.Errorf("%s: %s, want %s", c.sql, got, c.want)
		}
	}
}

// TestJoinsWithoutConditionsTakeEveryPair of rows, in whatever place of a chain they stand.
func TestJoinsWithoutConditionsTakeEveryPair(t *testing.T) {
	f := newFixture(t)
	const x, y, z = "(SELECT 1 AS a) x", "(SELECT 2 AS b) y", "(SELECT 2 AS c) z"
	for _, c := range []struct{ from, want string }{
		{x + " JOIN " + y, `[{"a":1,"b":2}]`},
		{x + " LEFT OUTER JOIN " + y + " WHERE a < b", `[{"a":1,"b":2}]`},
		{x + " LEFT SEMI JOIN " + y, `[{"a":1}]`},
		{x + " LEFT ANTI JOIN " + y, `[]`},
		{x + " JOIN " + y + " JOIN " + z + " ON b = c", `[{"a":1,"b":2,"c":2}]`},
		{x + " JOIN " + y + " JOIN " + z + " ON b = c ON a < c", `[{"a":1,"b":2,"c":2}]`},
		{x + " JOIN " + y + " LEFT JOIN " + z + " CROSS JOIN (SELECT 4 AS d), (SELECT 5 AS e)", `[{"a":1,"b":2,"c":2,"d":4,"e":5}]`},
		{x + " NATURAL JOIN (SELECT 1 AS a) w JOIN " + y, `[{"a":1,"b":2}]`},
		{"((SELECT 1 AS a, 2 AS c) x JOIN " + y + ") JOIN " + z + " USING (c)", `[{"a":1,"b":2,"c":2}]`},
		{x + " JOIN LATERAL (SELECT x.a + 1 AS b)", `[{"a":1,"b":2}]`},
		{x + " JOIN (SELECT array(7) AS l) y LATERAL VIEW explode(l) t AS m", `[{"a":1,"l":[7],"m":7}]`},
		{"((SELECT 1 AS a) x JOIN customers y ON y.id = a) WHERE name = 'Ann'", `[{"a":1,"at":{"city":"Oslo","zip":1},"id":1,"name":"Ann","tags":["a","b"]}]`},
	} {
		got := outcome(t, f, "SELECT * FROM "+c.from, nil, nil)
		if got == "" {
			got = "[]"
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.from, got, c.want)
		}
	}
}

// TestStarsBeginWithTheColumnsOfUsing, in Spark's dialect: a column that both sides have stands first, once.
func TestStarsBeginWithTheColumnsOfUsing(t *testing.T) {
	f := newFixture(t)
	const x, y, z = "(SELECT 1 AS a, 2 AS b) x", "(SELECT 5 AS c, 2 AS b) y", "(SELECT 5 AS c, 3 AS b) y"
	for _, c := range []struct{ from, spark, ansi, row string }{
		{x + " JOIN " + y + " USING (b)", "b a c", "a b c", `[{"a":1,"b":2,"c":5}]`},
		{x + " JOIN " + y + " USING (B) ORDER BY 1", "b a c", "a b c", `[{"a":1,"b":2,"c":5}]`},
		{x + " LEFT JOIN " + z + " USING (b)", "b a c", "a b c", `[{"a":1,"b":2,"c":null}]`},
		{x + " RIGHT JOIN " + z + " USING (b)", "b a c", "a b c", `[{"a":null,"b":3,"c":5}]`},
		{x + " FULL OUTER JOIN " + z + " USING (b) ORDER BY b", "b a c", "a b c", `[{"a":1,"b":2,"c":null},{"a":null,"b":3,"c":5}]`},
		{x + " LEFT SEMI JOIN " + y + " USING (b)", "b a", "a b", `[{"a":1,"b":2}]`},
		{x + " JOIN " + y + " USING (b) JOIN (SELECT 2 AS b, 7 AS d) w USING (b) WHERE a = 1", "b a c d", "a b c d", `[{"a":1,"b":2,"c":5,"d":7}]`},
		{"orders JOIN (SELECT CAST(2 AS BIGINT) AS id, 8 AS d) w USING (id)", "id customer price status day d", "id customer price status day d", `[{"customer":2,"d":8,"day":"2024-03-03","id":2,"price":"2.02","status":null}]`},
		{"(SELECT 8 AS d, CAST(2 AS BIGINT) AS id) w JOIN orders USING (id)", "id d customer price status day", "d id customer price status day", `[{"customer":2,"d":8,"day":"2024-03-03","id":2,"price":"2.02","status":null}]`},
		{x + " JOIN " + y + " USING (b) JOIN (SELECT 1 AS k, 9 AS b) w ON a = k", "b a c k b", "a b c k b", ""},
	} {
		for spark, want := range map[bool]string{true: c.spark, false: c.ansi} {
			f.spark = spark
			p, err := f.run.Compile(t.Context(), f.query("SELECT * FROM "+c.from, nil))
			if err != nil {
				t.Errorf("%s: %v", c.from, err)
				continue
			}
			var names []string
			for _, f := range p.Schema().Fields() {
				names = append(names, f.Name)
			}
			if got := strings.Join(names, " "); got != want {
				t.Errorf("%s, spark %t: columns %s, want %s", c.from, spark, got, want)
			}
			if got := outcome(t, f, "SELECT * FROM "+c.from, nil, nil); c.row != "" && got != c.row {
				t.Errorf("%s, spark %t: %s, want %s", c.from, spark, got, c.row)
			}
		}
	}
}

// TestNamesOfSeveralColumnsMeanNone: ORDER BY and HAVING name a column of the select list, unless several are called so.
func TestNamesOfSeveralColumnsMeanNone(t *testing.T) {
	f := newFixture(t)
	const ambiguous = "AMBIGUOUS_REFERENCE"
	for _, c := range []struct{ sql, want string }{
		{"SELECT id, zip AS id FROM (SELECT 1 AS id, 2 AS zip) ORDER BY id", ambiguous},
		{"SELECT 1 AS a, 2 AS a ORDER BY abs(a)", ambiguous},
		{"SELECT 1 AS a, 2 AS a UNION ALL SELECT 3, 4 ORDER BY a", ambiguous},
		{"SELECT sum(id) AS a, max(id) AS a FROM customers HAVING a > 0", ambiguous},
		{"SELECT o.id, c.id FROM orders o JOIN customers c ON o.id = c.id ORDER BY id", ambiguous},
		{"SELECT *, upper(name) AS name FROM customers ORDER BY name", ambiguous},
		{"SELECT id, id FROM customers WHERE id = 2 ORDER BY id", `[{"id":2}]`},
		{"SELECT *, id FROM customers WHERE id = 2 ORDER BY id", `[{"at":{"city":"Rome","zip":2},"id":2,"name":"Bob","tags":[]}]`},
		{"SELECT * EXCEPT (name, at, tags), upper(name) AS name FROM customers WHERE id < 3 ORDER BY name DESC", `[{"id":2,"name":"BOB"},{"id":1,"name":"ANN"}]`},
		{"SELECT 1 AS a, 2 AS a ORDER BY 1", `[{"a":2}]`},
		{"SELECT max(id) AS id, min(id) AS id FROM customers HAVING sum(id) > 0", `[{"id":1}]`},
		{"SELECT id AS n, 1 AS n FROM customers WHERE id = 1 ORDER BY (SELECT n FROM (SELECT 1 AS n))", `[{"n":1}]`},
		{"SELECT *, d FROM (SELECT 1 AS i, 2e0 AS d UNION ALL SELECT 2, 1e0) ORDER BY 2", `[{"d":1,"i":2},{"d":2,"i":1}]`},
		{"SELECT *, i AS d FROM (SELECT 1e0 AS i, 2e0 AS j UNION ALL SELECT 2e0, 1e0) ORDER BY 2", `[{"d":2,"i":2,"j":1},{"d":1,"i":1,"j":2}]`},
		{"SELECT COLUMNS(*) + 1 FROM (SELECT 1 AS a, 2 AS b)", `[{"a":2,"b":3}]`},
	} {
		if got := outcome(t, f, c.sql, nil, nil); got != c.want {
			t.Errorf("%s: %s, want %s", c.sql, got, c.want)
		}
	}
}
