//go:build cgo

package duckdb

// sparkMacros are functions of Spark whose values the engine's own differ from. The words user and current_role call the functions of these names where no
// column has them.
var sparkMacros = []string{
	`CREATE MACRO user() AS getvariable('skua_user')`,
	`CREATE MACRO current_role() AS getvariable('skua_user')`,
	`CREATE MACRO skua_at(x, n) AS x[n + CASE WHEN typeof(x) LIKE 'MAP(%)' THEN 0 ELSE 1 END]`,
	`CREATE MACRO skua_at_any(x, n) AS x[skua_index(n, CASE WHEN typeof(x) LIKE 'MAP(%)' THEN 0 ELSE 1 END)]`,
	`CREATE MACRO skua_floor(n, d) AS (n - (n % d + d) % d) // d`,
}

// sparkMacroNames are their names, which the gate lets pass, and that of a function that the rewriter alone writes.
var sparkMacroNames = []string{"skua_floor", "skua_at", "skua_at_any", "list_reduce"}
