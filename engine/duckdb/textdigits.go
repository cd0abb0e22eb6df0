//go:build cgo

package duckdb

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"math/big"
	"net/url"
	"strings"

	"github.com/skua-data/skua/fault"
)

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
