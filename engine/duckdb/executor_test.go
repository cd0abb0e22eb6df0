//go:build cgo

package duckdb

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
)

func TestQueriesGiveTheirRows(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct{ sql, want string }{
		{"SELECT count(*), sum(id), sum(price), min(day) FROM cat.ns.deep.orders", `[{"count_star()":5000,"min(\"day\")":"2024-01-01","sum(id)":12497500,"sum(price)":"249715"}]`},
		{"SELECT c.name, count(*) AS n FROM orders o JOIN customers c ON o.customer = c.id WHERE o.id < 1000 GROUP BY 1 ORDER BY 1", `[{"n":20,"name":"Ann"},{"n":20,"name":"Bob"},{"n":20,"name":null}]`},
		{"WITH orders AS (SELECT * FROM orders WHERE id < 3) SELECT count(*) AS n FROM orders a, orders b", `[{"n":9}]`},
		{"SELECT status, rank() OVER (ORDER BY status) AS r FROM orders WHERE id < 3 ORDER BY 2", ""},
		{"SELECT deep.orders.id FROM ns.deep.orders WHERE deep.orders.id = 7 AND upper(status) = 'SHIPPED'", `[{"id":7} ]`},
		{"SELECT x FROM customers LATERAL VIEW explode(tags) t AS x ORDER BY x DESC", `[{"x":"c"} ,{"x":"b"} ,{"x":"a"} ]`},
		{"SELECT at.city, tags[1] AS t FROM customers WHERE lower(at.city) LIKE 'o%'", `[{"city":"Oslo","t":"a"} ]`},
		{"SELECT at, tags FROM customers ORDER BY id NULLS FIRST LIMIT 1", ""},
		{"SELECT TOP 2 id FROM orders ORDER BY id DESC", `[{"id":4999} ,{"id":4998} ]`},
		{"SELECT id FROM orders WHERE id IN (SELECT id FROM customers) AND id NOT IN (1) ORDER BY 1", `[{"id":2} ,{"id":3} ]`},
		{"SELECT count(*) AS n FROM orders WHERE status RLIKE '^sh' AND NOT status RLIKE 'x$'", `[{"n":1667}]`},
		{"SELECT current_user AS u, version() AS v, current_date AS d, upper('x') AS x FROM customers WHERE id = 1", `[{"d":"2026-01-02","u":"ann","v":"9","x":"X"}]`},
		{"SELECT {fn ucase(name)} AS n FROM customers WHERE id <=> NULL", `[{"n":"ZOE"} ]`},
		{"VALUES (1, 'a') UNION ALL SELECT 2, 'b' ORDER BY 1", ""},
		{"SELECT sum(n) AS s FROM generate_series(1, 4) g(n)", `[{"s":10}]`},
		{"SELECT sum(id) AS s FROM range(4)", `[{"s":6}]`},
		{"SELECT * FROM customers c LEFT ANTI JOIN orders o ON c.id = o.customer", ""},
		{"SELECT id FROM orders ORDER BY id OFFSET 4998 ROWS", `[{"id":4998} ,{"id":4999} ]`},
		{"SELECT id FROM orders ORDER BY id OFFSET 3 ROWS FETCH NEXT 2 ROWS ONLY", `[{"id":3} ,{"id":4} ]`},
		{"SELECT id FROM orders ORDER BY id DESC OFFSET 1 ROW FETCH FIRST ROW ONLY", `[{"id":4998} ]`},
		{"SELECT 7 // 2 AS a, -7 // 2 AS b, id // 2 AS c, 2 ** 3 AS d FROM orders WHERE id = 5", `[{"a":3,"b":-3,"c":2,"d":8}]`},
		{"SELECT name SIMILAR TO 'A.*' AS a, name NOT SIMILAR TO 'B' AS b, name !~ 'A' AS c FROM customers ORDER BY id NULLS FIRST",
			`[{"a":false,"b":true,"c":true} ,{"a":true,"b":true,"c":true} ,{"a":false,"b":true,"c":true} ,{"a":null,"b":null,"c":null} ]`},
		{"SELECT TIMESTAMP '2024-01-02 03:04:05' AT TIME ZONE 'Europe/Berlin' = TIMESTAMPTZ '2024-01-02 02:04:05+00' AS a", `[{"a":true}]`},
	} {
		got, err := f.rows(t.Context(), c.sql)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		if strip := strings.NewReplacer("\n", "", " ", ""); c.want != "" && strip.Replace(got) != strip.Replace(c.want) {
			t.Errorf("%s\n got %s\nwant %s", c.sql, got, c.want)
		}
	}
}

