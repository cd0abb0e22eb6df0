//go:build cgo

package duckdb

import (
	"strings"
	"testing"
	"time"
)

// TestMadeTimesStayInRange: what 64 bits of microseconds do not hold is an error, and never another moment.
func TestMadeTimesStayInRange(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct{ sql, want string }{
		{"SELECT make_timestamp(2147483647, 1, 1, 1, 1, 1)", "Invalid value for Year"},
		{"SELECT make_timestamp(-2147483648, 13, 1, 1, 1, 1.5)", "Invalid value for Year"},
		{"SELECT make_timestamp(300000, 1, 1, 1, 1, 1.5)", "long overflow"},
		{"SELECT make_timestamp_ntz(-300000, 1, 1, 1, 1, 1.5)", "long overflow"},
		{"SELECT try_make_timestamp(300000, 1, 1, 1, 1, 1.5)", "long overflow"},
		{"SELECT try_make_timestamp(2147483647, 1, 1, 1, 1, 1.5) IS NULL", "true"},
		{"SELECT year(make_timestamp(290000, 1, 1, 1, 1, 1.5))", "290000"},
	} {
		q := f.query(c.sql, nil)
		q.Dialect, q.Zone = "spark", time.UTC
		p, err := f.run.Compile(t.Context(), q)
		got := ""
		if err == nil {
			got, err = rowsOf(t, p.(*program))
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.sql, got, c.want)
		}
	}
}
