//go:build cgo

package duckdb

import (
	"slices"
	"strings"

	"github.com/skua-data/skua/engine/duckdb/dialect"
)

// allowed gives the functions that a statement may call.
func allowed() map[string]bool {
	out := words(strings.ToLower(allowedFunctions))
	for _, name := range slices.Concat(macroNames, sparkMacroNames, castNames, dialect.Statistics(), namesOf(callMacros, sparkFunctions)) {
		out[name] = true
	}
	return out
}
