package engine

import (
	"math/big"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/engine/sparktext"
)

func power10(n int) *big.Int { return sparktext.Power10(n) }

func digitCount(n *big.Int) int { return len(new(big.Int).Abs(n).String()) }

// rescale changes n · 10^-from to the scale to, rounding halves away from zero.
func rescale(n *big.Int, from, to int) *big.Int { return sparktext.Rescale(n, from, to) }

// divideHalfUp divides and rounds halves away from zero.
func divideHalfUp(n, by *big.Int) *big.Int { return sparktext.DivideHalfUp(n, by) }

// plainDecimal spells n · 10^-scale without an exponent.
func plainDecimal(n *big.Int, scale int) string { return sparktext.Decimal(n, scale) }

// toDouble rounds n · 10^-scale to the nearest double.
func toDouble(n *big.Int, scale int) float64 { return sparktext.ToDouble(n, scale) }

// fits reports whether n has no more than precision digits.
func fits(n *big.Int, precision int) bool { return n.CmpAbs(power10(precision)) < 0 }

// decimalValue gives an integer or decimal constant's value as n · 10^-scale.
func decimalValue(c constant) (*big.Int, int) {
	switch v := c.value.(type) {
	case int64:
		return big.NewInt(v), 0
	case decimal128.Num:
		_, scale, _ := decimalOf(c.typ)
		return v.BigInt(), scale
	}
	return new(big.Int), 0
}
