package sparktype

import (
	"math/big"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/engine/sparktext"
)

func digitCount(n *big.Int) int { return len(new(big.Int).Abs(n).String()) }

// Fits reports whether n has no more than precision digits.
func Fits(n *big.Int, precision int) bool { return n.CmpAbs(sparktext.Power10(precision)) < 0 }

// Unscaled gives an integer's or a decimal's value as n · 10^-scale.
func Unscaled(c Value) (*big.Int, int) {
	switch v := c.Value.(type) {
	case int64:
		return big.NewInt(v), 0
	case decimal128.Num:
		_, scale, _ := DecimalOf(c.Type)
		return v.BigInt(), scale
	}
	return new(big.Int), 0
}
