//go:build cgo

package duckdb

import (
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
)

// TestNullsInsideKeys: NULL inside arrays and structs comes last under ansi, as in the engine, and first in Spark's dialect.
func TestNullsInsideKeys(t *testing.T) {
	f := newFixture(t)
	f.tables["t"] = newTable(t, `[{"i":1,"n":null},{"i":2,"n":7}]`, 2, arrow.Field{Name: "i", Type: arrow.PrimitiveTypes.Int64},
		arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true})
	for dialect, want := range map[string]string{"ansi": `[{"i":2},{"i":1}]`, "spark": `[{"i":1},{"i":2}]`} {
		for _, key := range []string{"struct(n)", "array(n)"} {
			if dialect == "ansi" {
				key = map[string]string{"struct(n)": "{'a': n}", "array(n)": "[n]"}[key]
			}
			q := f.query("SELECT i FROM t ORDER BY "+key, nil)
			q.Dialect, q.Zone = dialect, time.UTC
			p, err := f.run.Compile(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(strings.Fields(read(t, p.(*program))), ""); got != want {
				t.Errorf("%s by %s: %s, want %s", dialect, key, got, want)
			}
		}
	}
}
