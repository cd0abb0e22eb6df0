//go:build cgo

package duckdb

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/engine/sparktext"
)

// maxDigits bounds the digits behind the point that format_number writes.
const maxDigits = 1000

// roundedEven writes a number with some digits behind the point; halves go to the even one.
func roundedEven(n *big.Rat, digits int) string {
	scaled := new(big.Rat).Mul(n, new(big.Rat).SetInt(sparktext.Power10(digits)))
	quotient, rest := new(big.Int).QuoRem(scaled.Num(), scaled.Denom(), new(big.Int))
	twice := new(big.Int).Mul(rest.Abs(rest), big.NewInt(2))
	if c := twice.Cmp(scaled.Denom()); c > 0 || c == 0 && quotient.Bit(0) == 1 {
		quotient.Add(quotient, big.NewInt(int64(n.Sign())))
	}
	return sparktext.Decimal(quotient, digits)
}

// grouped puts a comma in front of every three digits.
func grouped(text string) string {
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	whole, fraction, point := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if point {
		whole += "." + fraction
	}
	return sign + whole
}

// whole writes %d, %x, %o and %c; bits are those of the number's type.
func (s specifier) whole(n int64, bits int) string {
	switch s.verb {
	case 'c':
		return string(rune(n))
	case 'x', 'X', 'o':
		u := uint64(n) << (64 - bits) >> (64 - bits)
		text := strconv.FormatUint(u, map[byte]int{'x': 16, 'X': 16, 'o': 8}[s.verb])
		if s.has("#") {
			text = map[byte]string{'x': "0x", 'X': "0x", 'o': "0"}[s.verb] + text
		}
		if s.verb == 'X' {
			text = strings.ToUpper(text)
		}
		return s.zeros(text, "")
	}
	text := strconv.FormatInt(n, 10)
	return s.signed(text)
}

// signed writes the sign, the groups and the zeros in front of a number.
func (s specifier) signed(text string) string {
	negative := strings.HasPrefix(text, "-")
	text = strings.TrimPrefix(text, "-")
	if s.has(",") {
		text = grouped(text)
	}
	switch {
	case negative && s.has("("):
		return s.zeros(text+")", "(")
	case negative:
		return s.zeros(text, "-")
	case s.has("+"):
		return s.zeros(text, "+")
	case s.has(" "):
		return s.zeros(text, " ")
	}
	return s.zeros(text, "")
}

func (s specifier) zeros(text, sign string) string {
	if missing := s.width - len(text) - len(sign); s.has("0") && missing > 0 {
		text = strings.Repeat("0", missing) + text
	}
	return sign + text
}

func (s specifier) float(x float64, a arrow.Array, i int) string {
	if math.IsNaN(x) {
		return "NaN"
	}
	if math.IsInf(x, 0) {
		return map[bool]string{true: "Infinity", false: "-Infinity"}[x > 0]
	}
	precision := s.precision
	if precision < 0 {
		precision = 6
	}
	switch s.verb {
	case 'e', 'E':
		text := strconv.FormatFloat(x, 'e', precision, 64)
		if s.verb == 'E' {
			text = strings.ToUpper(text)
		}
		return s.signed(text)
	case 'g', 'G':
		precision = max(precision, 1)
		if m := math.Abs(x); m != 0 && (m < 1e-4 || m >= math.Pow(10, float64(precision))) {
			return s.signed(strconv.FormatFloat(x, 'e', precision-1, 64))
		}
		digits := 0
		if x != 0 {
			digits = int(math.Floor(math.Log10(math.Abs(x))))
		}
		return s.signed(strconv.FormatFloat(x, 'f', max(precision-1-digits, 0), 64))
	}
	exact, _ := new(big.Rat).SetString(plainNumber(a, i, x))
	text := exact.FloatString(precision) // halves go away from zero
	if math.Signbit(x) {
		text = "-" + strings.TrimPrefix(text, "-")
	}
	return s.signed(text)
}

// plainNumber gives the digits that Java rounds: the shortest of a float.
func plainNumber(a arrow.Array, i int, x float64) string {
	if d, ok := a.(*array.Decimal128); ok {
		return plainText(d, i)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
