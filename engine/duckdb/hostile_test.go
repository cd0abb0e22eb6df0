//go:build cgo

package duckdb

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// hostile are statements that want more than anybody has. Each ends by itself, in an error that names a limit or in rows, or soon after its time is over.
var hostile = map[string]string{
	"identifier":     "SELECT " + strings.Repeat("a", 1<<20) + " FROM orders GROUP BY 1",
	"quoted":         "SELECT count(*) AS \"" + strings.Repeat("b", 1<<20) + "\" FROM orders",
	"table":          "SELECT count(*) FROM " + strings.Repeat("c", 1<<20) + " GROUP BY 1",
	"in":             "SELECT count(*) AS n FROM orders WHERE upper(status) = 'OPEN' AND id IN (0" + numbers(45_000) + ")",
	"long in":        "SELECT count(*) AS n FROM orders WHERE upper(status) = 'OPEN' AND id IN (0" + numbers(100_000) + ")",
	"or":             "SELECT count(*) FROM orders WHERE false" + strings.Repeat(" OR id = 1", 100_000),
	"few or":         "SELECT count(*) FROM orders WHERE upper(status) = 'X'" + strings.Repeat(" OR id = 1", 4_900),
	"and":            "SELECT count(*) FROM orders WHERE upper(status) = 'X'" + strings.Repeat(" AND id = 1", 20_000),
	"joined":         "SELECT max(length(status" + strings.Repeat(" || status", 100_000) + ")) FROM orders",
	"half joined":    "SELECT max(length(status" + strings.Repeat(" || status", 20_000) + ")) FROM orders",
	"some joined":    "SELECT max(length(status" + strings.Repeat(" || status", 1_000) + ")) FROM orders",
	"concat":         "SELECT max(length(concat(status" + strings.Repeat(", status", 20_000) + "))) FROM orders",
	"plus":           "SELECT max(id" + strings.Repeat(" + id", 20_000) + ") FROM orders",
	"case":           "SELECT CASE" + strings.Repeat(" WHEN id = 1 THEN 2", 20_000) + " END AS c FROM orders GROUP BY 1",
	"nested case":    "SELECT " + strings.Repeat("CASE WHEN id = 1 THEN 1 ELSE ", 5_000) + "0" + strings.Repeat(" END", 5_000) + " FROM orders GROUP BY 1",
	"subqueries":     "SELECT id + " + strings.Repeat("(SELECT 1 + ", 60) + "1" + strings.Repeat(")", 60) + " FROM orders",
	"brackets":       "SELECT " + strings.Repeat("[", 50_000) + strings.Repeat("]", 50_000) + " FROM orders GROUP BY 1",
	"functions":      "SELECT " + strings.Repeat("abs(", 20_000) + "1" + strings.Repeat(")", 20_000) + " FROM orders GROUP BY 1",
	"columns":        "SELECT id" + strings.Repeat(", id", 30_000) + " FROM orders GROUP BY 1 LIMIT 1",
	"values":         "SELECT count(*) FROM (VALUES (1)" + strings.Repeat(", (1)", 30_000) + ")",
	"with":           "WITH q0 AS (SELECT 1 AS x)" + chainedQueries(500) + " SELECT * FROM q500",
	"cross join":     "SELECT count(*) FROM orders a, orders b, orders c, orders d WHERE a.id + b.id + c.id + d.id = -1",
	"kept cross":     "SELECT a.status, b.status, c.status FROM orders a, orders b, orders c ORDER BY random()",
	"list of all":    "SELECT list(a.status || b.status || c.status) FROM orders a, orders b, orders c",
	"texts of all":   "SELECT string_agg(a.status || b.status, ',') FROM orders a, orders b, orders c",
	"distinct":       "SELECT count(DISTINCT a.id * 25000000 + b.id * 5000 + c.id) FROM orders a, orders b, orders c",
	"range":          "SELECT count(*) FROM range(1000000000000000000)",
	"series":         "SELECT sum(x) FROM generate_series(1, 1000000000000000000) t(x)",
	"sorted series":  "SELECT x FROM generate_series(1, 100000000000) t(x) ORDER BY hash(x) LIMIT 20000",
	"range list":     "SELECT sum(len(range(id * 1000000))) FROM orders",
	"unnested":       "SELECT count(*) FROM (SELECT unnest(range(9000000)) FROM orders)",
	"recursion":      "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
	"wide recursion": "WITH RECURSIVE r AS (SELECT 'a' AS s UNION ALL SELECT s || s FROM r) SELECT max(length(s)) FROM r",
	"grown":          "WITH RECURSIVE r AS (SELECT id FROM orders UNION ALL SELECT a.id FROM r a, orders b) SELECT count(*) FROM r",
	"regex":          "SELECT count(*) FROM orders WHERE regexp_matches(repeat('a', 100000), '(a*)*(a*)*(a*)*b')",
	"regex size":     "SELECT count(*) FROM orders WHERE status RLIKE '((a{1,100}){1,100}){1,100}'",
	"regex nesting":  "SELECT count(*) FROM orders WHERE status RLIKE '" + strings.Repeat("(", 10_000) + "a" + strings.Repeat(")*", 10_000) + "'",
	"replace":        "SELECT max(length(regexp_replace(repeat('a', 1000000), 'a', repeat('b', 1000000), 'g'))) FROM orders",
	"pad":            "SELECT max(length(lpad('a', 1000000000, 'b'))) FROM orders",
	"decimal":        "SELECT sum(CAST('" + strings.Repeat("9", 1_000_000) + "' AS DECIMAL(38, 0))) FROM orders",
	"number":         "SELECT " + strings.Repeat("9", 1_000_000) + " + count(*) FROM orders",
	"like":           "SELECT count(*) FROM orders WHERE repeat('a', 10000) LIKE '" + strings.Repeat("%a", 5_000) + "b'",
	"like tried":     "SELECT count(*) FROM orders WHERE repeat('a', 10000 + id % 2) LIKE '%a_%a_%a_%a_%b'",
	"ilike tried":    "SELECT count(*) FROM orders WHERE repeat('a', 10000 + id % 2) ILIKE '%a%a%a%a%b'",
	"like escaped":   "SELECT count(*) FROM orders WHERE repeat('a', 10000 + id % 2) LIKE '%a%a%a%a%|%' {escape '|'}",
	"long like":      "SELECT count(*) FROM orders WHERE repeat('a', 100000) LIKE repeat('%a', 20000 + id % 2) || 'b'",
	"slow rows":      "SELECT count(*) FROM orders a, orders b WHERE repeat('a', 5000) LIKE concat(repeat('%a', 400), 'b', a.id, b.id)",
	"levenshtein":    "SELECT max(levenshtein(repeat('a', 100000), repeat('b', 100000))) FROM orders",
	"near texts":     "SELECT max(jaro_similarity(repeat('a', 100000), repeat('b', 100000))) FROM orders",
	"infinite":       "SELECT 1e400 + count(*) FROM orders",
	"like of rows":   "SELECT count(*) FROM orders WHERE repeat('a', 40 + id % 2) LIKE repeat('%a', 30 + id % 2) || 'b'",
	"regex of rows":  "SELECT count(*) FROM orders WHERE repeat('a', 40 + id % 2) RLIKE repeat('(a*)*', 300 + id % 2)",
	"similar":        "SELECT count(*) FROM orders WHERE status SIMILAR TO '" + strings.Repeat("(a|", 5_000) + "b" + strings.Repeat(")*", 5_000) + "'",
	"printf":         "SELECT max(length(printf('%999999999d', 1))) FROM orders",
	"pivot":          "PIVOT (SELECT id, id % 4000 AS k FROM orders) ON k USING count(*)",
	"cube":           "SELECT count(*) FROM orders GROUP BY CUBE (id, customer, price, status, day, id + 1, id + 2, id + 3, id + 4, id + 5, id + 6, id + 7, id + 8, id + 9, id + 10, id + 11, id + 12, id + 13, id + 14, id + 15, id + 16, id + 17)",
	"window":         "SELECT max(s) FROM (SELECT list(a.status) OVER (ORDER BY a.id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS s FROM orders a, orders b)",
	"aliases":        "SELECT id AS a0" + doublings(60) + " FROM orders GROUP BY ALL",
}

