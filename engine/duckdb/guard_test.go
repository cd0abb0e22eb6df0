//go:build cgo

package duckdb

import (
	"context"
	"fmt"
	"runtime/cgo"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// chained names each element of a select list twice in the next one.
func chained(operator string) string {
	list := []string{"name AS a0"}
	for i := range 40 {
		list = append(list, fmt.Sprintf("a%d %s a%d AS a%d", i, operator, i, i+1))
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM customers"
}

// TestMuchOutOfLittleIsRefused runs statements whose result, or whose own size, would be beyond any memory.
func TestMuchOutOfLittleIsRefused(t *testing.T) {
	f := newFixture(t)
	nested := func(call, last string, times int) string {
		return "SELECT " + strings.Repeat(call+"(", times) + "name" + strings.Repeat(last+")", times) + " FROM customers"
	}
	for _, c := range []struct {
		sql, want string
		spark     bool
	}{
		{sql: nested("repeat", ", 1", 30), want: "too complex"},
		{sql: nested("substring", ", 1, 2", 30), want: "too complex", spark: true},
		{sql: nested("substring_index", ", 'b', 1", 30), want: "too complex"},
		{sql: nested("hex", "", 40), want: "too complex"},
		{sql: chained("||"), want: "too complex"},
		{sql: "SELECT repeat('ab', 10000000)", want: "text of more than 16777216 characters"},
		{sql: "SELECT repeat('ab', CAST(id AS INT) + 1000000) FROM orders", want: "ows side by side"},
		{sql: "SELECT lpad('ab', 20000000)", want: "text of more than 16777216 characters"},
		{sql: "SELECT range(id, id + 1000000) FROM orders", want: "ows side by side"},
		{sql: "SELECT sequence(0, 100000000)", want: "list of more than 10000000 elements"},
		{sql: "SELECT replace(repeat('a', 1000000), 'a', repeat('b', 1000000))", want: "by replacing"},
		{sql: "SELECT regexp_replace(repeat('a', 1000000), 'a', repeat('b', 1000000))", want: "by replacing", spark: true},
		{sql: "SELECT regexp_replace(repeat('a', 1000000), 'a', repeat('b', 1000000), 'g')", want: "by replacing"},
		{sql: "SELECT x" + strings.Repeat(" || x", 40) + " FROM (SELECT repeat('a', 1000000) AS x)", want: "text of more than 167772 characters"},
		{sql: "SELECT levenshtein(repeat('a', 20000), repeat('b', 20000))", want: "are not compared"},
		{sql: "SELECT jaro_similarity(repeat('a', 20000), name || repeat('b', 20000)) FROM customers", want: "are not compared"},
		{sql: "SELECT count(*) FROM orders WHERE status LIKE upper(status) ESCAPE '!'", want: "takes a literal as its pattern"},
		{sql: "SELECT like_escape('a', 'b', 'c')", want: "not called by its name"},
		{sql: "SELECT list_reduce(['a'], (x, y) -> x || x)", want: "Cannot resolve routine"},
		{sql: "SELECT getvariable('skua_statement')", want: "there is no such function"},
		{sql: "SELECT skua_made(0, 1, 2)", want: "there is no such function"},
	} {
		f.spark = c.spark
		if _, err := f.rows(t.Context(), c.sql); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80s: %v", c.sql, err)
		}
	}
	f.spark = false
	for _, c := range []struct{ sql, want string }{
		{"SELECT repeat(repeat('ab', 2), 2) AS r", `[{"r":"abababab"}]`},
		{"SELECT replace(name, 'n', repeat('x', 20)) AS r FROM customers WHERE id = 2", `[{"r":"Bob"}]`},
		{"SELECT regexp_replace('aaa', 'a', repeat('b', 2)) AS r", `[{"r":"bbaa"}]`},
		{"SELECT repeat(name, 2) AS r, count(*) AS n FROM customers GROUP BY repeat(name, 2) ORDER BY 1 LIMIT 1", `[{"n":1,"r":"AnnAnn"}]`},
		{"SELECT sum(x) AS s FROM (SELECT id FROM customers WHERE id = 2) c, LATERAL (SELECT unnest(sequence(1, c.id)) AS x)", `[{"s":3}]`},
		{"SELECT a, a || 'x' AS b, b || 'y' AS c FROM (SELECT 'q' AS a)", `[{"a":"q","b":"qx","c":"qxy"}]`},
	} {
		if got, err := f.rows(t.Context(), c.sql); err != nil || strings.Join(strings.Fields(got), "") != c.want {
			t.Errorf("%s: %s %v", c.sql, got, err)
		}
	}
}

// TestGuardsKnowThatAStatementEnded calls one for a statement whose context is over.
func TestGuardsKnowThatAStatementEnded(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	h := cgo.NewHandle(ctx)
	defer h.Delete()
	one := func(b array.Builder, text string) arrow.Array {
		if err := b.AppendValueFromString(text); err != nil {
			t.Fatal(err)
		}
		return b.NewArray()
	}
	mem := memory.DefaultAllocator
	call := func() error {
		_, err := guardCall([]arrow.Array{one(array.NewInt32Builder(mem), "0"), one(array.NewInt64Builder(mem), "1"), one(array.NewUint64Builder(mem), fmt.Sprint(uint64(h))),
			one(array.NewInt64Builder(mem), "0")}, 1)
		return err
	}
	if err := call(); err != nil {
		t.Fatal(err)
	}
	cancel(fmt.Errorf("too long"))
	if err := call(); err == nil || err.Error() != "too long" {
		t.Errorf("%v", err)
	}
}

// TestPatternsOfRows: LIKE with a pattern that is no literal says what LIKE says.
func TestPatternsOfRows(t *testing.T) {
	f := newFixture(t)
	for condition, want := range map[string]bool{
		"'axb' LIKE lower('A%')": true, "'a.b' LIKE lower('A.b')": true, "'axb' LIKE lower('a.b')": false, "'aXb' ILIKE lower('A_B')": true, "'a\nb' LIKE lower('a%b')": true,
		"'axb' NOT LIKE lower('a%')": false, "'axb' NOT ILIKE lower('B%')": true, "'(a' LIKE '(' || '_'": true, "'axb' LIKE lower('x')": false, "'é' LIKE lower('_')": true,
		"'a%b' LIKE 'a!%b' ESCAPE '!'": true, "'a%b%c%d%e' LIKE 'a!%%!%%!%%!%%' ESCAPE '!'": true, "'axbxcxdxe' LIKE 'a!%%!%%!%%!%%' ESCAPE '!'": false,
		"'a%bcde' LIKE 'a\\%%c%d%e%'": true, "'axbcde' LIKE 'a\\%%c%d%e%'": false,
	} {
		got, err := f.rows(t.Context(), "SELECT CASE WHEN "+condition+" AND id = 1 THEN 'yes' ELSE 'no' END AS x FROM customers WHERE id = 1 GROUP BY 1")
		if err != nil || strings.Contains(got, "yes") != want {
			t.Errorf("%s: %s, %v", condition, got, err)
		}
	}
}
