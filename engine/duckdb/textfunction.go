//go:build cgo

package duckdb

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"math/big"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skua-data/skua/fault"
)

// textFunctions are Spark's functions of texts that the engine lacks or has with other values.
var textFunctions = []scalar{
	rowFunction("skua_part_before", []int{typeVarchar, typeVarchar, typeBigint}, typeVarchar, partBeforeCall),
	rowFunction("skua_split_part", []int{typeVarchar, typeVarchar, typeBigint}, typeVarchar, splitPartCall),
	rowFunction("skua_overlay", []int{typeVarchar, typeVarchar, typeBigint, typeBigint}, typeVarchar, func(r *row) error {
		runes := []rune(r.text(0))
		before, after := overlaid(len(runes), utf8.RuneCountInString(r.text(1)), r.whole(2), r.whole(3))
		r.give(string(runes[:before]) + r.text(1) + string(runes[after:]))
		return nil
	}),
	rowFunction("skua_overlay", []int{typeBlob, typeBlob, typeBigint, typeBigint}, typeBlob, func(r *row) error {
		before, after := overlaid(len(r.bytes(0)), len(r.bytes(1)), r.whole(2), r.whole(3))
		r.give(append(append(append([]byte{}, r.bytes(0)[:before]...), r.bytes(1)...), r.bytes(0)[after:]...))
		return nil
	}),
	rowFunction("skua_soundex", []int{typeVarchar}, typeVarchar, func(r *row) error { r.give(soundex(r.text(0))); return nil }),
	rowFunction("skua_mask", []int{typeVarchar, typeVarchar, typeVarchar, typeVarchar, typeVarchar}, typeVarchar, maskCall),
	rowFunction("skua_quote", []int{typeVarchar}, typeVarchar, func(r *row) error {
		r.give("'" + strings.ReplaceAll(r.text(0), "'", `\'`) + "'")
		return nil
	}),
	rowFunction("skua_luhn", []int{typeVarchar}, typeBoolean, func(r *row) error { r.give(luhn(r.text(0))); return nil }),
	rowFunction("skua_sha2", []int{typeBlob, typeInteger}, typeVarchar, sha2Call),
	rowFunction("skua_conv", []int{typeVarchar, typeInteger, typeInteger}, typeVarchar, convCall),
	rowFunction("skua_unhex", []int{typeVarchar}, typeBlob, func(r *row) error {
		if raw, ok := unhexed(r.text(0)); ok {
			r.give(raw)
		}
		return nil
	}),
	rowFunction("skua_url_encode", []int{typeVarchar}, typeVarchar, func(r *row) error {
		r.give(strings.NewReplacer("~", "%7E", "%2A", "*").Replace(url.QueryEscape(r.text(0))))
		return nil
	}),
	rowFunction("skua_url_decode", []int{typeVarchar, typeBoolean}, typeVarchar, urlDecodeCall),
	rowFunction("skua_upper", []int{typeVarchar}, typeVarchar, func(r *row) error {
		r.give(strings.ToUpper(strings.ReplaceAll(r.text(0), "ß", "SS")))
		return nil
	}),
	rowFunction("skua_lower", []int{typeVarchar}, typeVarchar, func(r *row) error {
		r.give(strings.ToLower(strings.ReplaceAll(r.text(0), "İ", "i\u0307")))
		return nil
	}),
	rowFunction("skua_title", []int{typeVarchar}, typeVarchar, func(r *row) error { r.give(titled(r.text(0))); return nil }),
	rowFunction("skua_chr", []int{typeBigint}, typeVarchar, func(r *row) error {
		n := r.whole(0)
		switch {
		case n < 0:
			r.give("")
		default:
			r.give(string(rune(n & 0xFF)))
		}
		return nil
	}),
}

// partBeforeCall gives what is before the nth delimiter, or behind the nth from the end. Delimiters may overlap.
func partBeforeCall(r *row) error {
	s, d, n := r.text(0), r.text(1), r.whole(2)
	if d == "" || n == 0 {
		r.give("")
		return nil
	}
	if n > 0 {
		at := -1
		for ; n > 0; n-- {
			next := strings.Index(s[at+1:], d)
			if next < 0 {
				r.give(s)
				return nil
			}
			at += 1 + next
		}
		r.give(s[:at])
		return nil
	}
	end := len(s)
	for at := len(s) + 1; n < 0; n++ {
		from := min(len(s), at-1+len(d)-1)
		if at = strings.LastIndex(s[:max(from, 0)], d); at < 0 {
			r.give(s)
			return nil
		}
		end = at + len(d)
	}
	r.give(s[end:])
	return nil
}

