//go:build cgo

package duckdb

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// outcome is what a statement gives: names and rows, or the condition of its error.
func outcome(t *testing.T, f *fixture, sql string, args arrow.RecordBatch, known map[string]string) string {
	q := f.query(sql, args)
	q.Variable = func(parts []string) (string, bool) {
		if len(parts) == 2 && parts[0] == "session" {
			parts = parts[1:]
		}
		text, ok := known[strings.ToLower(parts[0])]
		return text, ok && len(parts) == 1
	}
	p, err := f.run.Compile(t.Context(), q)
	rows := ""
	if err == nil {
		rows, err = rowsOf(t, p.(*program))
	}
	if err != nil {
		condition, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "["), "]")
		return condition
	}
	return strings.NewReplacer("\n", "", " ", "").Replace(rows)
}

// TestNumbersOfTheEngineCaptureNoName: what the engine calls columns of one name is no name of the statement.
func TestNumbersOfTheEngineCaptureNoName(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct{ sql, want string }{
		{"SELECT a_1 FROM (SELECT 1 AS a, 2 AS a, 3 AS a_1)", `[{"a_1":3}]`},
		{"SELECT a_1 FROM (SELECT 1 a, 2 A, 3 AS a_1)", `[{"a_1":3}]`},
		{"SELECT count(*) AS n FROM (SELECT 1 AS a, 2 AS a, 3 AS a_1) WHERE a_1 = 3", `[{"n":1}]`},
		{"SELECT * FROM (SELECT 1 AS a, 2 AS a, 9 AS a_1 UNION ALL SELECT 1, 3, 1) ORDER BY a_1", `[{"a":3,"a_1":1},{"a":2,"a_1":9}]`},
		{"SELECT 1 AS a, 2 AS a, 9e0 AS a_1 UNION ALL SELECT 1, 3, 1 ORDER BY a_1", `[{"a":3,"a_1":1},{"a":2,"a_1":9}]`},
		{"WITH j AS (SELECT c.id, s.id, s.customer + 40 AS id_1 FROM customers c JOIN orders s ON c.id = s.id) SELECT max(id_1) AS m FROM j", `[{"m":43}]`},
		{"SELECT a_1 FROM (SELECT 1 AS a, 2 AS a)", "UNRESOLVED_COLUMN.WITH_SUGGESTION"},
		{"SELECT v_1 FROM (SELECT 1 AS v, 2 AS v)", `[{"v_1":7}]`},
		{"SELECT a FROM (SELECT 1 a, 2 a)", "AMBIGUOUS_REFERENCE"},
		{"SELECT q.a FROM (SELECT 1 a, 2 a) q", "AMBIGUOUS_REFERENCE"},
		{"SELECT id FROM (SELECT c.id, o.id FROM orders o JOIN customers c ON o.id = c.id)", "AMBIGUOUS_REFERENCE"},
		{"SELECT id FROM (SELECT id, id FROM customers WHERE id = 2)", `[{"id":2}]`},
		{"SELECT * FROM (SELECT id AS k, count(*) AS k FROM customers WHERE id = 2 GROUP BY k)", `[{"k":1}]`},
		{"SELECT id_1 FROM (SELECT * FROM orders o JOIN customers c ON o.id = c.id)", "AMBIGUOUS_REFERENCE"},
		{"SELECT id_1 FROM (SELECT *, 1 AS id FROM customers)", "AMBIGUOUS_REFERENCE"},
		{"SELECT v_1 FROM (SELECT * FROM orders o JOIN customers c ON o.id = c.id) LIMIT 1", `[{"v_1":7}]`},
		{"SELECT id_1 FROM (SELECT * FROM (SELECT id AS id_1 FROM customers WHERE id = 1))", `[{"id_1":1}]`},
		{"SELECT * FROM (SELECT id IS NULL, name IS NULL FROM customers WHERE id = 1)", `[{"(\"name\"ISNULL)":false,"(idISNULL)":false}]`},
		{"SELECT 1 AS `a\x1f1`", "PARSE_SYNTAX_ERROR"},
	} {
		if got := outcome(t, f, c.sql, nil, map[string]string{"v_1": "CAST('7' AS INT)"}); got != c.want && !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %s, want %s", c.sql, got, c.want)
		}
	}
}

