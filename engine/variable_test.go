package engine

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/fault"
)

// TestSetVariableBindsParameters: SET VAR has the parameters that its text has, and its effect once for each set of them.
func TestSetVariableBindsParameters(t *testing.T) {
	w, e := newWorld(t)
	s := w.session(t, e, "s")
	for _, sql := range []string{"DECLARE a INT DEFAULT 1", "DECLARE b STRING DEFAULT '?'"} {
		ask(t, e, s, sql)
	}
	one := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	two := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int64}, {Name: "y", Type: arrow.BinaryTypes.String}}, nil)
	for _, c := range []struct {
		sql    string
		marks  int
		args   *arrow.Schema // nil: nothing is bound
		rows   string
		failed fault.Kind
		want   string // of SELECT a, b
	}{
		{"SET VAR a = ?", 1, one, `[{"x": 7}]`, 0, "7 | ?"},
		{"SET VAR a = ? + a", 1, one, `[{"x": 1}, {"x": 2}]`, 0, "10 | ?"},
		{"SET VAR b = ?, a = ?", 2, nil, "", fault.Invalid, "10 | ?"},
		{"SET VAR a = ?, b = ?", 2, two, `[{"x": 3, "y": "it's ?"}]`, 0, "3 | it's ?"},
		{"SET VAR a = ?", 1, two, `[{"x": 4, "y": "n"}]`, fault.Invalid, "3 | it's ?"},
		{"SET VAR a = ?", 1, one, `[]`, fault.Invalid, "3 | it's ?"},
		{"SET VAR a = ?", 1, one, `[{"x": null}]`, 0, "NULL | it's ?"},
		{"SET VAR a = 5, b = '?'", 0, one, `[{"x": 7}]`, fault.Invalid, "NULL | it's ?"},
		{"SET VAR a = DEFAULT, b = DEFAULT", 0, nil, "", 0, "1 | ?"},
	} {
		p := prepare(t, e, s, c.sql)
		if n := p.Parameters().NumFields(); n != c.marks {
			t.Errorf("%s: %d parameters, want %d", c.sql, n, c.marks)
		}
		var args arrow.RecordBatch
		if c.args != nil {
			args = batch(t, c.args, c.rows)
		}
		r, err := p.Run(t.Context(), args)
		if err == nil {
			r.Close()
		}
		if (err != nil) != (c.failed != 0) || err != nil && !fault.Is(err, c.failed) {
			t.Errorf("%s with %s: %v", c.sql, c.rows, err)
		}
		got := run(t, prepare(t, e, s, "SELECT a, b"), nil)
		text := tableText(t, got)
		got.Close()
		if _, rows, _ := strings.Cut(text, "\n"); rows != c.want+"\n" {
			t.Errorf("%s with %s: the variables are %s, want %s", c.sql, c.rows, rows, c.want)
		}
	}
}

// TestTableTermsAreSelects: TABLE t is SELECT * FROM t where an operand of a query begins, and nothing else is touched.
func TestTableTermsAreSelects(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"TABLE t", "SELECT * FROM t"},
		{"table `a b`.c LIMIT 1", "SELECT * FROM `a b`.c LIMIT 1"},
		{"(TABLE t) UNION ALL TABLE u", "(SELECT * FROM t) UNION ALL SELECT * FROM u"},
		{"WITH q AS (TABLE t) SELECT * FROM q WHERE x IN (TABLE u)", "WITH q AS (SELECT * FROM t) SELECT * FROM q WHERE x IN (SELECT * FROM u)"},
		{"SELECT f(TABLE t), `TABLE` x, 'TABLE y', a TABLE z FROM t", "SELECT f(TABLE t), `TABLE` x, 'TABLE y', a TABLE z FROM t"},
		{"SELECT 1", "SELECT 1"},
		{"TABLE", "TABLE"},
		{"TABLE 'unfinished", "TABLE 'unfinished"},
	} {
		if got := tableTerms(c.text); got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}
