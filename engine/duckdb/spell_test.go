//go:build cgo

package duckdb

import (
	"fmt"
	"sort"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/predicate"
)

// spell writes a predicate for people.
func spell(e predicate.Expr) string {
	switch e := e.(type) {
	case nil:
		return ""
	case predicate.And:
		return "(" + spell(e.Left) + " AND " + spell(e.Right) + ")"
	case predicate.Or:
		return "(" + spell(e.Left) + " OR " + spell(e.Right) + ")"
	case predicate.Not:
		return "not " + spell(e.Expr)
	case predicate.IsNull:
		return "isNull(" + e.Field.Path[0] + ")"
	case predicate.StartsWith:
		return "startsWith(" + e.Field.Path[0] + ", " + e.Prefix + ")"
	case predicate.Comparison:
		return e.Field.Path[0] + " " + []string{"=", "<>", "<", "<=", ">", ">="}[e.Op] + " " + spellValue(e.Value.Value)
	case predicate.In:
		var values []string
		for _, v := range e.Values {
			values = append(values, spellValue(v.Value))
		}
		sort.Strings(values)
		return e.Field.Path[0] + " in [" + strings.Join(values, " ") + "]"
	}
	return fmt.Sprint(e)
}

func spellValue(v any) string {
	if d, ok := v.(decimal128.Num); ok {
		return d.BigInt().String()
	}
	return fmt.Sprint(v)
}
