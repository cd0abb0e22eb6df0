//go:build cgo

package duckdb

import (
	"math"
	"math/big"

	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/fault"
)

// toWhole casts a value to a whole number of some bits.
func toWhole(c *casting, n *node, row, bits int) (int64, error) {
	switch n.family() {
	case textFamily:
		v, ok := sparktext.ParseInteger(sparktext.Trim(c.word(n, row)), bits)
		if !ok {
			return 0, c.invalid(n, row)
		}
		return v, nil
	case booleanFamily:
		return boolNumber(at[bool](n, row)), nil
	case floatFamily:
		v, ok := sparktext.FloatToInteger(c.float(n, row), bits)
		if !ok {
			return 0, c.overflow(n, row)
		}
		return v, nil
	}
	small, large := c.exact(n, row)
	if scale := c.scaleOf(n); scale > 0 && large == nil {
		if n.family() == instantFamily {
			small = sparktext.FloorDiv(small, pow10(scale))
		} else {
			small /= pow10(scale)
		}
	} else if scale > 0 {
		if large.Quo(large, sparktext.Power10(scale)); large.IsInt64() {
			small, large = large.Int64(), nil
		}
	}
	if large != nil || small<<(64-bits)>>(64-bits) != small {
		return 0, c.overflow(n, row)
	}
	return small, nil
}

// toFloat casts a value to the nearest number of some bits.
func toFloat(c *casting, n *node, row, bits int) (float64, error) {
	round := func(f float64) (float64, error) {
		if bits == 32 {
			return float64(float32(f)), nil
		}
		return f, nil
	}
	switch n.family() {
	case textFamily:
		v, ok := sparktext.ParseFloat(sparktext.Trim(c.word(n, row)), bits)
		if !ok {
			return 0, c.invalid(n, row)
		}
		return v, nil
	case booleanFamily:
		return float64(boolNumber(at[bool](n, row))), nil
	case floatFamily:
		return round(c.float(n, row))
	}
	small, large := c.exact(n, row)
	scale := c.scaleOf(n)
	switch {
	case n.family() == instantFamily:
		return round(float64(small) / float64(pow10(scale)))
	case large != nil:
		return round(sparktext.ToDouble(large, scale))
	case scale == 0 && bits == 32:
		return float64(float32(small)), nil
	case scale == 0 || scale <= 22 && small>>53 == small>>63:
		return round(float64(small) / math.Pow10(scale)) // both are exact, so the quotient is the nearest one
	}
	return round(sparktext.ToDouble(big.NewInt(small), scale))
}

// toDecimal casts a value to the digits of a decimal.
func toDecimal(c *casting, n *node, row, precision, scale int) (wide, error) {
	var digits *big.Int
	from := 0
	switch n.family() {
	case textFamily:
		var ok bool
		if digits, from, ok = sparktext.ParseDecimal(sparktext.Trim(c.word(n, row))); !ok {
			return wide{}, c.invalid(n, row)
		}
	case booleanFamily:
		digits = big.NewInt(boolNumber(at[bool](n, row)))
	case floatFamily:
		f := c.float(n, row)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return wide{}, errNoValue
		}
		digits, from, _ = sparktext.ParseDecimal(sparktext.Float(f, 64))
	default:
		small, large := c.exact(n, row)
		from = c.scaleOf(n)
		if large == nil && precision <= 18 && scale >= from && scale-from+digitsOf(small) <= 18 {
			if v := small * pow10(scale-from); digitsOf(v) <= precision {
				return wide{uint64(v), v >> 63}, nil
			}
		}
		if digits = large; digits == nil {
			digits = big.NewInt(small)
		}
	}
	out := sparktext.Rescale(digits, from, scale)
	if out.CmpAbs(sparktext.Power10(precision)) >= 0 {
		if c.try {
			return wide{}, errNoValue
		}
		return wide{}, fault.New(fault.Invalid, "%s cannot be represented as Decimal(%d, %d). If necessary set \"spark.sql.ansi.enabled\" to \"false\" "+
			"to bypass this error, and return NULL instead.", sparktext.Decimal(digits, from), precision, scale).With("NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "22003")
	}
	return wideOf(out), nil
}

func toBoolean(c *casting, n *node, row int) (bool, error) {
	switch n.family() {
	case textFamily:
		v, ok := sparktext.ParseBoolean(sparktext.Trim(c.word(n, row)))
		if !ok {
			return false, c.invalid(n, row)
		}
		return v, nil
	case booleanFamily:
		return at[bool](n, row), nil
	case floatFamily:
		return c.float(n, row) != 0, nil
	}
	small, large := n.whole(row)
	return small != 0 || large != nil, nil
}

// exact gives a value that is a whole number of units: of a decimal its digits, of an instant its microseconds, of an interval its months or microseconds.
func (c *casting) exact(n *node, row int) (int64, *big.Int) {
	switch n.family() {
	case instantFamily:
		return sparktext.FloorDiv(at[int64](n, row), n.perSecond()/1_000_000), nil
	case intervalFamily:
		i := at[interval](n, row)
		if i.months != 0 && i.days == 0 && i.micros == 0 {
			return int64(i.months) * 1_000_000, nil
		}
		return int64(i.days)*sparktext.MicrosPerDay + i.micros, nil
	}
	return n.whole(row)
}

// scaleOf says how many digits of exact are behind the point.
func (c *casting) scaleOf(n *node) int {
	switch n.family() {
	case instantFamily, intervalFamily:
		return 6
	case decimalFamily:
		return int(n.scale)
	}
	return 0
}

func (c *casting) float(n *node, row int) float64 {
	if n.kind() == typeFloat {
		return float64(at[float32](n, row))
	}
	return at[float64](n, row)
}

func boolNumber(v bool) int64 {
	if v {
		return 1
	}
	return 0
}

var powers = func() (out [19]int64) {
	out[0] = 1
	for i := 1; i < len(out); i++ {
		out[i] = out[i-1] * 10
	}
	return out
}()

// pow10 gives 10 to the n-th, as far as 64 bits go: what is divided by more is nothing.
func pow10(n int) int64 {
	if n < len(powers) {
		return powers[n]
	}
	return math.MaxInt64
}

// digitsOf gives the number of digits of v.
func digitsOf(v int64) int {
	n := 1
	for n < len(powers) && (v >= powers[n] || v <= -powers[n]) {
		n++
	}
	return n
}
