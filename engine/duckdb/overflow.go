//go:build cgo

package duckdb

import (
	"regexp"

	"github.com/skua-data/skua/fault"
)

// smallOverflow is what the engine says to a sum or a product that a tinyint or a smallint does not hold.
var smallOverflow = regexp.MustCompile(`^Overflow in (?:addition|subtraction|multiplication) of INT(?:8|16) \((.*)\)!`)

// overflowed gives the error of such a result; nil: it is another one.
func overflowed(message string) *fault.Error {
	told := smallOverflow.FindStringSubmatch(message)
	if told == nil {
		return nil
	}
	return fault.New(fault.Invalid, "%s caused overflow. Use a wider type, or `try_add` and its like to ignore overflow problem and return NULL.", told[1]).
		With("BINARY_ARITHMETIC_OVERFLOW", "22003")
}
