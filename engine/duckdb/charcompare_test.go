//go:build cgo

package duckdb

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/scan"
)

// charTable is a table whose column c is a char of a length, with the value ab padded to it.
func charTable(t *testing.T, length string, padded string) *memoryTable {
	m := newTable(t, `[{"k":1,"c":"`+padded+`"}]`, 1, arrow.Field{Name: "k", Type: arrow.PrimitiveTypes.Int64}, arrow.Field{Name: "c", Type: arrow.BinaryTypes.String})
	fields := m.schema.Fields()
	id, _ := fields[1].Metadata.GetValue(scan.FieldIDKey)
	fields[1].Metadata = arrow.NewMetadata([]string{scan.FieldIDKey, scan.LengthKey}, []string{id, "char(" + length + ")"})
	m.schema = arrow.NewSchema(fields, nil)
	return m
}

// TestCharsAreFollowed: wherever a char(n) comes from, it is not compared with what Spark would pad.
func TestCharsAreFollowed(t *testing.T) {
	f := newFixture(t)
	f.tables["four"], f.tables["also"], f.tables["six"] = charTable(t, "4", "ab  "), charTable(t, "4", "ab  "), charTable(t, "6", "ab    ")
	f.tables["plain"] = newTable(t, `[{"c":"ab"}]`, 1, arrow.Field{Name: "c", Type: arrow.BinaryTypes.String})
	for _, c := range []struct{ from, is string }{
		{"four", "refused"},
		{"(SELECT c FROM four UNION ALL SELECT c FROM also) WHERE c = 'ab'", "refused"},
		{"(SELECT c FROM four UNION SELECT c FROM also) WHERE c = 'ab'", "refused"},
		{"(SELECT c FROM four UNION ALL SELECT c FROM plain) WHERE c = 'ab  '", "ab  "},
		{"(SELECT c FROM four UNION ALL SELECT c FROM six) WHERE c IN ('ab', 'cd')", "refused"},
		{"(SELECT c FROM four EXCEPT SELECT c FROM six) WHERE c > 'ab'", "refused"},
		{"(SELECT c FROM four UNION ALL SELECT c FROM also) u JOIN six ON u.c = six.c", "refused"},
		{"(SELECT c, row_number() OVER (ORDER BY k) AS r FROM four) WHERE c = 'ab'", "refused"},
		{"(SELECT c, unnest([1, 2]) AS u FROM four) WHERE c = 'ab' AND u > 1", "refused"},
		{"(SELECT a.c AS c, b.c AS d FROM four a LEFT JOIN (SELECT c, k FROM six UNION ALL SELECT c, k FROM six) b ON a.k = b.k) WHERE d = 'ab'", "refused"},
		{"(WITH q AS MATERIALIZED (SELECT c, count(*) AS n FROM four GROUP BY c) SELECT a.c FROM q a, q b WHERE a.c = 'ab' AND b.n = 1)", "refused"},
		{"(SELECT c FROM four UNION ALL SELECT c FROM also) WHERE c = 'ab  '", "ab  |ab  "},
		{"(SELECT c FROM four UNION ALL SELECT c FROM plain) WHERE rtrim(c) = 'ab'", "ab  |ab"},
		{"(SELECT c FROM four UNION ALL SELECT c FROM plain)", "ab  |ab"},
		{"(SELECT c, row_number() OVER (ORDER BY k) AS r FROM four) WHERE r = 1", "ab  "},
		{"(SELECT four.c FROM four JOIN (SELECT c FROM also UNION ALL SELECT c FROM also WHERE k > 1) u ON four.c = u.c)", "ab  "},
	} {
		sql := "SELECT c FROM " + c.from
		if c.from == "four" {
			sql = "SELECT max(c) AS c FROM four WHERE c = 'ab'"
		} else if strings.Contains(c.from, "JOIN six") {
			sql = "SELECT u.c FROM " + c.from
		}
		rows, err := f.column(t, f.query(sql, nil))
		got := strings.Join(rows, "|")
		if err != nil {
			if got = err.Error(); strings.HasPrefix(got, "comparing c, a char(") {
				got = "refused"
			}
		}
		if got != c.is {
			t.Errorf("%s: %q, want %q", sql, got, c.is)
		}
	}
}
