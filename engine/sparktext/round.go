package sparktext

import (
	"math"
	"strconv"
)

// mostDigits is more than any float has before and behind its point.
const mostDigits = 1100

// RoundFloat rounds a number to some digits behind its point, before it where they are negative. What is rounded are the fewest digits that give the number back; halves
// go away from zero, or to the even neighbour.
func RoundFloat(f float64, digits int64, even bool) float64 {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return f
	case f == 0:
		return 0
	case digits >= 0 && math.Abs(f) >= 1<<53, digits > mostDigits:
		return f
	case digits < -mostDigits:
		return 0
	}
	var kept [32]byte
	text := strconv.AppendFloat(kept[:0], math.Abs(f), 'e', -1, 64) // d.ddde±nn
	n, exponent := significand(text)
	drop := -int64(exponent) - digits // how many of the digits are behind the last one wanted
	if drop <= 0 {
		return f
	}
	if drop > 19 { // there are 17 at most
		return 0
	}
	by := uint64(1)
	for range drop {
		by *= 10
	}
	quotient, rest := n/by, n%by
	if half := by / 2; rest > half || rest == half && (!even || quotient&1 == 1) {
		quotient++
	}
	text = strconv.AppendUint(kept[:0], quotient, 10)
	text = append(text, 'e')
	text = strconv.AppendInt(text, -digits, 10)
	out, _ := strconv.ParseFloat(string(text), 64)
	if quotient == 0 {
		return 0
	}
	return math.Copysign(out, f)
}

// significand reads d.ddde±nn as n · 10^exponent.
func significand(text []byte) (n uint64, exponent int) {
	for i, c := range text {
		switch {
		case c == 'e':
			shown, _ := strconv.Atoi(string(text[i+1:]))
			return n, exponent + shown
		case c == '.':
			continue
		case i > 0:
			exponent--
		}
		n = n*10 + uint64(c-'0')
	}
	return n, exponent
}
