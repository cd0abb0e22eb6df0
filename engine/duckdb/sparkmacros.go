//go:build cgo

package duckdb

import (
	"fmt"
	"slices"
)

// sparkMacros are functions of Spark whose values the engine's own differ from. The words user and current_role call the functions of these names where no
// column has them.
var sparkMacros = slices.Concat([]string{
	`CREATE MACRO user() AS getvariable('skua_user')`,
	`CREATE MACRO current_role() AS getvariable('skua_user')`,
	`CREATE MACRO skua_at(x, n) AS x[n + CASE WHEN typeof(x) LIKE 'MAP(%)' THEN 0 ELSE 1 END]`,
	`CREATE MACRO skua_at_any(x, n) AS x[skua_index(n, CASE WHEN typeof(x) LIKE 'MAP(%)' THEN 0 ELSE 1 END)]`,
	`CREATE MACRO skua_floor(n, d) AS (n - (n % d + d) % d) // d`,
}, wholeCastMacros(wholeCasts))

// sparkMacroNames are their names, which the gate lets pass.
var sparkMacroNames = append([]string{"skua_floor", "skua_at", "skua_at_any"}, wholeCastMacros("%[1]s")...)

// wholeCastMacros fills a format for each cast to a whole number: with the macro's name, the cast and the type.
func wholeCastMacros(format string) (out []string) {
	for _, verb := range []string{"cast", "try_cast"} {
		for _, whole := range []string{"tinyint", "smallint", "integer", "bigint"} {
			out = append(out, fmt.Sprintf(format, "skua_"+verb+"_"+whole, verb, whole))
		}
	}
	return out
}

// wholeCasts is the macro of a cast to a whole number that cuts off the fraction: of a decimal in its text, which is exact. A
// text with anything but a whole number is none: it comes into quotes, which nothing casts. The engine knows the type when
// it plans, and keeps one of the branches.
const wholeCasts = "CREATE MACRO %[1]s(x) AS CASE WHEN typeof(x) IN ('DOUBLE', 'FLOAT') THEN %[2]s(trunc(TRY_CAST(x AS DOUBLE)) AS %[3]s) " +
	"WHEN typeof(x) = 'VARCHAR' THEN %[2]s(regexp_replace(CAST(x AS VARCHAR), '(?s)^.*[^0-9+\\-\\s].*$', '\"\\0\"') AS %[3]s) WHEN typeof(x) LIKE 'DECIMAL(%%)' THEN %[2]s(split_part(CAST(x AS VARCHAR), '.', 1) AS %[3]s) ELSE %[2]s(x AS %[3]s) END"
