//go:build cgo

package duckdb

import "testing"

// TestGrowthOfMacros counts what macros make of their arguments.
func TestGrowthOfMacros(t *testing.T) {
	got := growthOf([]string{"CREATE MACRO outer(a, b) AS inner(a) + inner(b) * [b][1], (a) AS a", "CREATE MACRO inner(x) AS CASE WHEN x > 0 THEN x ELSE f('x') END", "CREATE MACRO typed(a INTEGER) AS a + a, (a VARCHAR) AS a",
		"CREATE MACRO none() AS 1"})
	for name, want := range map[string]int{"outer": 3, "inner": 2, "typed": 3, "none": 0} {
		if got[name] != want {
			t.Errorf("%s: %d, not %d", name, got[name], want)
		}
	}
	if n := macroGrowth["skua_substring"]; n < 5 || n > 12 {
		t.Errorf("skua_substring: %d", n)
	}
	for name, n := range macroGrowth {
		if n > 64 {
			t.Errorf("%s names an argument %d times", name, n)
		}
	}
}
