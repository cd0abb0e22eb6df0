//go:build cgo

package duckdb

import (
	"strings"
	"unicode/utf8"

	"github.com/skua-data/skua/fault"
)

// utf8Functions are those about bytes that should be texts; of texts, all are.
var utf8Functions = []scalar{
	rowFunction("skua_valid_utf8", []int{typeBlob}, typeBoolean, func(r *row) error { r.give(utf8.Valid(r.bytes(0))); return nil }),
	rowFunction("skua_make_utf8", []int{typeBlob}, typeVarchar, func(r *row) error { r.give(repairedUTF8(r.bytes(0))); return nil }),
	rowFunction("skua_validated_utf8", []int{typeBlob, typeBoolean}, typeVarchar, func(r *row) error {
		b := r.bytes(0)
		switch {
		case utf8.Valid(b):
			r.give(string(b))
		case !r.truth(1):
			return fault.New(fault.Invalid, "Invalid UTF8 byte sequence found in string.").With("INVALID_UTF8_STRING", "22029")
		}
		return nil
	}),
}

// repairedUTF8 puts U+FFFD in the place of bytes that are no characters, one for as many as could begin one.
func repairedUTF8(b []byte) string {
	var out strings.Builder
	for len(b) > 0 {
		c, n := utf8.DecodeRune(b)
		if c == utf8.RuneError && n < 2 {
			n = beginningOfRune(b)
		}
		out.WriteRune(c)
		b = b[n:]
	}
	return out.String()
}

// beginningOfRune gives how many bytes could go on to be a character: at least 1.
func beginningOfRune(b []byte) int {
	for n := min(3, len(b)); n > 1; n-- {
		for _, more := range []string{"\x80", "\xBF", "\x80\x80", "\xBF\xBF"} {
			if utf8.ValidString(string(b[:n])+more) && utf8.RuneCountInString(string(b[:n])+more) == 1 {
				return n
			}
		}
	}
	return 1
}