// TestPushedFiltersChangeNoRows runs each statement with and without what was pushed, and shows what was.
func TestPushedFiltersChangeNoRows(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct{ where, pushed, tests string }{
		{"id > 5 AND id <= 10", "(id > 5 AND id <= 10)", ""},
		{"customer IN (1, 2, 3)", "customer in [1 2 3]", ""},
		{"price > 1.5 AND price < 100", "(price > 150 AND price < 10000)", ""},
		{"status LIKE 'sh%' AND length(status) > 2", "startsWith(status, sh)", ""},
		{"status IS NULL OR status = 'open'", "(isNull(status) OR status = open)", ""},
		{"day >= DATE '2024-03-01' AND day < DATE '2024-03-01' + INTERVAL 1 MONTH", "(day >= 19783 AND day < 19814)", ""},
		{"NOT (id < 4990 OR status = 'open')", "(id >= 4990 AND status <> open)", ""},
		{"id % 7 = 3", "", ""},
		{"id + 1 > 4999", "id > 4998", ""},
		{"status IS NOT NULL AND status <> 'open'", "(not isNull(status) AND status <> open)", ""},
		{"year(day) = 2024 AND id < 100", "((day >= 19723 AND day < 20089) AND id < 100)", ""},
		{"NOT year(day) IN (2023, 2025)", "((day < 19358 OR day >= 19723) AND (day < 20089 OR day >= 20454))", ""},
		{"system.months(day) >= 651", "day >= 19814", ""},
		{"system.years(day) BETWEEN 54 AND 55", "(day >= 19723 AND day < 20454)", ""},
		{"system.bucket(4, id) = 3", "", "bucket[4](id) = 3"},
		{"system.bucket(4, id) IN (1, 2) OR id = 7", "", "(bucket[4](id) in [1 2] OR id = 7)"},
		{"system.truncate(2, status) = 'op'", "", "truncate[2](status) = op"},
		{"system.truncate(10, id) >= 20 AND system.bucket(4, id) <> 3", "", "(truncate[10](id) >= 20 AND bucket[4](id) <> 3)"},
		{"system.truncate(10, price) = 20.0", "", "truncate[10](price) = 2000"},
	} {
		sql := "SELECT id, price, status FROM orders WHERE (" + c.where + ") AND random() < 2 ORDER BY id"
		p, err := f.run.Compile(t.Context(), f.query(sql, nil))
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		pushed := p.(*program)
		if got := spell(pushed.pushed.filter(0)); got != c.pushed {
			t.Errorf("%s: pushed %q, want %q", c.where, got, c.pushed)
		}
		if got := spell(pushed.pushed.tests[0].Expr); got != c.tests {
			t.Errorf("%s: tests of partitions %q, want %q", c.where, got, c.tests)
		}
		with := read(t, pushed)
		pushed.pushed = pushdown{}
		without := read(t, pushed)
		if with != without || with == "" {
			t.Errorf("%s: pushing the filter changes the rows:\n%s\n%s", c.where, with, without)
		}
	}
}

