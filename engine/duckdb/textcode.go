//go:build cgo

package duckdb

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// soundex gives the code of a word; what does not begin with one of the letters A to Z is as it is.
func soundex(s string) string {
	const codes = "01230120022455012623010202" // 0 parts others
	letter := func(c byte) (byte, bool) {
		c &^= 0x20
		if c < 'A' || c > 'Z' {
			return 0, false
		}
		return codes[c-'A'], true
	}
	if s == "" {
		return s
	}
	last, ok := letter(s[0])
	if !ok {
		return s
	}
	out := []byte{s[0] &^ 0x20, '0', '0', '0'}
	n := 1
	for i := 1; i < len(s) && n < 4; i++ {
		code, ok := letter(s[i])
		c := s[i] &^ 0x20
		switch {
		case !ok:
			last = '0'
		case c == 'H' || c == 'W':
		case code != '0' && code != last:
			out[n] = code
			n++
			last = code
		default:
			last = code
		}
	}
	return string(out)
}

// maskCall hides letters and digits; a mask that is no text is the engine's word for NULL, which keeps them.
func maskCall(r *row) error {
	masks := [4]rune{-1, -1, -1, -1}
	for i := range masks {
		if text := r.text(i + 1); text != maskNone {
			masks[i], _ = utf8.DecodeRuneInString(text)
		}
	}
	var b strings.Builder
	for _, c := range r.text(0) {
		kind := 3
		switch {
		case c > 0xFFFF:
		case unicode.IsUpper(c):
			kind = 0
		case unicode.IsLower(c):
			kind = 1
		case unicode.IsDigit(c):
			kind = 2
		}
		switch {
		case masks[kind] < 0:
			b.WriteRune(c)
		case c > 0xFFFF: // Java has two characters for it, and each is hidden
			b.WriteString(string(masks[3]) + string(masks[3]))
		default:
			b.WriteRune(masks[kind])
		}
	}
	r.give(b.String())
	return nil
}

// maskNone stands for a mask that is NULL.
const maskNone = "\x00keep"

// luhn checks the last digit of a number.
func luhn(s string) bool {
	sum, double := 0, false
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
		d := int(s[i] - '0')
		if double {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum, double = sum+d, !double
	}
	return s != "" && sum%10 == 0
}

// titled begins each word with a capital; words are parted by blanks.
func titled(s string) string {
	var b strings.Builder
	first := true
	for _, c := range s {
		switch {
		case c == 'İ' && !first:
			b.WriteString("i\u0307")
		case first:
			b.WriteRune(unicode.ToTitle(c))
		default:
			b.WriteRune(unicode.ToLower(c))
		}
		first = c == ' '
	}
	return b.String()
}
