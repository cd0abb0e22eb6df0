//go:build cgo

package duckdb

import "slices"

// sparkFunctions are Spark's functions that are written here, and callMacros those that choose among them by the types of arguments.
var (
	sparkFunctions = slices.Concat(timeFunctions, madeTimes, instantFunctions, betweenFunctions, textFunctions, regexFunctions, choices, mathFunctions, roundFunctions, charsetFunctions, formatFunctions, collectionFunctions, jsonFunctions, furtherFunctions)
	callMacros     = slices.Concat(timeMacros, textMacros, numberMacros, collectionMacros, jsonMacros, furtherMacros)
)
