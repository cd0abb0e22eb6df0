package sparktext

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// MaxDigits bounds the numbers that are read from text before they are rounded into 38 digits: an exponent could ask for billions.
const MaxDigits = 2000

// Power10 gives 10 to the n-th.
func Power10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// ParseDecimal reads digits with an optional point and exponent as n · 10^-scale. Blanks around it were dropped.
func ParseDecimal(text string) (n *big.Int, scale int, ok bool) {
	mantissa, exponent := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa = text[:i]
		if exponent, ok = parseExponent(text[i+1:]); !ok {
			return nil, 0, false
		}
	}
	sign := ""
	if mantissa != "" && (mantissa[0] == '-' || mantissa[0] == '+') {
		sign, mantissa = strings.TrimPrefix(mantissa[:1], "+"), mantissa[1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := whole + fraction
	if all == "" || len(all) > MaxDigits {
		return nil, 0, false
	}
	for i := range len(all) {
		if !isDigit(all[i]) {
			return nil, 0, false
		}
	}
	n, ok = new(big.Int).SetString(sign+all, 10)
	return n, len(fraction) - exponent, ok
}

func parseExponent(text string) (int, bool) {
	n, ok := ParseInteger(text, 64)
	if !ok || n > MaxDigits || n < -MaxDigits {
		return 0, false
	}
	return int(n), true
}

// Rescale changes n · 10^-from to the scale to, rounding halves away from zero.
func Rescale(n *big.Int, from, to int) *big.Int {
	if to >= from {
		return new(big.Int).Mul(n, Power10(to-from))
	}
	return DivideHalfUp(n, Power10(from-to))
}

// DivideHalfUp divides and rounds halves away from zero.
func DivideHalfUp(n, by *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(n, by, new(big.Int))
	if r.Lsh(r.Abs(r), 1).CmpAbs(by) >= 0 {
		if n.Sign()*by.Sign() < 0 {
			return q.Sub(q, big.NewInt(1))
		}
		return q.Add(q, big.NewInt(1))
	}
	return q
}

// Decimal writes n · 10^-scale without an exponent.
func Decimal(n *big.Int, scale int) string {
	if scale <= 0 {
		return new(big.Int).Mul(n, Power10(-scale)).String()
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

// AppendDecimal writes n · 10^-scale without an exponent; the scale is not negative.
func AppendDecimal(b []byte, n int64, scale int) []byte {
	u := uint64(n)
	if n < 0 {
		b = append(b, '-')
		u = -u
	}
	from := len(b)
	b = strconv.AppendUint(b, u, 10)
	if scale == 0 {
		return b
	}
	for len(b)-from <= scale {
		b = append(b, 0)
		copy(b[from+1:], b[from:])
		b[from] = '0'
	}
	b = append(b, 0)
	at := len(b) - scale - 1
	copy(b[at+1:], b[at:])
	b[at] = '.'
	return b
}

// ToDouble rounds n · 10^-scale to the nearest double.
func ToDouble(n *big.Int, scale int) float64 {
	if scale == 0 && n.IsInt64() {
		return float64(n.Int64())
	}
	f, _ := new(big.Rat).SetFrac(n, Power10(scale)).Float64()
	return f
}

// javaDigits is how many digits a product of decimals keeps in Spark.
const javaDigits = 34

// DecimalMicros gives n · 10^-scale seconds in microseconds. As in Spark the product has 34 digits, rounded to even, and what 64 bits do not hold is cut off.
func DecimalMicros(n *big.Int, scale int) int64 {
	product := new(big.Int).Mul(n, big.NewInt(1_000_000))
	if over := len(new(big.Int).Abs(product).String()) - javaDigits; over > 0 {
		by := Power10(over)
		q, r := new(big.Int).QuoRem(product, by, new(big.Int))
		if c := r.Lsh(r.Abs(r), 1).CmpAbs(by); c > 0 || c == 0 && q.Bit(0) == 1 {
			q.Add(q, big.NewInt(int64(n.Sign())))
		}
		product = q.Mul(q, by)
	}
	product.Quo(product, Power10(scale))
	return int64(new(big.Int).And(product, new(big.Int).SetUint64(math.MaxUint64)).Uint64())
}
