// Package duckdb runs what is more than a scan on an embedded DuckDB. A statement is rewritten into DuckDB's dialect, its tree is held against
// a list of what may run, every table becomes one call of a table function over a scan.Source, and the filters that the optimised plan leaves
// on a source go into its scan. Rows stream both ways. The engine sees no file, no network and no catalog of its own.
//
// It needs cgo; without it, New gives no executor, and the rest of the server is as it is.
package duckdb
