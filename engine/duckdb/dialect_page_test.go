//go:build cgo

package duckdb

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/dialect.md")

// differences are expressions that Spark and ANSI SQL read differently.
var differences = []string{
	"dateadd(day, 3, DATE '2024-03-01')", "CAST(1e20 AS STRING)", "CAST(array(1, NULL) AS STRING)", "CAST(array(2.5, -0.5) AS ARRAY<INT>)", "[10, 20, 30][1]", "split('a.b.c', '[.]')", "concat('a', NULL)", "substring('spark', 0, 2)",
	"regexp_replace('aaa', 'a', 'b')", "regexp_extract('a1b2', '([a-z])([0-9])')", "dayofweek(DATE '2024-03-03')", "weekday(DATE '2024-03-03')", "log(100)", "CAST(2.5 AS INT)",
	"1.0 / 3.0", "5 ^ 3", "bround(2.5)", "DATE '2024-03-01' + INTERVAL 1 DAY", "DATE '2024-03-01' - DATE '2024-02-28'",
}

// agreements are expressions of Spark that mean the same in both dialects, most of which the engine has no function of this name for.
var agreements = []string{
	"nvl(NULL, 1)", "nvl2(NULL, 1, 2)", "iff(true, 1, 2)", "isnull(NULL)", "decode(2, 1, 'one', 2, 'two', 'other')", "locate('b', 'abc')", "charindex('b', 'abc')",
	"substring_index('a.b.c', '.', 2)", "initcap('a bc')", "space(2) || 'x'", "octet_length('é')", "lpad('7', 3)", "'spark' RLIKE 'p.r'", "regexp_like('spark', 'p.r')",
	"date_add(DATE '2024-02-28', 2)", "date_sub(DATE '2024-03-01', 1)", "datediff(DATE '2024-03-01', DATE '2024-02-01')", "add_months(DATE '2024-01-31', 1)",
	"months_between(DATE '2024-03-31', DATE '2024-02-29')", "next_day(DATE '2024-03-01', 'MO')", "trunc(DATE '2024-03-15', 'MM')", "last_day(DATE '2024-02-01')",
	"date_format(TIMESTAMP '2024-03-01 10:00:00', 'yyyy/MM/dd HH:mm')", "to_date('01.03.2024', 'dd.MM.yyyy')",
	"timestampdiff(HOUR, TIMESTAMP '2024-01-01 00:00:00', TIMESTAMP '2024-01-02 05:30:00')", "pmod(-7, 3)", "-7 DIV 2", "7 % 3", "shiftleft(1, 4)",
	"array(1, 2, 3)", "map('a', 1)", "named_struct('a', 1, 'b', 'x')", "size(array(1, 2))", "array_contains(array(1, 2), 2)", "sort_array(array(3, 1))",
	"transform(array(1, 2), x -> x + 1)", "filter(array(1, 2), x -> x > 1)", "element_at(array(5, 6), 1)", "sequence(1, 3)", "array_join(array('a', 'b'), '-')",
	"1 <=> NULL", "X'4D'", "1L + 1", "{fn ucase('a')}", "{d '2024-01-01'}", "sha2('a', 256)", "unbase64('YQ==')", "1 / 2", "CAST(TIMESTAMP '2024-01-01 00:00:00' AS STRING)",
}

// TestDialectPage evaluates the expressions under both dialects and holds docs/dialect.md against what they give.
func TestDialectPage(t *testing.T) {
	f := newFixture(t)
	var b strings.Builder
	b.WriteString(dialectHead)
	b.WriteString("| expression | `ansi` | `spark` |\n| --- | --- | --- |\n")
	value := func(e string, spark bool) string {
		f.spark = spark
		got, err := f.rows(t.Context(), "SELECT "+e+" AS v FROM customers WHERE id = 1")
		if err != nil {
			return "error: " + strings.ReplaceAll(err.Error(), "|", "\\|")
		}
		got = strings.TrimSuffix(strings.TrimPrefix(strings.Join(strings.Fields(got), " "), `[{"v":`), "} ]")
		return "`" + strings.ReplaceAll(strings.TrimSuffix(got, "}]"), "|", "\\|") + "`"
	}
	code := func(e string) string { return "`` " + strings.ReplaceAll(e, "|", "\\|") + " ``" }
	for _, e := range differences {
		ansi, spark := value(e, false), value(e, true)
		if ansi == spark || strings.HasPrefix(spark, "error") {
			t.Errorf("%s: %s and %s", e, ansi, spark)
		}
		b.WriteString("| " + code(e) + " | " + ansi + " | " + spark + " |\n")
	}
	b.WriteString("| `` ORDER BY x `` | nulls last | nulls first, with `DESC` last |\n\n## The same in both\n\n| expression | value |\n| --- | --- |\n")
	for _, e := range agreements {
		ansi, spark := value(e, false), value(e, true)
		if ansi != spark || strings.HasPrefix(spark, "error") {
			t.Errorf("%s: %s and %s", e, ansi, spark)
		}
		b.WriteString("| " + code(e) + " | " + ansi + " |\n")
	}
	const path = "../../docs/dialect.md"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != b.String() {
		t.Error("docs/dialect.md differs from what the expressions give; run go test ./engine/duckdb -run DialectPage -update")
	}
}

