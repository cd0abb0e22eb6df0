//go:build cgo

package duckdb

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/skua-data/skua/fault"
)

// bitmapBytes is how many bytes a bitmap of Spark's has.
const bitmapBytes = 4096

// bitmapFunctions are those of bitmaps, whose bits count from the lowest one of each byte.
var bitmapFunctions = []scalar{
	rowFunction("skua_bitmap_count", []int{typeBlob}, typeBigint, func(r *row) error {
		n := int64(0)
		for _, b := range r.bytes(0) {
			n += int64(bits.OnesCount8(b))
		}
		r.give(n)
		return nil
	}),
	rowFunction("skua_bitmap_whole", []int{typeBlob}, typeBlob, func(r *row) error {
		b := r.bytes(0)
		r.give(append(slices.Clone(b[:min(len(b), bitmapBytes)]), make([]byte, bitmapBytes-min(len(b), bitmapBytes))...))
		return nil
	}),
	rowFunction("skua_bitmap_filled", []int{typeInteger}, typeBlob, func(r *row) error {
		r.give(bytes.Repeat([]byte{byte(r.whole(0))}, bitmapBytes))
		return nil
	}),
	rowFunction("skua_bitmap_place", []int{typeBigint}, typeBigint, func(r *row) error {
		n := r.whole(0)
		if n < 0 || n >= 8*bitmapBytes {
			return fault.New(fault.Invalid, "The 0-indexed bitmap position %d is out of bounds. The bitmap has %d bits (%d bytes).", n, 8*bitmapBytes, bitmapBytes).With("INVALID_BITMAP_POSITION", "22003")
		}
		r.give(n)
		return nil
	}),
	rowFunction("skua_bits_reversed", []int{typeBlob}, typeBlob, func(r *row) error {
		b := slices.Clone(r.bytes(0))
		for i := range b {
			b[i] = bits.Reverse8(b[i])
		}
		r.give(b)
		return nil
	}),
}

// bitmapMacros say where a number is in the bitmaps of numbers that are parted into buckets.
var bitmapMacros = []string{
	`CREATE MACRO skua_bit_position(n) AS CAST(CASE WHEN n > 0 THEN (n - 1) % 32768 ELSE (-CAST(n AS HUGEINT)) % 32768 END AS BIGINT)`,
	`CREATE MACRO skua_bit_bucket(n) AS CAST(CASE WHEN n > 0 THEN 1 + (n - 1) // 32768 ELSE n // 32768 END AS BIGINT)`,
}
