//go:build cgo

package duckdb

import "testing"

// TestExactArithmeticAtItsEnds has Spark's values where numbers have all digits that there are, and where none are left.
func TestExactArithmeticAtItsEnds(t *testing.T) {
	s := newSparkEngine(t, sparkTable(t))
	for sql, want := range map[string]string{
		"SELECT round(CAST(id AS DECIMAL(38,10)), -38) FROM t WHERE id = 5":                                                                                                   "0",
		"SELECT round(CAST(id AS DECIMAL(38,10)), -100) FROM t WHERE id = 5":                                                                                                  "0",
		"SELECT round(CAST(id AS DECIMAL(38,10)), -2147483640) FROM t WHERE id = 5":                                                                                           "0", // Spark fails, and has no condition for it
		"SELECT round(CAST(id AS DECIMAL(38,10)), -2147483648) FROM t WHERE id = 5":                                                                                           "0",
		"SELECT pmod(CAST('-99999999999999999999999999999999999998' AS DECIMAL(38,0)), CAST('-99999999999999999999999999999999999999' AS DECIMAL(38,0))) FROM t WHERE id = 1": "-99999999999999999999999999999999999998",
		"SELECT pmod(CAST('-90000000000000000000000000000000000000' AS DECIMAL(38,0)), CAST('99000000000000000000000000000000000000' AS DECIMAL(38,0))) FROM t WHERE id = 1":  "9000000000000000000000000000000000000",
	} {
		got, err := s.ask(t.Context(), sql, "")
		if err != nil || len(got.Rows) != 1 || got.Rows[0][0] != want {
			t.Errorf("%s: %v, not %s; %v", sql, got.Rows, want, err)
		}
	}
}
