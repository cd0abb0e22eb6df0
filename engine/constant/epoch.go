package constant

import (
	"math"
	"math/big"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/fault"
)

// epoch gives the instant of a whole number of units since 1970, each of which is factor microseconds.
func epoch(factor int64) func(sparktype.Session, []sparktype.Value) (sparktype.Value, error) {
	return func(_ sparktype.Session, a []sparktype.Value) (sparktype.Value, error) {
		v, ok := a[0].Value.(int64)
		if !ok || !sparktype.Integral(a[0].Type) {
			return sparktype.Value{}, fault.New(fault.Invalid, "a timestamp is made of a whole number, and not of %s", sparktype.SQLName(a[0].Type)).With("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "42K09")
		}
		return instantOf(new(big.Int).Mul(big.NewInt(v), big.NewInt(factor)))
	}
}

// epochSeconds gives that of seconds, which may have fractions: of a decimal whole microseconds; what is no number has none.
func epochSeconds(in sparktype.Session, a []sparktype.Value) (sparktype.Value, error) {
	switch v := a[0].Value.(type) {
	case float64:
		switch micros := v * 1e6; {
		case a[0].Endless():
			return sparktype.Value{}, nil
		case micros >= math.MaxInt64:
			return sparktype.Value{Value: int64(math.MaxInt64)}, nil
		case micros <= math.MinInt64:
			return sparktype.Value{Value: int64(math.MinInt64)}, nil
		default:
			return sparktype.Value{Value: int64(micros)}, nil
		}
	case decimal128.Num:
		digits, scale := sparktype.Unscaled(a[0])
		micros, rest := new(big.Int).QuoRem(new(big.Int).Mul(digits, sparktext.Power10(6)), sparktext.Power10(scale), new(big.Int))
		if rest.Sign() != 0 {
			return sparktype.Value{}, fault.New(fault.Invalid, "the seconds %s are no whole number of microseconds", sparktext.Decimal(digits, scale)).With("ARITHMETIC_OVERFLOW", "22003")
		}
		return instantOf(micros)
	}
	return epoch(1_000_000)(in, a)
}

// instantOf gives the instant of microseconds since 1970.
func instantOf(micros *big.Int) (sparktype.Value, error) {
	if !micros.IsInt64() {
		return sparktype.Value{}, fault.New(fault.Invalid, "long overflow").With("ARITHMETIC_OVERFLOW", "22003")
	}
	return sparktype.Value{Value: micros.Int64()}, nil
}
