//go:build cgo

package duckdb

import "strings"

// allowed gives the functions that a statement may call.
func allowed() map[string]bool {
	out := words(strings.ToLower(allowedFunctions))
	for _, name := range macroNames {
		out[name] = true
	}
	return out
}