// long are the statements whose single steps take seconds, before which nothing ends them.
var long = map[string]bool{"identifier": true, "quoted": true, "in": true, "few or": true, "concat": true, "columns": true, "decimal": true, "regex": true, "regex of rows": true,
	"levenshtein": true, "near texts": true, "wide recursion": true, "values": true, "long in": true}

// numbers lists some numbers behind commas.
func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("," + strconv.Itoa(i))
	}
	return b.String()
}

// chainedQueries makes queries of which each reads the one before it twice.
func chainedQueries(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(", q" + strconv.Itoa(i+1) + " AS (SELECT a.x FROM q" + strconv.Itoa(i) + " a, q" + strconv.Itoa(i) + " b)")
	}
	return b.String()
}

// doublings makes elements of which each names the one before it twice.
func doublings(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(", a" + strconv.Itoa(i) + " + a" + strconv.Itoa(i) + " AS a" + strconv.Itoa(i+1))
	}
	return b.String()
}

// alone is set in a process that runs one test.
const alone = "SKUA_TEST_ALONE"

// TestHostileStatementsEnd sends each hostile statement to one engine, with little time and little memory. Afterwards the engine serves as before, and
// the process has not grown far beyond the engine's memory. SKUA_HOSTILE names one of them; with "all" those are sent, too, that take their time.
func TestHostileStatementsEnd(t *testing.T) {
	const memory, allowed = 256 << 20, 1400 << 20
	if os.Getenv(alone) == "" { // what other tests have taken counts to the process
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		again := exec.Command(self, "-test.run=^TestHostileStatementsEnd$", "-test.v")
		again.Env = append(os.Environ(), alone+"=yes")
		out, err := again.CombinedOutput()
		if t.Logf("%s", out); err != nil {
			t.Fatal(err)
		}
		return
	}
	f := newFixture(t)
	run, err := New(Config{Threads: 2, Memory: memory, Folder: t.TempDir(), SpillSize: 64 << 20, Timeout: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	f.run, f.tables["orders"].requests = run, nil
	for name, sql := range hostile {
		if only := os.Getenv("SKUA_HOSTILE"); only == "" && long[name] || only != "" && only != "all" && only != name {
			continue
		}
		started := time.Now()
		_, err := f.rows(t.Context(), sql)
		var syntaxError *syntax.Error
		if err != nil && fault.KindOf(err) == fault.Internal && !errors.As(err, &syntaxError) {
			t.Errorf("%s: %.300s", name, err.Error())
		}
		text := "rows"
		if err != nil {
			text = err.Error()
		}
		peak := peakMemory()
		t.Logf("%-16s %8s %5d MB %.150s", name, time.Since(started).Round(time.Millisecond), peak>>20, text)
		if peak > allowed {
			t.Fatalf("%s: the process has taken %d MB", name, peak>>20)
		}
	}
	for try := 0; ; try++ {
		got, err := f.rows(context.Background(), "SELECT count(*) AS n FROM orders WHERE upper(status) = 'OPEN'")
		if strings.Contains(got, "1667") {
			break
		}
		if try == 50 { // of half a second each, on a machine that may be busy
			t.Fatalf("afterwards: %s, %v", got, err)
		}
	}
}

// peakMemory is the most memory that the process had, where the system tells.
func peakMemory() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(fields[0], 10, 64)
	return n << 10
}
