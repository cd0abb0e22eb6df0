//go:build cgo

package duckdb

import (
	"math"

	"github.com/skua-data/skua/engine/arith"
	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/fault"
)

// roundFunctions are round and bround of numbers other than decimals.
var roundFunctions = []scalar{
	roundedFloat("skua_rounded", false), roundedFloat("skua_rounded_even", true),
	roundedWhole("skua_rounded", false), roundedWhole("skua_rounded_even", true),
}

// roundedFloat rounds by the fewest digits that give a number back.
func roundedFloat(name string, even bool) scalar {
	return rowFunction(name, []int{typeDouble, typeInteger}, typeDouble, func(r *row) error {
		r.give(sparktext.RoundFloat(r.float(0), r.whole(1), even))
		return nil
	})
}

// roundedWhole rounds a number of some bits, which is the third argument, to digits before its point, as many as the second's negative says.
func roundedWhole(name string, even bool) scalar {
	return rowFunction(name, []int{typeBigint, typeInteger, typeInteger}, typeBigint, func(r *row) error {
		out, ok := roundWhole(r.whole(0), -r.whole(1), even)
		if bits := uint(64 - r.whole(2)); !ok || out<<bits>>bits != out {
			return fault.New(fault.Invalid, "Overflow. %s.", arith.AnsiOff).With("ARITHMETIC_OVERFLOW", "22003")
		}
		r.give(out)
		return nil
	})
}

// roundWhole takes digits off a number and puts zeros into their places; false: 64 bits do not hold it.
func roundWhole(n, digits int64, even bool) (int64, bool) {
	if digits <= 0 {
		return n, true
	}
	if digits > 19 {
		return 0, true
	}
	by := uint64(1)
	for range digits {
		by *= 10
	}
	magnitude := uint64(n)
	if n < 0 {
		magnitude = -magnitude
	}
	quotient, rest := magnitude/by, magnitude%by
	if half := by / 2; rest > half || rest == half && (!even || quotient&1 == 1) {
		quotient++
	}
	if quotient > math.MaxInt64/by {
		return 0, false
	}
	out := int64(quotient * by)
	if n < 0 {
		out = -out
	}
	return out, true
}
