//go:build cgo

package duckdb

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
)

// TestColumnsKeepTheirTypes: a column that comes out of the engine as it went in has the type that a scan gives it.
func TestColumnsKeepTheirTypes(t *testing.T) {
	f := newFixture(t)
	f.tables["odd"] = newTable(t, `[{"x":"AAECAw==","n":"2024-01-01T00:00:00.000000001Z","k":1},{"x":"/////w==","n":null,"k":2},{"x":null,"n":"2023-01-01T00:00:00Z","k":1}]`, 2,
		arrow.Field{Name: "x", Type: &arrow.FixedSizeBinaryType{ByteWidth: 4}}, arrow.Field{Name: "n", Type: &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}},
		arrow.Field{Name: "k", Type: arrow.PrimitiveTypes.Int64})
	for _, c := range []struct{ sql, types, rows string }{
		{"SELECT x, n FROM odd ORDER BY k, x NULLS LAST", "fixed_size_binary[4] timestamp[ns, tz=UTC]", `{"n":"2024-01-01T00:00:00.000000001Z","x":"AAECAw=="}`},
		{"SELECT x, count(*) AS n FROM odd GROUP BY x ORDER BY x LIMIT 2", "fixed_size_binary[4] int64", `{"n":1,"x":"AAECAw=="}`},
		{"SELECT max(x) AS x, min(n) AS n FROM odd GROUP BY k ORDER BY 1", "fixed_size_binary[4] timestamp[ns, tz=UTC]", `{"n":"2023-01-01T00:00:00Z","x":"AAECAw=="}`},
		{"SELECT q.x FROM customers c LEFT JOIN (SELECT DISTINCT x, k FROM odd) q ON q.k = c.id ORDER BY 1", "fixed_size_binary[4]", `{"x":"AAECAw=="}`},
		{"SELECT x FROM odd WHERE k = 1 UNION ALL SELECT x FROM odd WHERE k = 2", "fixed_size_binary[4]", `{"x":"AAECAw=="}`},
		{"SELECT x, n FROM odd UNION SELECT x, n FROM odd ORDER BY 1 NULLS LAST", "fixed_size_binary[4] timestamp[ns, tz=UTC]", `{"n":"2024-01-01T00:00:00.000000001Z","x":"AAECAw=="}`},
		{"SELECT x FROM odd INTERSECT SELECT x FROM odd", "fixed_size_binary[4]", `{"x":"/////w=="}`}, {"SELECT x FROM odd EXCEPT SELECT x FROM odd WHERE k = 1", "fixed_size_binary[4]", `{"x":"/////w=="}`},
		{"SELECT max(x) AS x FROM (SELECT x FROM odd UNION ALL SELECT x FROM odd) q GROUP BY x ORDER BY 1", "fixed_size_binary[4]", `{"x":"AAECAw=="}`},
		{"SELECT x FROM odd UNION ALL SELECT x || x FROM odd", "binary", `{"x":"AAECAw=="}`},
		{"SELECT x || x AS y FROM odd WHERE k = 2 GROUP BY 1", "binary", `{"y":"//////////8="}`},
	} {
		p, err := f.run.Compile(t.Context(), f.query(c.sql, nil))
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		var types []string
		for _, field := range p.Schema().Fields() {
			types = append(types, field.Type.String())
		}
		if got := strings.Join(types, " "); got != c.types {
			t.Errorf("%s: %s, want %s", c.sql, got, c.types)
		}
		if got := read(t, p.(*program)); !strings.Contains(got, c.rows) {
			t.Errorf("%s: %s, want %s among them", c.sql, got, c.rows)
		}
	}
}
