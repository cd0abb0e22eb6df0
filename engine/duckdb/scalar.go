//go:build cgo

package duckdb

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
)

// The engine's numbers of the types that functions take and give.
const (
	typeInvalid  = 0 // of a column whose type a parameter without one decides
	typeBoolean  = 1
	typeTinyint  = 2
	typeSmallint = 3
	typeInteger  = 4
	typeBigint   = 5
	typeUbigint  = 9
	typeDouble   = 11
	typeVarchar  = 17
	typeBlob     = 18
	typeAny      = 34
	typeVariant  = -1
	typeZoned    = -2 // a timestamp with nanoseconds and a zone
	typeNanos    = -3 // one without
)

// scalar is a function of ours: one of the names' overloads.
type scalar struct {
	name       string
	parameters []int
	result     int
	varargs    bool // any more arguments may follow
	volatile   bool // not to be called while a statement is planned
	call       func(arguments []arrow.Array, rows int) (arrow.Array, error)
}

// scalars are our functions. A function's place in the list is its number for the engine.
var scalars = slices.Concat(hashes, transforms, averages, guards, nanos, indexes, variants, orders, sparkFunctions)