// read runs a program and gives its rows.
func read(t *testing.T, p *program) string {
	rows, err := rowsOf(t, p)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// rowsOf runs a program and gives its rows, or its error.
func rowsOf(t *testing.T, p *program) (string, error) {
	r, err := p.Open(t.Context())
	if err != nil {
		return "", err
	}
	defer r.Release()
	var out strings.Builder
	for r.Next() {
		text, err := r.RecordBatch().MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		out.Write(text)
	}
	return out.String(), r.Err()
}

func TestJoinsFilterTheOtherSide(t *testing.T) {
	f := newFixture(t)
	sql := "SELECT count(*) AS n FROM orders o JOIN customers c ON o.customer = c.id WHERE c.name IS NOT NULL"
	if got, err := f.rows(t.Context(), sql); err != nil || !strings.Contains(got, `"n":200`) {
		t.Fatal(got, err)
	}
	var filter predicate.Expr
	for _, r := range f.tables["orders"].requests {
		filter = r.Filter
	}
	if got := spell(filter); !strings.Contains(got, "customer in [1 2]") {
		t.Errorf("the keys of the small side are not among what the large one is asked: %q", got)
	}
	outer := "SELECT count(*) AS n FROM orders o LEFT JOIN customers c ON o.customer = c.id"
	if got, err := f.rows(t.Context(), outer); err != nil || !strings.Contains(got, `"n":5000`) {
		t.Error(got, err)
	}
}

// TestNothingOutsideIsReached lists what somebody may try.
func TestNothingOutsideIsReached(t *testing.T) {
	f := newFixture(t)
	for _, sql := range []string{
		"SELECT * FROM read_csv('/etc/passwd')", "SELECT * FROM read_text('/etc/passwd')", "SELECT * FROM '/etc/passwd'", "SELECT * FROM \"/etc/passwd\"",
		"SELECT * FROM read_parquet('http://localhost/x')", "SELECT * FROM glob('/*')", "SELECT * FROM sniff_csv('/etc/passwd')", "SELECT * FROM read_blob('/etc/*')",
		"COPY (SELECT 1) TO '/tmp/x'", "ATTACH '/tmp/x'", "INSTALL httpfs", "LOAD '/tmp/x'", "PRAGMA database_list", "SET threads = 1", "CALL enable_logging()",
		"EXPORT DATABASE '/tmp/x'", "IMPORT DATABASE '/tmp/x'", "CREATE TABLE x (a INT)", "CREATE MACRO upper(x) AS 1", "DROP MACRO skua_repeat", "CHECKPOINT",
		"SELECT * FROM query('SELECT 1')", "SELECT * FROM query_table('orders')", "SELECT * FROM json_execute_serialized_sql('{}')", "SELECT current_setting('temp_directory')",
		"SELECT * FROM duckdb_settings()", "SELECT * FROM duckdb_secrets()", "SELECT getvariable('x')", "SELECT pg_sleep(100)", "SELECT sleep_ms(100000)",
		"SELECT * FROM skua_scan(1)", "SELECT * FROM orders o, skua_scan(2)", "SELECT * FROM arrow_scan(1, 2, 3)", "SELECT write_log('x')", "SELECT * FROM which_secret('a', 'b')",
		"SELECT 1 FROM orders; SELECT 2", "SELECT 1; DROP SCHEMA main", "SHOW TABLES", "DESCRIBE orders", "SUMMARIZE orders", "SELECT * FROM information_schema.schemata_",
		"SELECT * FROM sqlite_master", "SELECT * FROM pg_catalog.pg_settings", "SELECT * FROM main.orders2", "SELECT * FROM \"skua:0\"", "SELECT * FROM parquet_metadata('/x')",
		"SELECT * FROM test_all_types()", "WITH x AS (SELECT * FROM read_csv('/etc/passwd')) SELECT * FROM x", "SELECT (SELECT count(*) FROM glob('*')) FROM orders",
		"SELECT system.main.current_setting('threads')", "SELECT main.upper('x') FROM read_text('/etc/passwd')", "SELECT * FROM orders AT (VERSION => 1)",
		"SELECT * FROM orders TABLESAMPLE (10 PERCENT)", "SELECT nextval('s')", "SELECT txid_current()", "SELECT * FROM pragma_table_info('orders')", "EXPLAIN ANALYZE SELECT 1",
		"PREPARE x AS SELECT 1", "EXECUTE x", "DEALLOCATE x", "BEGIN", "USE memory", "VACUUM", "INSERT INTO orders VALUES (1)", "DELETE FROM orders", "UPDATE orders SET id = 1",
		"MERGE INTO orders USING customers ON true WHEN MATCHED THEN DELETE", "SELECT a FROM (FROM '/etc/passwd') t(a)", "TABLE \"/etc/passwd\"", "PIVOT orders ON id",
		"SELECT current_query()", "SELECT in_search_path('a', 'b')", "SELECT has_table_privilege('x', 'y')", "SELECT * FROM seq_scan('orders')",
	} {
		p, err := f.run.Compile(t.Context(), f.query(sql, nil))
		var syntaxError *syntax.Error
		switch {
		case err == nil:
			t.Errorf("%s is let through", sql)
			_ = p.Close()
		case !errors.As(err, &syntaxError) && fault.KindOf(err) == fault.Internal:
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// TestGreatStatementsAreRefused tries to cost the engine its stack or its memory.
func TestGreatStatementsAreRefused(t *testing.T) {
	f := newFixture(t)
	for name, sql := range map[string]string{
		"parentheses": "SELECT " + strings.Repeat("(", 2000) + "1" + strings.Repeat(")", 2000), "joins": "SELECT 1 FROM orders" + strings.Repeat(" CROSS JOIN orders", 200),
		"unions": "SELECT id FROM orders" + strings.Repeat(" UNION ALL SELECT id FROM orders", 2000), "subqueries": strings.Repeat("SELECT * FROM (", 1000) + "SELECT 1" + strings.Repeat(") q", 1000),
		"operators": "SELECT id FROM orders WHERE id = " + strings.Repeat("id + ", 5000) + "1", "lambdas": "SELECT " + strings.Repeat("list_transform([1], x -> ", 60) + "x" + strings.Repeat(")", 60),
		"repeat": "SELECT length(repeat('a', 3000000000)) FROM orders", "list": "SELECT len(range(500000000)) FROM orders", "lpad": "SELECT lpad('a', 2000000000, 'b') FROM orders",
		"format": "SELECT printf('%2000000000d', id) FROM orders", "with": doubling(30), "not": "SELECT " + strings.Repeat("NOT ", 5000) + "true FROM orders",
		"NUL": "SELECT 'a\x00b' || name FROM customers",
	} {
		if _, err := f.rows(t.Context(), sql); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := f.rows(t.Context(), "SELECT count(*) FROM orders WHERE id = 1"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// doubling reads each of its queries twice in the next one.
func doubling(n int) string {
	out := "WITH q0 AS (SELECT id FROM customers)"
	previous := "q0"
	for i := range n {
		name := "r" + strings.Repeat("x", i+1)
		out += ", " + name + " AS (SELECT a.id FROM " + previous + " a, " + previous + " b)"
		previous = name
	}
	return out + " SELECT count(*) FROM " + previous
}

func TestCancellingIsPrompt(t *testing.T) {
	f := newFixture(t)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := f.rows(ctx, "SELECT count(*) FROM orders a, orders b, orders c WHERE a.id + b.id + c.id = -1")
	if fault.KindOf(err) != fault.Canceled && fault.KindOf(err) != fault.Deadline {
		t.Errorf("a statement whose time is over ends with %v", err)
	}
}

func TestAnErrorOfATableIsTheStatements(t *testing.T) {
	f := newFixture(t)
	f.tables["orders"].fail = fault.New(fault.Corrupt, "page 7 is torn").In("file.parquet")
	if _, err := f.rows(t.Context(), "SELECT status, count(*) FROM orders GROUP BY 1"); !fault.Is(err, fault.Corrupt) {
		t.Errorf("%v", err)
	}
}

func TestErrorsHaveAPlaceAndASuggestion(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct{ sql, text string }{
		{"SELECT id,\n  statsu, count(*) FROM orders GROUP BY 1, 2", "`statsu` cannot be resolved. Did you mean one of the following? [`status`"},
		{"SELECT id, statsu || 'x' FROM orders", "(line 1, pos 11)"},
		{"SELECT uper(status) FROM orders", "Did you mean upper?"},
		{"SELECT ska_interval(status) FROM orders", "`ska_interval`: there is no such function. SQLSTATE"},
		{"SELECT initcap(status, 'x') FROM orders", "[WRONG_NUM_ARGS.WITHOUT_SUGGESTION] The function initcap does"},
		{"SELECT status LIKE id FROM orders", "No function matches pattern(BIGINT)"},
		{"SELECT id, count(*) FROM orders", "GROUP BY"},
		{"SELECT CAST(status AS INT) + 1 FROM orders", "[CAST_INVALID_INPUT]"},
		{"SELECT id FROM orders WHERE id + = 3", "(line 1, pos "},
		{"SELECT id + status FROM orders", "cast"},
		{"SELECT id FROM nowhere GROUP BY id", "no table nowhere"},
		{"SELECT id FROM orders ORDER BY id FETCH FIRST 2 ROWS WITH TIES", "WITH TIES is not supported"},
	} {
		_, err := f.rows(t.Context(), c.sql)
		if err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %q", c.sql, err, c.text)
		}
	}
}

// TestColumnsOfOneName: what a query in FROM calls the same is called the same by a star around it.
func TestColumnsOfOneName(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct{ sql, names string }{
		{"SELECT * FROM (SELECT 1 a, 2 a, 3 b)", "a a b"},
		{"SELECT * FROM (SELECT * FROM orders o JOIN customers c ON o.customer = c.id) q LIMIT 1", "id customer price status day id name tags at"},
		{"SELECT * FROM (SELECT 1 AS a, 2 AS a_1)", "a a_1"},
		{"SELECT a_1, b FROM (SELECT 1 a_1, 2 a, 3 a, 4 b)", "a_1 b"},
		{"WITH q AS (SELECT id, id FROM customers) SELECT * FROM q, q r", "id id id id"},
	} {
		p, err := f.run.Compile(t.Context(), f.query(c.sql, nil))
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		var names []string
		for _, field := range p.Schema().Fields() {
			names = append(names, field.Name)
		}
		if got := strings.Join(names, " "); got != c.names {
			t.Errorf("%s: %s, want %s", c.sql, got, c.names)
		}
	}
}