func splitPartCall(r *row) error {
	n := r.whole(2)
	if n == 0 {
		return fault.New(fault.Invalid, "The index 0 is invalid. An index shall be either < 0 or > 0 (the first element has index 1).").With("INVALID_INDEX_OF_ZERO", "22003")
	}
	parts := []string{r.text(0)}
	if d := r.text(1); d != "" {
		parts = strings.Split(r.text(0), d)
	}
	if n < 0 {
		n += int64(len(parts)) + 1
	}
	if n < 1 || n > int64(len(parts)) {
		r.give("")
		return nil
	}
	r.give(parts[n-1])
	return nil
}

// overlaid gives where what is replaced begins and ends, in a text of a length. A negative count is the length of what comes.
func overlaid(length, coming int, position, count int64) (before, after int) {
	if count < 0 {
		count = int64(coming)
	}
	before = int(min(max(position-1, 0), int64(length)))
	return before, int(min(max(position-1+count, int64(before)), int64(length)))
}

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
	r.give(strings.Map(func(c rune) rune {
		kind := 3
		switch {
		case unicode.IsUpper(c):
			kind = 0
		case unicode.IsLower(c):
			kind = 1
		case unicode.IsDigit(c):
			kind = 2
		}
		if masks[kind] < 0 {
			return c
		}
		return masks[kind]
	}, r.text(0)))
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

func sha2Call(r *row) error {
	b := r.bytes(0)
	switch r.whole(1) {
	case 0, 256:
		sum := sha256.Sum256(b)
		r.give(hex.EncodeToString(sum[:]))
	case 224:
		sum := sha256.Sum224(b)
		r.give(hex.EncodeToString(sum[:]))
	case 384:
		sum := sha512.Sum384(b)
		r.give(hex.EncodeToString(sum[:]))
	case 512:
		sum := sha512.Sum512(b)
		r.give(hex.EncodeToString(sum[:]))
	}
	return nil
}

// convCall writes a number of one base in another. What follows its digits is left out; a negative base is one of signed numbers.
func convCall(r *row) error {
	s, from, to := strings.Trim(r.text(0), " "), r.whole(1), r.whole(2)
	outside := func(b int64) bool { return b < 2 || b > 36 }
	if s == "" || outside(max(from, -from)) || outside(max(to, -to)) {
		return nil
	}
	negative := s[0] == '-'
	s = strings.TrimPrefix(s, "-")
	end := strings.IndexFunc(s, func(c rune) bool { return digitOf(c) >= max(from, -from) })
	if end >= 0 {
		s = s[:end]
	}
	n := new(big.Int)
	if s != "" {
		n.SetString(s, int(max(from, -from)))
	}
	if !n.IsUint64() {
		return fault.New(fault.Invalid, "Overflow in function conv(). If necessary set \"spark.sql.ansi.enabled\" to \"false\" to bypass this error.").With("ARITHMETIC_OVERFLOW", "22003")
	}
	v := n.Uint64()
	if negative {
		v = -v
	}
	if to < 0 && int64(v) < 0 {
		r.give("-" + strings.ToUpper(new(big.Int).SetUint64(-v).Text(int(-to))))
		return nil
	}
	r.give(strings.ToUpper(new(big.Int).SetUint64(v).Text(int(max(to, -to)))))
	return nil
}

func digitOf(c rune) int64 {
	switch {
	case c >= '0' && c <= '9':
		return int64(c - '0')
	case c >= 'a' && c <= 'z':
		return int64(c-'a') + 10
	case c >= 'A' && c <= 'Z':
		return int64(c-'A') + 10
	}
	return 99
}

// unhexed reads hexadecimal digits; an odd number of them lacks the first.
func unhexed(s string) ([]byte, bool) {
	if len(s)%2 == 1 {
		s = "0" + s
	}
	raw, err := hex.DecodeString(s)
	return raw, err == nil
}

func urlDecodeCall(r *row) error {
	text, err := url.QueryUnescape(r.text(0))
	switch {
	case err == nil:
		r.give(strings.ToValidUTF8(text, "\uFFFD"))
	case !r.truth(1):
		return fault.New(fault.Invalid, "The provided URL cannot be decoded: %s. Please ensure that the URL is properly formatted and try again.", r.text(0)).With("CANNOT_DECODE_URL", "22546")
	}
	return nil
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
