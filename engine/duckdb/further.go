//go:build cgo

package duckdb

import "slices"

// furtherFunctions are those that the calls of dialect's sparkFurther are written with, and furtherMacros choose among them by the types of arguments.
var (
	furtherFunctions = slices.Concat(numberFormats, urlFunctions, utf8Functions, bitmapFunctions, randomFunctions)
	furtherMacros    = slices.Concat(windowMacros, bitmapMacros)
)
