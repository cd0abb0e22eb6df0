package sparktext

import "unicode/utf8"

// Trim drops white space and control characters at both ends, as Spark does before it casts a text.
func Trim(s string) string {
	from, to := 0, len(s)
	for from < to && isControl(s[from]) {
		from++
	}
	for to > from && isControl(s[to-1]) {
		to--
	}
	return s[from:to]
}

func isControl(c byte) bool { return c <= ' ' || c == 0x7f }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// digits gives the number that the first digits of s are, from least to most of them, and what follows; false: there are fewer. Digits beyond most are what follows.
func digits(s string, least, most int) (n int64, rest string, ok bool) {
	i := 0
	for i < len(s) && i < most && isDigit(s[i]) {
		n = n*10 + int64(s[i]-'0')
		i++
	}
	return n, s[i:], i >= least
}

// fold reports whether s is a word in lower case, whatever its own case.
func fold(s, word string) bool {
	if len(s) != len(word) {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

func foldAny(s string, words ...string) bool {
	for _, w := range words {
		if fold(s, w) {
			return true
		}
	}
	return false
}

// AppendValid adds bytes as text: each that is none is U+FFFD.
func AppendValid(b []byte, s string) []byte {
	if utf8.ValidString(s) {
		return append(b, s...)
	}
	for _, r := range s {
		b = utf8.AppendRune(b, r)
	}
	return b
}
