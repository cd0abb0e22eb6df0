//go:build cgo

package duckdb

// windowMacros give the beginnings of windows of d microseconds that an instant is in: one begins every s microseconds, one of them at b.
var windowMacros = []string{
	`CREATE MACRO skua_window_start(s, b, e) AS e - ((e - b) % s + s) % s`,
	`CREATE MACRO skua_window_starts(d, s, b, e) AS range(skua_window_start(s, b, e), e - d, -s)`,
}
