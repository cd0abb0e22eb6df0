//go:build cgo

package duckdb

import (
	"strings"
	"testing"
)

// TestSubscripts: under Spark's dialect lists are counted from 0 whatever the index is, and maps have the keys that they have.
func TestSubscripts(t *testing.T) {
	f := newFixture(t)
	f.spark = true
	for expr, want := range map[string]string{
		"tags[0]": `"a"`, "tags[id]": `"b"`, "c.tags[id - 1]": `"a"`, "(tags)[0]": `"a"`, "array(array(1, 2), array(3))[0][1]": "2", "map(1, 'a')[1]": `"a"`, "map('k', 5)['k']": "5",
		"map(name, id)[name]": "1", "map(id, name)[id]": `"Ann"`, "map(CAST(id AS INT), name)[1]": `"Ann"`, "map(name, tags)[name][0]": `"a"`, "array(map('x', 3))[0]['x']": "3", "array(map(name, 3))[0][name]": "3",
		"split('a,b', ',')[size(split('a,b', ',')) - 1]": `"b"`, "transform(array(array(1, 2)), x -> x[0])": "[1]", "map('a', named_struct('b', array(7, 8)))['a'].b[1]": "8", "[1, 2, 3][0]": "1", "[5]": "[5]", "[id]": "[1]",
		"[id, 2][1]": "2", "ARRAY[1, 2][1]": "2", "CASE WHEN id = 1 THEN [1][0] ELSE [2][0] END": "1", "max(tags)[0]": `"a"`, "collect_list(name)[0]": `"Ann"`,
	} {
		sql := "SELECT " + expr + " AS v FROM customers c WHERE id = 1 AND [id][0] = 1 AND NOT tags[0] = 'z'"
		if got, err := f.rows(t.Context(), sql); err != nil || !strings.Contains(strings.ReplaceAll(got, "\n", ""), `{"v":`+want+"}") {
			t.Errorf("%s: %s %v, want %s", sql, got, err, want)
		}
	}
	if got, err := f.rows(t.Context(), "SELECT tags[0] AS v, count(*) AS n FROM customers WHERE id = 1 GROUP BY tags[0] HAVING tags[0] = 'a' ORDER BY tags[0]"); err != nil || !strings.Contains(got, `"v":"a"`) {
		t.Errorf("%s %v", got, err)
	}
	if _, err := f.rows(t.Context(), "SELECT tags[5] FROM customers"); err == nil || !strings.Contains(err.Error(), "INVALID_ARRAY_INDEX") {
		t.Errorf("a subscript out of bounds: %v", err)
	}
	if _, err := f.rows(t.Context(), "SELECT tags"+strings.Repeat("[0]", 30)+" FROM customers"); err == nil || !strings.Contains(err.Error(), "subscripts") {
		t.Errorf("many subscripts behind each other: %v", err)
	}
}
