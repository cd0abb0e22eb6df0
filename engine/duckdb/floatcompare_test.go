//go:build cgo

package duckdb

import (
	"testing"
	"time"

	"github.com/skua-data/skua/session"
)

// TestFloatsAndExactNumbersAreComparedAlike with rows and without: under ansi as floats, in Spark's dialect as doubles.
func TestFloatsAndExactNumbersAreComparedAlike(t *testing.T) {
	executor, err := New(Config{Threads: 1, Memory: 256 << 20, Folder: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = executor.Close() })
	e := emptyEngine(t, executor)
	for dialect, equal := range map[string]bool{"ansi": true, "spark": false} {
		in := session.New(dialect, "somebody", session.State{Startup: session.NewConf(map[string]string{"skua.sql.dialect": dialect})}, time.Now())
		for _, c := range []struct{ alone, over string }{
			{"CAST(0.1 AS FLOAT) = 0.1", "CAST(k AS FLOAT) = 0.1"},
			{"NOT CAST(0.1 AS FLOAT) <> 0.1", "NOT CAST(k AS FLOAT) <> 0.1"}, {"CAST(16777216 AS FLOAT) = 16777217", "CAST(k * 167772160 AS FLOAT) = 16777217"},
		} {
			for _, sql := range []string{"SELECT 'equal' AS x WHERE " + c.alone, "SELECT 'equal' AS x FROM (VALUES (0.1)) t(k) WHERE " + c.over} {
				if got, err := firstValue(t.Context(), e, in, sql); err != nil || (got == "utf8 equal") != equal {
					t.Errorf("%s: %s gives %q, %v", dialect, sql, got, err)
				}
			}
		}
	}
}