// dialectHead is what stands above the tables.
const dialectHead = `# Dialects

A query that is more than a scan of one table is run by an embedded DuckDB. Skua turns what users of Spark and of BI tools write into its SQL: back quotes,
time travel, Spark's functions and operators, LATERAL VIEW, SEMI and ANTI joins, ` + "`EXCEPT (column)`" + `, ` + "`WITH ROLLUP`" + `, ODBC and JDBC escapes, TOP and FETCH. Where
Spark and ANSI SQL give the same text another meaning, ` + "`SET skua.sql.dialect`" + ` decides: ` + "`ansi`" + `, which is the default, or ` + "`spark`" + `. A test
writes the tables below from what the engine gives.

Columns without an alias are called as Spark calls them in both dialects, and the sum of whole numbers is a ` + "`bigint`" + `. Under ` + "`spark`" + ` every cast is Spark's, whatever it is written as (CAST, TRY_CAST, ::):
its texts, what it reads from texts, its errors; floats have the fewest digits that give them back, as Java has written them since version 19. So are those that nobody writes: of arguments
of functions of texts, beside ` + "`||`" + `, where a text is compared with a number, a day or a time, and where values meet in one type, as in ` + "`CASE`" + `, ` + "`coalesce`" + ` and ` + "`array`" + `. Under ` + "`spark`" + ` the type ` + "`TIMESTAMP`" + ` has the session's zone, and ` + "`avg`" + ` of
decimals is a decimal with four digits more behind the point, rounded half up; under ` + "`ansi`" + ` it is a double.

Under ` + "`spark`" + ` arithmetic has Spark's types, values and errors. Decimals stay decimals: quotients and products have the digits that Spark gives them, rounded half up, with fewer behind the point where
38 are too few (` + "`spark.sql.decimalOperations.allowPrecisionLoss`" + ` is true), an integer literal has as many digits as it shows, and ` + "`sum`" + ` of decimals has ten more. A division by 0 is the error ` + "`DIVIDE_BY_ZERO`" + `,
a remainder ` + "`REMAINDER_BY_ZERO`" + `; ` + "`DIV`" + ` gives a ` + "`bigint`" + `, ` + "`^`" + ` is the exclusive or of bits, ` + "`||`" + ` binds like ` + "`+`" + `, and a text among numbers is one. A day plus an interval of
days or months is a day, one of hours a timestamp; the difference of days or times is an interval. ` + "`round`" + `, ` + "`bround`" + `, ` + "`ceil`" + `, ` + "`floor`" + `, ` + "`abs`" + `, ` + "`sign`" + `, ` + "`mod`" + `, ` + "`pmod`" + ` and shifts follow the
types of their arguments. Under ` + "`ansi`" + ` the engine's own arithmetic holds: a quotient is a double, of 0 infinite, and a day plus an interval is a timestamp.

Under ` + "`spark`" + ` functions of lists, maps and lambdas are Spark's: ` + "`element_at`" + ` and subscripts out of bounds are errors, ` + "`array_contains`" + `, ` + "`exists`" + ` and ` + "`forall`" + ` know NULL, sets of elements keep their
order, a key twice in a map is ` + "`DUPLICATED_MAP_KEY`" + `, the place in ` + "`transform(l, (x, i) -> …)`" + ` begins at 0, and ` + "`sequence`" + ` has the type of its arguments. So are those of JSON: ` + "`get_json_object`" + ` and
` + "`json_tuple`" + ` of what is malformed are NULL, ` + "`to_json`" + ` leaves out fields without a value, and ` + "`from_json`" + ` and ` + "`from_csv`" + `, whose schemas are literals, give NULL for what is not of the type.

` + "`x LIKE ANY (a, b)`" + `, ` + "`SOME`" + ` and ` + "`ALL`" + `, also with ` + "`NOT`" + ` and ` + "`ILIKE`" + `, test each of several patterns, in both dialects; a query cannot give the patterns.

A star among the arguments of a function is the columns of its query: ` + "`struct(*)`" + `, ` + "`concat(t.*, 'x')`" + `, ` + "`array(* EXCEPT (id))`" + `, ` + "`count(DISTINCT *)`" + `. ` + "`COLUMNS(…)`" + ` is DuckDB's, and its columns
are called after those it takes. The generators ` + "`explode`" + `, ` + "`posexplode`" + `, ` + "`inline`" + `, ` + "`stack`" + `, ` + "`json_tuple`" + ` and their ` + "`_outer`" + ` forms stand in a select list (one in each, with ` + "`AS name`" + ` or
` + "`AS (a, b)`" + `), behind ` + "`LATERAL VIEW`" + ` and where a table may; without names their columns are ` + "`col`" + `, ` + "`pos`" + `, ` + "`key`" + ` and ` + "`value`" + `, ` + "`col0`" + `, ` + "`c0`" + ` and so on, as in Spark. A ` + "`JOIN`" + ` without ` + "`ON`" + ` and ` + "`USING`" + `
takes every pair of rows, whatever its kind; ` + "`a JOIN b JOIN c ON x ON y`" + ` means what it does in ANSI SQL.
Under ` + "`spark`" + ` a star over joins has Spark's order: each ` + "`USING`" + ` and ` + "`NATURAL JOIN`" + ` puts the columns that it compares first, also in ` + "`t.*`" + `; over a FROM with functions, nested joins or samples it has the
order of the tables. Columns of ` + "`UNION`" + `, ` + "`INTERSECT`" + ` and ` + "`EXCEPT`" + `, of ` + "`x IN (SELECT …)`" + ` and of the rows of ` + "`VALUES`" + ` meet in Spark's common type, or are refused as in Spark; those of recursive
queries and of tuples in ` + "`IN`" + ` meet in the engine's.

Under ` + "`spark`" + ` aggregates and windows are Spark's: ` + "`IGNORE NULLS`" + ` beside or inside the parentheses, ` + "`first(x, true)`" + `, ` + "`WITHIN GROUP`" + `, ` + "`FILTER`" + ` behind every aggregate, ` + "`some`" + ` and ` + "`any`" + `, ` + "`try_sum`" + ` and ` + "`try_avg`" + `,
lists without nulls, ` + "`count_if`" + ` of no rows, ranks of 32 bits, variances and regressions over NaN, percentiles that are doubles; ` + "`approx_count_distinct`" + ` is the exact number. A sum of what is no number, a wrong
number of arguments and a window function without ` + "`OVER`" + ` are refused as Spark refuses them; so are ranks without
an order or with a frame, ` + "`DISTINCT`" + ` and ` + "`FILTER`" + ` with ` + "`OVER`" + `, and frames that end before they begin. ` + "`OVER w`" + ` gives its column the name of what ` + "`WINDOW`" + ` says; ` + "`QUALIFY`" + `, ` + "`GROUPS`" + ` and ` + "`EXCLUDE`" + ` are
there besides. A window function inside another one is not supported. Windows of time are ` + "`" + `window(ts, '10 minutes', '5 minutes', '1 minute')` + "`" + `, grouped by or beside columns and ` + "`" + `*` + "`" + `,
but not beside ` + "`" + `*` + "`" + ` over joins with ` + "`" + `USING` + "`" + ` and ` + "`" + `NATURAL` + "`" + `; ` + "`" + `session_window` + "`" + ` is not there.
A null inside a struct or a list comes before what is there, and what has no type is a ` + "`void`" + `, which ` + "`ansi`" + ` calls an ` + "`int`" + `.
` + "`(a, b) NOT IN (SELECT …)`" + ` is true where no row may be equal. ` + "`VALUES`" + ` calls its columns ` + "`col1`" + `, ` + "`col2`" + ` and so on, and ` + "`t.s.*`" + ` is
the fields of a struct. Otherwise than in Spark, -0.0 may stand for a group of zeros, and of rows that tie ` + "`max_by`" + ` and ` + "`min_by`" + ` take the first.

## Where they differ

`
