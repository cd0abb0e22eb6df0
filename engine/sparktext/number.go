package sparktext

import (
	"bytes"
	"math"
	"strconv"
)

// AppendFloat writes a float of 32 or 64 bits as Java does: 1.0, 1.0E10, NaN, Infinity, with the fewest digits that give it back.
func AppendFloat(b []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "NaN"...)
	case math.IsInf(f, 1):
		return append(b, "Infinity"...)
	case math.IsInf(f, -1):
		return append(b, "-Infinity"...)
	}
	from := len(b)
	if a := math.Abs(f); f == 0 || a >= 1e-3 && a < 1e7 {
		b = strconv.AppendFloat(b, f, 'f', -1, bits)
		if bytes.IndexByte(b[from:], '.') < 0 {
			b = append(b, ".0"...)
		}
		return b
	}
	b = strconv.AppendFloat(b, f, 'E', -1, bits)
	at := bytes.IndexByte(b[from:], 'E')
	if bytes.IndexByte(b[from:from+at], '.') < 0 { // Java writes two digits at least, the nearest ones
		b = strconv.AppendFloat(b[:from], f, 'E', 1, bits)
		at = bytes.IndexByte(b[from:], 'E')
	}
	exponent := b[from+at+1:]
	negative := exponent[0] == '-'
	for exponent = exponent[1:]; len(exponent) > 1 && exponent[0] == '0'; {
		exponent = exponent[1:]
	}
	kept := append([]byte(nil), exponent...)
	b = b[:from+at+1]
	if negative {
		b = append(b, '-')
	}
	return append(b, kept...)
}

// Float writes a float as AppendFloat does.
func Float(f float64, bits int) string { return string(AppendFloat(nil, f, bits)) }

// ParseFloat reads a number as Java does, to the nearest value of 32 or 64 bits; what is too large is infinite. Blanks around it were dropped.
func ParseFloat(s string, bits int) (float64, bool) {
	unsigned, sign := s, 1
	if s != "" && (s[0] == '+' || s[0] == '-') {
		unsigned = s[1:]
		if s[0] == '-' {
			sign = -1
		}
	}
	switch {
	case foldAny(unsigned, "inf", "infinity"):
		return math.Inf(sign), true
	case fold(s, "nan"):
		return math.NaN(), true
	}
	n := floatEnd(unsigned)
	if n == 0 || len(s) > MaxDigits {
		return 0, false
	}
	if rest := unsigned[n:]; rest != "" && !foldAny(rest, "d", "f") {
		return 0, false
	}
	f, _ := strconv.ParseFloat(unsigned[:n], bits)
	return math.Copysign(f, float64(sign)), true
}

// floatEnd gives where a number without a sign ends; 0: there is none.
func floatEnd(s string) int {
	i, count := 0, 0
	for point := false; i < len(s) && (isDigit(s[i]) || s[i] == '.' && !point); i++ {
		if s[i] == '.' {
			point = true
			continue
		}
		count++
	}
	if count == 0 {
		return 0
	}
	if i == len(s) || s[i] != 'e' && s[i] != 'E' {
		return i
	}
	at := i + 1
	if at < len(s) && (s[at] == '+' || s[at] == '-') {
		at++
	}
	from := at
	for at < len(s) && isDigit(s[at]) {
		at++
	}
	if at == from {
		return 0
	}
	return at
}

// ParseInteger reads a whole number of some bits. Blanks around it were dropped.
func ParseInteger(s string, bits int) (int64, bool) {
	if len(s) > MaxDigits {
		return 0, false
	}
	for i := range len(s) {
		if !isDigit(s[i]) && (i > 0 || s[i] != '+' && s[i] != '-') {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(s, 10, bits)
	return n, err == nil
}

// ParseBoolean reads a truth value. Blanks around it were dropped.
func ParseBoolean(s string) (value, ok bool) {
	switch {
	case foldAny(s, "t", "true", "y", "yes", "1"):
		return true, true
	case foldAny(s, "f", "false", "n", "no", "0"):
		return false, true
	}
	return false, false
}

// FloatToInteger cuts the fraction off a number; false: some bits do not hold it, or it is none. As in Java the bound itself, which the nearest float passes, is held.
func FloatToInteger(f float64, bits int) (int64, bool) {
	least, most := int64(-1)<<(bits-1), int64(1)<<(bits-1)-1
	if math.IsNaN(f) || math.Floor(f) > float64(most) || math.Ceil(f) < float64(least) {
		return 0, false
	}
	if f >= math.MaxInt64 {
		return math.MaxInt64, true
	}
	return int64(f), true
}
