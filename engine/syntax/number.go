package syntax

import "strings"

// suffixes give the kinds of numbers, longer ones first.
var suffixes = []struct {
	suffix string
	kind   Kind
	whole  bool // only after digits alone
}{{"BD", Decimal, false}, {"L", Bigint, true}, {"S", Smallint, true}, {"Y", Tinyint, true}, {"F", Float, false}, {"D", Double, false}}

// number gives the token of a text that begins with a digit, or with a point and a digit. The longest match wins, so that 1a is a word and
// the point of t.1a is a mark.
func number(text string) (TokenKind, int) {
	n := numberLength(text)
	word := wordLength(text)
	switch {
	case n > 0 && n >= word:
		return Number, n
	case word > 0:
		return Word, word
	default:
		return Symbol, 1
	}
}

// numberLength gives the length of the number that text begins with and that no letter or digit follows, or 0.
func numberLength(text string) int {
	whole := digits(text)
	n, plain := whole, true
	if n < len(text) && text[n] == '.' {
		fraction := n + 1 + digits(text[n+1:])
		if m := numberTail(text, fraction, false); m > 0 {
			return m
		}
		if n == 0 {
			return 0
		}
		return whole
	}
	return numberTail(text, n, plain)
}

// numberTail takes exponent and suffix after n bytes, and gives the whole length if a number ends there.
func numberTail(text string, n int, plain bool) int {
	if m := exponent(text[n:]); m > 0 {
		n, plain = n+m, false
	}
	for _, s := range suffixes {
		if s.whole && !plain || len(text)-n < len(s.suffix) || !strings.EqualFold(text[n:n+len(s.suffix)], s.suffix) {
			continue
		}
		if end := n + len(s.suffix); wordLength(text[end:]) == 0 {
			return end
		}
	}
	if wordLength(text[n:]) > 0 {
		return 0
	}
	return n
}

// exponent gives the length of e, a sign and digits, or 0.
func exponent(text string) int {
	if text == "" || text[0] != 'e' && text[0] != 'E' {
		return 0
	}
	n := 1
	if n < len(text) && (text[n] == '+' || text[n] == '-') {
		n++
	}
	d := digits(text[n:])
	if d == 0 {
		return 0
	}
	return n + d
}

func digits(text string) int {
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return n
}

// numeric splits a Number token into its kind and its digits.
func numeric(text string) (Kind, string) {
	for _, s := range suffixes {
		if n := len(text) - len(s.suffix); n > 0 && strings.EqualFold(text[n:], s.suffix) {
			return s.kind, text[:n]
		}
	}
	switch {
	case strings.ContainsAny(text, "eE"):
		return Double, text
	case strings.Contains(text, "."):
		return Decimal, text
	default:
		return Integer, text
	}
}
