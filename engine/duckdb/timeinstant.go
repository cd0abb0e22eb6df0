//go:build cgo

package duckdb

import (
	"math"
	"math/big"

	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/fault"
)

// instantFunctions make instants and days of numbers, and texts of such instants. Where Java's whole numbers run over, so do theirs.
var instantFunctions = []scalar{
	rowFunction("skua_instant_of", []int{typeBigint, typeBigint}, typeOfZoned, instantCall),
	rowFunction("skua_instant_of_float", []int{typeDouble}, typeOfZoned, func(r *row) error {
		if x := r.float(0); !math.IsNaN(x) && !math.IsInf(x, 0) {
			r.give(nearestLong(x * 1e6))
		}
		return nil
	}),
	rowFunction("skua_instant_of_decimal", []int{typeVarchar}, typeOfZoned, decimalInstantCall),
	rowFunction("skua_unix_text", []int{typeBigint, typeVarchar, typeVarchar}, typeVarchar, unixTextCall),
	rowFunction("skua_day_of", []int{typeInteger}, typeOfDate, func(r *row) error { r.give(r.whole(0)); return nil }),
	rowFunction("skua_days_on", []int{typeOfDate, typeInteger, typeInteger}, typeOfDate, func(r *row) error {
		r.give(int64(int32(r.whole(0) + r.whole(1)*r.whole(2))))
		return nil
	}),
}

// nearestLong cuts a number's fraction off; what is beyond 64 bits is the last of them.
func nearestLong(x float64) int64 {
	switch {
	case x >= math.MaxInt64:
		return math.MaxInt64
	case x <= math.MinInt64:
		return math.MinInt64
	}
	return int64(x)
}

// instantCall gives an instant of units, as many of which as the second argument says are a microsecond's multiple.
func instantCall(r *row) error {
	v, units := r.whole(0), r.whole(1)
	if v > math.MaxInt64/units || v < math.MinInt64/units {
		return longOverflow()
	}
	r.give(v * units)
	return nil
}

func longOverflow() error {
	return fault.New(fault.Invalid, "long overflow").With("ARITHMETIC_OVERFLOW", "22003")
}

// decimalInstantCall reads seconds, which have six digits behind the point at most.
func decimalInstantCall(r *row) error {
	digits, scale, ok := sparktext.ParseDecimal(r.text(0))
	if !ok {
		return fault.New(fault.Internal, "read the decimal %q", r.text(0))
	}
	micros, rest := digits.Mul(digits, sparktext.Power10(6)).QuoRem(digits, sparktext.Power10(max(scale, 0)), new(big.Int))
	if rest.Sign() != 0 || !micros.IsInt64() {
		return fault.New(fault.Invalid, "the seconds %s are no whole number of microseconds that 64 bits hold", r.text(0)).With("ARITHMETIC_OVERFLOW", "22003")
	}
	r.give(micros.Int64())
	return nil
}

// unixTextCall writes seconds since 1970 by a pattern.
func unixTextCall(r *row) error {
	return r.written(func(zone *sparktext.Zone) (wall, offset int64) {
		v := r.whole(0) * 1_000_000
		offset = zone.Offset(sparktext.FloorDiv(v, 1_000_000))
		return v + offset*1_000_000, offset
	})
}
