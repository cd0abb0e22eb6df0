//go:build cgo

package duckdb

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
)

// variantType is a variant as a table has it.
var variantType = arrow.StructOf(arrow.Field{Name: "metadata", Type: arrow.BinaryTypes.Binary}, arrow.Field{Name: "value", Type: arrow.BinaryTypes.Binary})

// variantTable has {"a":1,"b":[2.5,"x",null]}, a variant's null, no value, and an instant; in base64 of metadata and value.
func variantTable(t *testing.T) *memoryTable {
	return newTable(t, `[
		{"id":1,"v":{"metadata":"AQIAAQJhYg==","value":"AgIAAQACEQwBAwMABggJIAEZAAAABXgA"}},
		{"id":2,"v":{"metadata":"AQAA","value":"AA=="}},
		{"id":3,"v":null},
		{"id":4,"v":{"metadata":"AQAA","value":"MCChBwAAAAAA"}}]`, 2,
		arrow.Field{Name: "id", Type: arrow.PrimitiveTypes.Int64}, arrow.Field{Name: "v", Type: variantType})
}

func TestVariants(t *testing.T) {
	f := newFixture(t)
	f.spark = true
	f.tables["t"] = variantTable(t)
	for _, c := range []struct{ expression, want string }{
		{"is_variant_null(v)", "false true false false"},
		{"to_json(v)", `{"a":1,"b":[2.5,"x",null]} null - "1970-01-01 00:00:00.5+00:00"`},
		{"schema_of_variant(v)", "OBJECT<a: BIGINT, b: ARRAY<VARIANT>> VOID - TIMESTAMP"},
		{"variant_get(v, '$.a', 'int') + 1", "2 - - -"},
		{"try_variant_get(v, '$.b[0]', 'decimal(9,1)')", "2.5 - - -"},
		{"try_variant_get(v, '$.b[1]', 'bigint')", "- - - -"},
		{"variant_get(v, '$', 'string')", `{"a":1,"b":[2.5,"x",null]} - - 1970-01-01 00:00:00.5`},
		{"to_json(array(id, 2))", "[1,2] [2,2] [3,2] [4,2]"},
	} {
		got, err := f.rows(t.Context(), "SELECT coalesce(string_agg(coalesce(CAST("+c.expression+" AS STRING), '-'), ' ' ORDER BY id), '') AS x FROM t")
		if err != nil {
			t.Errorf("%s: %v", c.expression, err)
			continue
		}
		want := strings.ReplaceAll(c.want, `"`, `\"`)
		want = strings.NewReplacer("<", `\u003c`, ">", `\u003e`).Replace(want)
		if got = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(got), `[{"x":"`), "\"}\n]"); got != want {
			t.Errorf("%s: %s, want %s", c.expression, got, want)
		}
	}
	for expression, text := range map[string]string{"variant_get(v, '$.b', 'int')": "INVALID_VARIANT_CAST", "variant_get(v, 'a', 'int')": "no path", "variant_get(v, '$.a')": "name the type",
		"variant_get(v, '$.a', 'array<int>')": "not supported"} {
		if _, err := f.rows(t.Context(), "SELECT "+expression+" FROM t"); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, want %q", expression, err, text)
		}
	}
}

// TestVariantsAreNoKeys: nothing compares variants as a whole.
func TestVariantsAreNoKeys(t *testing.T) {
	f := newFixture(t)
	f.tables["t"] = variantTable(t)
	for _, sql := range []string{
		"SELECT v, count(*) FROM t GROUP BY v", "SELECT DISTINCT v FROM t", "SELECT id FROM t ORDER BY v LIMIT 2", "SELECT id FROM t ORDER BY v", "SELECT count(*) FROM t a JOIN t b ON a.v = b.v",
		"SELECT v FROM t UNION SELECT v FROM t", "SELECT v FROM t EXCEPT SELECT v FROM t", "SELECT v FROM t INTERSECT SELECT v FROM t", "SELECT id FROM t WHERE v = v OR upper('x') = 'y'",
		"SELECT count(DISTINCT v) FROM t", "SELECT min(v) FROM t", "SELECT rank() OVER (ORDER BY v) FROM t", "SELECT rank() OVER (PARTITION BY v ORDER BY id) FROM t",
		"SELECT id FROM t WHERE v IN (SELECT v FROM t)", "SELECT array(v), count(*) FROM t GROUP BY 1",
	} {
		if _, err := f.rows(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "variant") || !strings.Contains(err.Error(), "not supported") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	for _, sql := range []string{"SELECT v FROM t UNION ALL SELECT v FROM t", "SELECT variant_get(v, '$.a', 'int') AS a, count(*) FROM t GROUP BY 1", "SELECT count(v), any_value(v) FROM t GROUP BY id ORDER BY id",
		"SELECT a.v FROM t a JOIN t b USING (id) ORDER BY id", "SELECT v FROM t WHERE v IS NOT NULL ORDER BY id LIMIT 1"} {
		if _, err := f.rows(t.Context(), sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
