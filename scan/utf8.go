package scan

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// textIsValid says whether all text in an array, at any depth, is UTF-8. Arrow promises that, and clients break where it is not so.
func textIsValid(a arrow.Array) bool {
	switch a := a.(type) {
	case *array.String:
		return stringsAreValid(a)
	case *array.Struct:
		for i := range a.NumField() {
			if !textIsValid(a.Field(i)) {
				return false
			}
		}
	case *array.Map:
		return textIsValid(a.ListValues())
	case *array.List:
		return textIsValid(a.ListValues())
	}
	return true
}

// stringsAreValid looks at the bytes as one piece, and at each value alone only where some are not ASCII.
func stringsAreValid(a *array.String) bool {
	if a.Len() == 0 || a.NullN() == a.Len() || isASCII(a.ValueBytes()) {
		return true
	}
	for i := range a.Len() {
		if a.IsValid(i) && !utf8.ValidString(a.Value(i)) {
			return false
		}
	}
	return true
}

func isASCII(b []byte) bool {
	const high = 0x8080808080808080
	for ; len(b) >= 32; b = b[32:] {
		if (binary.NativeEndian.Uint64(b)|binary.NativeEndian.Uint64(b[8:])|binary.NativeEndian.Uint64(b[16:])|binary.NativeEndian.Uint64(b[24:]))&high != 0 {
			return false
		}
	}
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}
