package engine

import (
	"math/big"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// maxDigits bounds the numbers that are read from text before they are rounded into 38 digits: an exponent could ask for billions.
const maxDigits = 2000

func power10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

func digitCount(n *big.Int) int { return len(new(big.Int).Abs(n).String()) }

// parseDecimal reads digits with an optional point and exponent as n · 10^-scale.
func parseDecimal(text string) (n *big.Int, scale int, ok bool) {
	mantissa, exponent := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa = text[:i]
		e, ok := parseExponent(text[i+1:])
		if !ok {
			return nil, 0, false
		}
		exponent = e
	}
	sign := ""
	if mantissa != "" && (mantissa[0] == '-' || mantissa[0] == '+') {
		sign, mantissa = strings.TrimPrefix(mantissa[:1], "+"), mantissa[1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if digits == "" || len(digits) > maxDigits || strings.Trim(digits, "0123456789") != "" {
		return nil, 0, false
	}
	n, ok = new(big.Int).SetString(sign+digits, 10)
	return n, len(fraction) - exponent, ok
}

func parseExponent(text string) (int, bool) {
	n, ok := new(big.Int).SetString(strings.TrimPrefix(text, "+"), 10)
	if !ok || strings.HasPrefix(text, "+-") || strings.Contains(text, "_") || !n.IsInt64() || n.Int64() > maxDigits || n.Int64() < -maxDigits {
		return 0, false
	}
	return int(n.Int64()), true
}

// rescale changes n · 10^-from to the scale to, rounding halves away from zero.
func rescale(n *big.Int, from, to int) *big.Int {
	if to >= from {
		return new(big.Int).Mul(n, power10(to-from))
	}
	return divideHalfUp(n, power10(from-to))
}

// divideHalfUp divides and rounds halves away from zero.
func divideHalfUp(n, by *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(n, by, new(big.Int))
	if r.Lsh(r.Abs(r), 1).CmpAbs(by) >= 0 {
		if n.Sign()*by.Sign() < 0 {
			return q.Sub(q, big.NewInt(1))
		}
		return q.Add(q, big.NewInt(1))
	}
	return q
}

// fits reports whether n has no more than precision digits.
func fits(n *big.Int, precision int) bool { return n.CmpAbs(power10(precision)) < 0 }

// plainDecimal spells n · 10^-scale without an exponent.
func plainDecimal(n *big.Int, scale int) string {
	if scale <= 0 {
		return new(big.Int).Mul(n, power10(-scale)).String()
	}
	s := new(big.Int).Abs(n).String()
	if len(s) <= scale {
		s = strings.Repeat("0", scale-len(s)+1) + s
	}
	s = s[:len(s)-scale] + "." + s[len(s)-scale:]
	if n.Sign() < 0 {
		return "-" + s
	}
	return s
}

// toDouble rounds n · 10^-scale to the nearest double.
func toDouble(n *big.Int, scale int) float64 {
	if scale == 0 && n.IsInt64() {
		return float64(n.Int64())
	}
	f, _ := new(big.Rat).SetFrac(n, power10(scale)).Float64()
	return f
}

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
