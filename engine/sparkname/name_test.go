package sparkname

import (
	"runtime"
	"strings"
	"testing"

	"github.com/skua-data/skua/engine/syntax"
)

func TestNames(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"1", "1"}, {"1L", "1"}, {"1e3", "1000.0"}, {"-1", "-1"}, {"'x'", "x"}, {"NULL", "NULL"}, {"TRUE", "true"}, {"count(*)", "count(1)"},
		{"COUNT(v)", "count(v)"}, {"count(DISTINCT d)", "count(DISTINCT d)"}, {"1+1", "(1 + 1)"}, {"CAST('1' AS integer)", "CAST(1 AS INT)"},
		{"double('1.5')", "1.5"}, {"DATE'2024-1-2'", "DATE '2024-01-02'"}, {"X'ff'", "X'FF'"}, {"a <> 1", "(NOT (a = 1))"},
		{"a IS NOT NULL", "(a IS NOT NULL)"}, {"a NOT IN (1,2)", "(NOT (a IN (1, 2)))"}, {"'a' || 'b'", "concat(a, b)"}, {"a.b", "a.b"}, {"7 div 2", "(7 div 2)"},
		{"NOT true", "(NOT true)"}, {"a LIKE 'x%'", "a LIKE x%"}, {"1 = 1 AND b", "((1 = 1) AND b)"},
		{"a LIKE 'x/%' ESCAPE '/'", "a LIKE x/% ESCAPE '/'"}, {"a NOT RLIKE 'x'", "(NOT RLIKE(a, x))"}, {"a ILIKE 'x'", "ilike(a, x)"}, {"a IS NOT TRUE", "(NOT (a <=> true))"},
		{"CASE WHEN a=1 THEN 'x' ELSE b END", "CASE WHEN (a = 1) THEN x ELSE b END"}, {"case a when 1 then 2 when 3 then 4 end + 1", "(CASE WHEN (a = 1) THEN 2 WHEN (a = 3) THEN 4 END + 1)"},
		{"a[0].b", "a[0].b"}, {"map('k', 1)['k']", "map(k, 1)[k]"}, {"f(a)[1].c[b+1]::int", "CAST(f(a)[1].c[(b + 1)] AS INT)"},
		{"transform(a, x -> x.b + 1)", "transform(a, lambdafunction((namedlambdavariable().b + 1), namedlambdavariable()))"},
		{"reduce(a, 0, (acc, x) -> acc + x + y)", "reduce(a, 0, lambdafunction(((namedlambdavariable() + namedlambdavariable()) + y), namedlambdavariable(), namedlambdavariable()), lambdafunction(namedlambdavariable(), namedlambdavariable()))"},
		{"extract(year FROM d)", "extract(year FROM d)"}, {"trim(both 'x' from a)", "TRIM(BOTH x FROM a)"}, {"trim(LEADING FROM a)", "ltrim(a)"}, {"interval 1 year -2 months", "INTERVAL '0-10' YEAR TO MONTH"}, {"interval -'5 1:02:03.5' day to second", "INTERVAL '-5 01:02:03.5' DAY TO SECOND"},
		{"a - interval '36' hours", "a - INTERVAL '36' HOUR"}, {"current_date + interval 2 weeks", "date_add(current_date(), extractansiintervaldays(INTERVAL '14' DAY))"},
		{"a like any (b, 'x')", "(a LIKE b OR a LIKE x)"}, {"a not ilike all ('x')", "notlikeall(lower(a))"}, {"true is not unknown", "(true IS NOT UNKNOWN)"}, {"a is unknown", "(a IS NULL)"}, {"trim('x' FROM a)", "TRIM(BOTH x FROM a)"},
		{"substring(a FROM 2 FOR 3)", "substring(a, 2, 3)"}, {"(SELECT 1) + 1", "(scalarsubquery() + 1)"}, {"EXISTS (SELECT 1)", "exists()"}, {"mode(a, true)", "mode() WITHIN GROUP (ORDER BY a DESC)"}, {"mode(a, false)", "mode(a)"}, {"a IN (SELECT 1)", "(a IN (listquery()))"},
		{"count(*) FILTER (WHERE a > 1)", "count(1) FILTER (WHERE (a > 1))"}, {"sum(a) OVER ()", "sum(a) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"},
		{"sum(a) OVER (PARTITION BY b, c ORDER BY d DESC, e)", "sum(a) OVER (PARTITION BY b, c ORDER BY d DESC NULLS LAST, e ASC NULLS FIRST RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"},
		{"rank() OVER (ORDER BY a)", "RANK() OVER (ORDER BY a ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"},
		{"lag(a) OVER (ORDER BY b)", "lag(a, 1, NULL) OVER (ORDER BY b ASC NULLS FIRST ROWS BETWEEN -1 FOLLOWING AND -1 FOLLOWING)"},
		{"avg(a) OVER (ORDER BY b ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)", "avg(a) OVER (ORDER BY b ASC NULLS FIRST ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)"},
	} {
		tree, err := syntax.NewParser("SELECT " + c.sql).Select()
		if err != nil {
			t.Fatal(err)
		}
		if got := Of(tree.Items[0].Expr); got != c.want {
			t.Errorf("%s: %s, want %s", c.sql, got, c.want)
		}
	}
}

// TestNamesTakeTheTimeOfTheirLength: the name of a long chain is written once, not once for each of its operators.
func TestNamesTakeTheTimeOfTheirLength(t *testing.T) {
	allocated := func(n int) uint64 {
		e, err := syntax.NewParser(strings.Repeat("a + ", n) + "a").Expression()
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Of(e)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if one, ten := allocated(1000), allocated(10_000); ten > 40*one {
		t.Errorf("%v bytes for a chain of 1000, %v for one of 10,000", one, ten)
	}
}
