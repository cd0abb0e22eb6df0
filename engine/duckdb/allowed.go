//go:build cgo

package duckdb

import (
	"slices"
	"strings"
)

// allowed gives the functions that a statement may call.
func allowed() map[string]bool {
	out := words(strings.ToLower(allowedFunctions))
	for _, name := range slices.Concat(macroNames, sparkMacroNames, castNames) {
		out[name] = true
	}
	return out
}
