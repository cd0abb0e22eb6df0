//go:build cgo

package duckdb

// sparkMacros are functions of Spark whose values the engine's own differ from.
var sparkMacros = []string{
	`CREATE MACRO skua_floor(n, d) AS (n - (n % d + d) % d) // d`,
}

// sparkMacroNames are their names, which the gate lets pass.
var sparkMacroNames = []string{"skua_floor"}
