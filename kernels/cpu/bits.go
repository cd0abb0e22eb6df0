package cpu

import (
	"encoding/binary"
	"math/bits"
)

// copyBits copies n bits from bit from of src to bit at of out, and says how many of them are 1. The other bits of out stay.
func copyBits(out []byte, at int, src []byte, from, n int) (ones int) {
	if head := at & 7; head != 0 && n > 0 {
		k := min(8-head, n)
		v := byte(bits64(src, from)) & (1<<k - 1)
		mask := byte(1<<k-1) << head
		out[at>>3] = out[at>>3]&^mask | v<<head
		ones = bits.OnesCount8(v)
		at, from, n = at+k, from+k, n-k
	}
	for ; n >= 64; n -= 64 {
		v := bits64(src, from)
		binary.LittleEndian.PutUint64(out[at>>3:], v)
		ones += bits.OnesCount64(v)
		at, from = at+64, from+64
	}
	if n == 0 {
		return ones
	}
	v := bits64(src, from) & (1<<n - 1)
	ones += bits.OnesCount64(v)
	for ; n >= 8; n -= 8 {
		out[at>>3] = byte(v)
		at, v = at+8, v>>8
	}
	if n > 0 {
		mask := byte(1<<n - 1)
		out[at>>3] = out[at>>3]&^mask | byte(v)
	}
	return ones
}

// countBits counts the bits that are 1 among n from bit from on.
func countBits(src []byte, from, n int) (ones int) {
	for ; n >= 64; n -= 64 {
		ones += bits.OnesCount64(bits64(src, from))
		from += 64
	}
	if n > 0 {
		ones += bits.OnesCount64(bits64(src, from) & (1<<n - 1))
	}
	return ones
}

// bits64 reads 64 bits from bit from on, or those there are.
func bits64(src []byte, from int) uint64 {
	b, shift := src[from>>3:], uint(from&7)
	v := word(b) >> shift
	if shift > 0 && len(b) > 8 {
		v |= uint64(b[8]) << (64 - shift)
	}
	return v
}

// spread moves the first present values of v to where valid has a bit, counted from bit at, the last one first; other places become 0.
func spread[T uint32 | uint64](v []T, present int, valid []byte, at int) {
	j := present - 1
	for i := len(v) - 1; i > j; i-- {
		bit := uint(at + i)
		on := valid[bit>>3] >> (bit & 7) & 1
		v[i] = v[max(j, 0)] & -T(on)
		j -= int(on)
	}
}

func spreadWide(v [][2]uint64, present int, valid []byte, at int) {
	j := present - 1
	for i := len(v) - 1; i > j; i-- {
		bit := uint(at + i)
		on := valid[bit>>3] >> (bit & 7) & 1
		from, mask := &v[max(j, 0)], -uint64(on)
		v[i] = [2]uint64{from[0] & mask, from[1] & mask}
		j -= int(on)
	}
}

func spreadBytes(b []byte, width, present int, valid []byte, at int) {
	j := present - 1
	for i := len(b)/width - 1; i > j; i-- {
		to, bit := b[i*width:(i+1)*width], uint(at+i)
		if valid[bit>>3]>>(bit&7)&1 == 0 {
			clear(to)
			continue
		}
		copy(to, b[j*width:(j+1)*width])
		j--
	}
}

// spreadBits does so with booleans, the first of which is bit first of b.
func spreadBits(b []byte, first, present, slots int, valid []byte, at int) {
	j := uint(first + present - 1)
	for i := slots - 1; i >= 0; i-- {
		bit, to := uint(at+i), uint(first+i)
		on := valid[bit>>3] >> (bit & 7) & 1
		v := on
		if on == 1 { // else j may be in front of everything
			v = b[j>>3] >> (j & 7) & 1
		}
		b[to>>3] = b[to>>3]&^(1<<(to&7)) | v<<(to&7)
		j -= uint(on)
	}
}

// one is 1 for true, without a branch.
func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
