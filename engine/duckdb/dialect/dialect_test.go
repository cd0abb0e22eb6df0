package dialect

import (
	"strings"
	"testing"
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
		{"SELECT id, e.x FROM n LATERAL VIEW explode(ls) z AS e", "SELECT id , e.x FROM <n> CROSS JOIN LATERAL (SELECT unnest( ( ls ) ) AS e) AS z"},
		{"SELECT a, sum(b) FROM t GROUP BY a WITH ROLLUP ORDER BY 1", "SELECT a , sum ( b ) FROM <t> GROUP BY ROLLUP( a ) ORDER BY 1"},
		{"SELECT {fn ucase(s)}, {d '2020-01-01'}, {fn timestampadd(SQL_TSI_DAY, 1, ts)} FROM {oj a LEFT OUTER JOIN b ON a.x = b.x}", "SELECT upper ( s ) , DATE '2020-01-01' , (( ts ) + to_days(CAST( 1 AS INTEGER))) FROM <a> LEFT OUTER JOIN <b> ON a.x = b.x"},
		{"SELECT CAST(a AS STRING), CAST(b AS array<int>), 1L, x::binary FROM t", "SELECT CAST( a AS VARCHAR ) , CAST( b AS INT[] ) , CAST(1 AS BIGINT) , x :: BLOB FROM <t>"},
		{"SELECT decode(a, 1, 'x', 'y'), nvl(a, 2) FROM t", "SELECT CASE WHEN ( a ) IS NOT DISTINCT FROM ( 1 ) THEN 'x' ELSE 'y' END , coalesce ( a , 2 ) FROM <t>"},
		{"SELECT a FROM (SELECT * FROM t) q, (b JOIN c ON b.x = c.x)", "SELECT a FROM ( SELECT * FROM <t> ) q , ( <b> JOIN <c> ON b.x = c.x )"},
		{"SELECT date_format(d, 'yyyy-MM') FROM t", "SELECT strftime(CAST( d AS TIMESTAMP), '%Y-%m') FROM <t>"},
		{"SELECT 'a\\'b' LIKE 'x\\_y'", `SELECT 'a''b' LIKE 'x\_y' ESCAPE '\'`},
		{"SELECT ns.t.a, t.* FROM ns.t", "SELECT t.a , t.* FROM <ns.t>"},
	} {
		s, err := Translate(c.in, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		out := s.Render(func(i int) string {
			var parts []string
			for _, p := range s.Tables[i].Name {
				parts = append(parts, p.Text)
			}
			return "<" + strings.Join(parts, ".") + ">"
		}, nil, nil).Text
		if out != c.out {
			t.Errorf("%s\n got %s\nwant %s", c.in, out, c.out)
		}
	}
}
