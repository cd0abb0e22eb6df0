//go:build cgo

package duckdb

// furtherFunctions are those that the calls of dialect's sparkFurther are written with, and furtherMacros choose among them by the types of arguments.
var (
	furtherFunctions = numberFormats
	furtherMacros    = []string{}
)
