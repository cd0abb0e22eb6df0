//go:build cgo

package duckdb

import (
	"strings"
	"testing"
)

// TestCollectionsAreBounded: what would make much out of little is refused, by the name of the bound or of the function.
func TestCollectionsAreBounded(t *testing.T) {
	s := newSparkEngine(t, sparkTable(t))
	for expr, want := range map[string]string{
		"sequence(1, 1000000000000)":                                             "COLLECTION_SIZE_LIMIT_EXCEEDED",
		"sequence(-9223372036854775808, 9223372036854775807)":                    "COLLECTION_SIZE_LIMIT_EXCEEDED",
		"sequence(DATE '0001-01-01', DATE '9999-01-01', INTERVAL '1' SECOND)":    "SQLSTATE",
		"array_repeat('x', 1000000000)":                                          "COLLECTION_SIZE_LIMIT_EXCEEDED",
		"array_insert(array(1), 2000000000, 1)":                                  "COLLECTION_SIZE_LIMIT_EXCEEDED",
		"aggregate(sequence(1, 60), 'xxxxxxxxxxxxxxxx', (a, x) -> concat(a, a))": "made by folding",
		"aggregate(sequence(1, 60), array(1), (a, x) -> concat(a, a))":           "made by folding",
		"array_sort(sequence(1, 100000), (a, b) -> a - b)":                       "COLLECTION_SIZE_LIMIT_EXCEEDED",
		"list_reduce(array(1), (a, b) -> a + b)":                                 "list_reduce",
		"randstr(2000000000)":                                                    "characters",
		"shuffle(array(1, 2), 3)":                                                "shuffle",
		"from_json('{}', 'a INT', map('encoding', 'UTF-16'))":                    "encoding",
		"from_json('{}', 'a BINARY')":                                            "binary",
		"to_csv(named_struct('a', array(1)))":                                    "to_csv",
	} {
		if _, err := s.ask(t.Context(), "SELECT "+expr, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", expr, err, want)
		}
	}
}
