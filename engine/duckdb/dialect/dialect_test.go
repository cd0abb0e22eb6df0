package dialect

import (
	"strings"
	"testing"

	"github.com/skua-data/skua/engine/syntax"
)

func TestTranslate(t *testing.T) {
	for _, c := range []struct{ in, out string }{
		{"SELECT `a b`, \"c\" FROM cat.ns.t", `SELECT "a b" , "c" FROM <cat.ns.t>`},
		{"SELECT a FROM t VERSION AS OF 5 x JOIN u ON t.a <=> u.a", "SELECT a FROM <t> x JOIN <u> ON t.a IS NOT DISTINCT FROM u.a"},
		{"SELECT extract(year FROM d), trim(both from s) FROM a, b WHERE a.x IS DISTINCT FROM b.x", "SELECT extract ( year FROM d ) , trim ( both from s ) FROM <a> , <b> WHERE a.x IS DISTINCT FROM b.x"},
		{"WITH c AS (SELECT * FROM t) SELECT * FROM c LEFT SEMI JOIN u USING (a)", "WITH c AS ( SELECT * FROM <t> ) SELECT * FROM <c> SEMI JOIN <u> USING ( a )"},
		{"SELECT * EXCEPT (a) FROM t MINUS SELECT 1", "SELECT * EXCLUDE ( a ) FROM <t> EXCEPT SELECT 1"},
		{"SELECT TOP 5 a FROM t", "SELECT a FROM <t> LIMIT 5"},
		{"SELECT a FROM t WHERE s RLIKE 'x.*' AND NOT s NOT RLIKE b", `SELECT a FROM <t> WHERE s ~ '(?s:.*)(?:x.*)(?s:.*)' AND NOT s !~ ('(?s:.*)(?:' || ( b ) || ')(?s:.*)')`},
		{"SELECT id, e.x FROM n LATERAL VIEW explode(ls) z AS e", "SELECT id , e.x FROM <n> CROSS JOIN LATERAL (SELECT unnest(( ls )) AS e ) AS z"},
		{"SELECT a, sum(b) FROM t GROUP BY a WITH ROLLUP ORDER BY 1", "SELECT a , sum ( b ) FROM <t> GROUP BY ROLLUP( a ) ORDER BY 1"},
		{"SELECT {fn ucase(s)}, {d '2020-01-01'}, {fn timestampadd(SQL_TSI_DAY, 1, ts)} FROM {oj a LEFT OUTER JOIN b ON a.x = b.x}", "SELECT upper ( s ) , DATE '2020-01-01' , (( ts ) + to_days(CAST( 1 AS INTEGER))) FROM <a> LEFT OUTER JOIN <b> ON a.x = b.x"},
		{"SELECT CAST(a AS STRING), CAST(b AS array<int>), 1L, x::binary FROM t", "SELECT CAST( a AS VARCHAR ) , CAST( b AS INT[] ) , CAST(1 AS BIGINT) , x :: BLOB FROM <t>"},
		{"SELECT decode(a, 1, 'x', 'y'), nvl(a, 2) FROM t", "SELECT CASE WHEN ( a ) IS NOT DISTINCT FROM ( 1 ) THEN 'x' ELSE 'y' END , coalesce ( a , 2 ) FROM <t>"},
		{"SELECT a FROM (SELECT * FROM t) q, (b JOIN c ON b.x = c.x)", "SELECT a FROM ( SELECT * FROM <t> ) q , ( <b> JOIN <c> ON b.x = c.x )"},
		{"SELECT date_format(d, 'yyyy-MM') FROM t", "SELECT strftime(CAST( d AS TIMESTAMP), '%Y-%m') FROM <t>"},
		{"SELECT 'a\\'b' LIKE 'x\\_y'", `SELECT 'a''b' LIKE 'x\_y' ESCAPE '\'`},
		{"SELECT TIMESTAMPTZ '2024-01-01 00:00:00+02'", "SELECT TIMESTAMPTZ '2024-01-01 00:00:00+02'"},
		{"SELECT ns.t.a, t.* FROM ns.t", "SELECT t.a , t.* FROM <ns.t>"},
	} {
		s, err := Translate(c.in, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		out := s.Render(Spelling{Table: named(s)}).Text
		if out != c.out {
			t.Errorf("%s\n got %s\nwant %s", c.in, out, c.out)
		}
	}
}

// named spells the tables of a statement by their names.
func named(s *Statement) func(i int) string {
	return func(i int) string {
		var parts []string
		for _, p := range s.Tables[i].Name {
			parts = append(parts, p.Text)
		}
		return "<" + strings.Join(parts, ".") + ">"
	}
}

// TestTypesDecideSpellings writes averages of decimals and keys that are floats, plain, probed and in their final form.
func TestTypesDecideSpellings(t *testing.T) {
	decimal, keys := decimalType(10, 3), []string{"DOUBLE", "INTEGER"}
	for _, c := range []struct {
		in    string
		stage Stage
		types []Type
		out   string
	}{
		{"SELECT avg(a) FROM t", Plain, nil, "SELECT avg( a ) FROM <t>"},
		{"SELECT avg(a) OVER (PARTITION BY c) FROM t", AskTypes, nil,
			"SELECT json_transform('1', skua_find(7, 0, concat_ws(chr(30), '' , typeof([ max( a ) OVER ( PARTITION BY c ) ]) ))) FROM <t>"},
		{"SELECT explode(a) FROM t", AskTypes, nil,
			"SELECT json_transform('1', skua_find(7, 0, concat_ws(chr(30), '' , typeof([ a ]) ))) AS col, NULL AS pos, NULL AS key, NULL AS value FROM <t>"},
		{"SELECT avg(a) OVER w FROM t WINDOW w AS (PARTITION BY c)", FinalTypes, []Type{decimal}, "SELECT CAST(skua_average( CAST( sum( a ) OVER ( PARTITION BY c ) AS DECIMAL(20,3)) , count( a ) OVER ( PARTITION BY c ) , 7) AS DECIMAL(14, 7)) FROM <t>"},
		{"SELECT avg(a) FROM t", FinalTypes, []Type{decimalType(38, 37)}, "SELECT CAST(skua_average( ( sum( a ) + CAST(0 AS DECIMAL(38, 37))) , count( a ) , 38) AS DECIMAL(38, 38)) FROM <t>"},
		{"SELECT a, b AS x FROM t ORDER BY x DESC, 1, c", Plain, nil, "SELECT a , b AS x FROM <t> ORDER BY x DESC , 1 , c"},
		{"SELECT a, b AS x FROM t ORDER BY x DESC, 1, c", ProbeKeys, nil,
			"SELECT a , b AS x FROM <t> ORDER BY skua_type_of( b , 0) DESC , skua_type_of( a , 1) , skua_type_of( c , 2)"},
		{"SELECT a, b AS x FROM t ORDER BY x DESC, 1", Final, nil, "SELECT a , b AS x FROM <t> ORDER BY ( b ) + CAST(0 AS DOUBLE) DESC , 1"},
		{"SELECT a FROM t UNION ALL SELECT b FROM u ORDER BY 1", Plain, nil, "SELECT a FROM <t> UNION ALL SELECT b FROM <u> ORDER BY 1"},
		{"SELECT a FROM t UNION ALL SELECT b FROM u ORDER BY 1 LIMIT 2", Final, nil,
			"SELECT * FROM ( SELECT a FROM <t> UNION ALL SELECT b FROM <u> ) AS skua_ordered ORDER BY ( #1 ) + CAST(0 AS DOUBLE) LIMIT 2"},
		{"SELECT DISTINCT a FROM t ORDER BY a", ProbeKeys, nil, "SELECT DISTINCT a FROM <t> ORDER BY a"},
		{"SELECT random() AS a FROM t ORDER BY a", ProbeKeys, nil, "SELECT random() AS a FROM <t> ORDER BY a"},
		{"SELECT rank() OVER w FROM t WINDOW w AS (ORDER BY d)", Final, nil, "SELECT CAST(rank( ) OVER ( ORDER BY ( d ) + CAST(0 AS DOUBLE) ) AS INTEGER) FROM <t>"},
	} {
		s, err := Translate(c.in, Options{Spark: true})
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if out := s.Render(Spelling{Table: named(s), Stage: c.stage, Types: [][]Type{c.types}, Finder: 7, KeyTypes: keys}).Text; out != c.out {
			t.Errorf("%s\n got %s\nwant %s", c.in, out, c.out)
		}
	}
}

// TestWrittenOutStatementsAreBounded nests functions that name their arguments more than once.
func TestWrittenOutStatementsAreBounded(t *testing.T) {
	for _, f := range []string{"pmod(1, ", "avg(1 + "} {
		s, err := Translate("SELECT "+strings.Repeat(f, 100)+"1"+strings.Repeat(")", 100), Options{Spark: f[0] == 'a'})
		if err == nil && len(s.Render(Spelling{Stage: FinalTypes, Types: make([][]Type, s.Asked())}).Text) > 1<<20 {
			t.Errorf("%s: the statement grew", f)
		}
		if f[0] == 'p' && (err == nil || !strings.Contains(err.Error(), "too complex")) {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// TestLiteralsOfListsAndStructsNameTheirColumns as the statement spells them: the engine's own names are those of its functions.
func TestLiteralsOfListsAndStructsNameTheirColumns(t *testing.T) {
	s, err := Translate("SELECT [1, a], {'x': 1}, [1][1], [2] AS b FROM t", Options{Name: func(syntax.Expr) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	want := `SELECT [ 1 , a ] AS "[1, a]" , { 'x' : 1 } AS "{'x': 1}" , [ 1 ] [ 1 ] , [ 2 ] AS b FROM <t>`
	if got := s.Render(Spelling{Table: named(s)}).Text; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
