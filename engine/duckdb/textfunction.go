//go:build cgo

package duckdb

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/skua-data/skua/engine/duckdb/dialect"
	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/fault"
)

// maxPattern bounds the patterns of LIKE that come from rows, in bytes: the time of a match grows with the text times its pattern.
const maxPattern = 1000

// textFunctions are Spark's functions of texts that the engine lacks or has with other values.
var textFunctions = []scalar{
	rowFunction("skua_pattern", []int{typeVarchar}, typeVarchar, func(r *row) error {
		if len(r.text(0)) > maxPattern {
			return fault.New(fault.Exhausted, "LIKE takes patterns of at most %d bytes where they are no literals", maxPattern)
		}
		r.give(r.text(0))
		return nil
	}),
	rowFunction("skua_caseless", []int{typeBoolean, typeVarchar}, typeVarchar, func(r *row) error {
		r.give(dialect.FoldedRegex(r.text(1), r.truth(0)))
		return nil
	}),
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
	rowFunction("skua_padded_bytes", []int{typeVarchar, typeBlob, typeBigint, typeBlob}, typeBlob, func(r *row) error {
		n := max(r.whole(2), 0)
		b := r.bytes(1)[:min(int64(len(r.bytes(1))), n)]
		var pad []byte
		for more := r.bytes(3); len(more) > 0 && int64(len(b)+len(pad)) < n; {
			pad = append(pad, more[:min(int64(len(more)), n-int64(len(b)+len(pad)))]...)
		}
		if r.text(0) == "left" {
			r.give(append(pad, b...))
			return nil
		}
		r.give(append(append([]byte{}, b...), pad...))
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
		r.give(sparktext.Upper(r.text(0)))
		return nil
	}),
	rowFunction("skua_lower", []int{typeVarchar}, typeVarchar, func(r *row) error {
		r.give(sparktext.Lower(r.text(0)))
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