// TestVariablesTakeNoColumnsPlace: of a column whose name stands neither in the text nor in a table.
func TestVariablesTakeNoColumnsPlace(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct{ sql, want string }{
		{"SELECT id FROM orders WHERE id < v AND id IN (SELECT col0 FROM (VALUES (1), (2))) AND col0 = 3 ORDER BY id", `[{"id":1},{"id":2}]`},
		{"SELECT id FROM orders WHERE id < col0 AND id IN (SELECT col0 FROM (VALUES (1), (2))) ORDER BY id", `[{"id":1},{"id":2}]`},
		{"SELECT id FROM customers WHERE city = 'x' AND id IN (SELECT id FROM (SELECT id, at.* FROM customers) WHERE city = 'Oslo')", `[{"id":1}]`},
		{"SELECT max(id) AS m FROM orders HAVING max(id) > v", `[{"m":4999}]`},
		{"SELECT max(id) AS m FROM orders HAVING max(id) < v", ""},
		{"SELECT id FROM customers QUALIFY row_number() OVER (ORDER BY id) < v", `[{"id":1},{"id":2}]`},
		{"SELECT max(id) AS m FROM orders HAVING customer > 1", "MISSING_GROUP_BY"},
		{"SELECT max(id) AS m FROM orders HAVING max(id) > customer", "MISSING_GROUP_BY"},
		{"SELECT max(id) AS m FROM orders HAVING max(id) > session.customer", `[{"m":4999}]`},
	} {
		known := map[string]string{"v": "CAST('3' AS INT)", "col0": "CAST('3' AS INT)", "city": "'x'", "customer": "CAST('3' AS INT)"}
		if got := outcome(t, f, c.sql, nil, known); got != c.want {
			t.Errorf("%s: %s, want %s", c.sql, got, c.want)
		}
	}
}

// TestNumbersOfRowsAreWholeAndNotNegative in statements of the engine, as in others.
func TestNumbersOfRowsAreWholeAndNotNegative(t *testing.T) {
	f := newFixture(t)
	bound := func(text string, typ arrow.DataType) arrow.RecordBatch {
		b, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "p", Type: typ, Nullable: true}}, nil), strings.NewReader(`[{"p":`+text+`}]`))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	long, double := arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64
	known := map[string]string{"two": "CAST('2' AS INT)", "below": "CAST('-1' AS INT)", "none": "CAST(NULL AS INT)", "half": "CAST('1.5' AS DECIMAL(2,1))"}
	for _, c := range []struct {
		number string
		args   arrow.RecordBatch
		want   string
	}{
		{"LIMIT 2", nil, "[1 2]"}, {"LIMIT two", nil, "[1 2]"}, {"LIMIT 1 + 1", nil, "[1 2]"}, {"LIMIT ?", bound("2", long), "[1 2]"}, {"LIMIT 1 OFFSET two - 1", nil, "[2]"},
		{"LIMIT 2L", nil, "[1 2]"}, {"OFFSET 3", nil, "[null]"}, {"LIMIT ALL OFFSET 3", nil, "[null]"}, {"LIMIT 0", nil, "[]"},
		{"LIMIT -1", nil, "IS_NEGATIVE"}, {"OFFSET -1", nil, "IS_NEGATIVE"}, {"LIMIT 1 - 2", nil, "IS_NEGATIVE"}, {"LIMIT below", nil, "IS_NEGATIVE"},
		{"LIMIT ?", bound("-1", long), "IS_NEGATIVE"}, {"OFFSET ?", bound("-1", long), "IS_NEGATIVE"}, {"LIMIT NULL", nil, "IS_NULL"}, {"LIMIT none", nil, "IS_NULL"},
		{"OFFSET NULL", nil, "IS_NULL"}, {"LIMIT ?", bound("null", long), "IS_NULL"}, {"LIMIT CAST(NULL AS INT)", nil, "IS_NULL"}, {"LIMIT 1.5", nil, "DATA_TYPE"},
		{"LIMIT '1'", nil, "DATA_TYPE"}, {"LIMIT half", nil, "DATA_TYPE"}, {"LIMIT ?", bound("1.5", double), "DATA_TYPE"},
	} {
		got := outcome(t, f, "SELECT id FROM customers ORDER BY id NULLS LAST "+c.number, c.args, known)
		got = strings.NewReplacer(`{"id":`, "", "}", "", ",", " ").Replace(got)
		if got == "" {
			got = "[]"
		}
		if got = strings.TrimPrefix(got, "INVALID_LIMIT_LIKE_EXPRESSION."); strings.ReplaceAll(got, "][", " ") != c.want {
			t.Errorf("%s: %s, want %s", c.number, got, c.want)
		}
	}
}
