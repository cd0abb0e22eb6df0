package cpu

import "encoding/binary"

// unpack unpacks values of width bits, least significant first, eight at a time: len(out) is a multiple of 8, b holds all of them, and
// width is at most 32.
func unpack(out []uint32, b []byte, width int) {
	switch {
	case width == 0:
		clear(out)
	case width == 8:
		for i := range out {
			out[i] = uint32(b[i])
		}
	case width == 16:
		for i := range out {
			out[i] = uint32(binary.LittleEndian.Uint16(b[2*i:]))
		}
	case width < 8:
		unpackNarrow(out, b, width)
	case width < 16:
		unpackMiddle(out, b, width)
	default:
		unpackWide(out, b, width)
	}
}

// unpackNarrow unpacks up to 8 bits: eight values lie in one word.
func unpackNarrow(out []uint32, b []byte, width int) {
	w := uint(width) & 7
	mask := uint32(1)<<w - 1
	for len(out) >= 8 {
		v := word(b)
		o := out[:8:8]
		o[0] = uint32(v) & mask
		v >>= w
		o[1] = uint32(v) & mask
		v >>= w
		o[2] = uint32(v) & mask
		v >>= w
		o[3] = uint32(v) & mask
		v >>= w
		o[4] = uint32(v) & mask
		v >>= w
		o[5] = uint32(v) & mask
		v >>= w
		o[6] = uint32(v) & mask
		v >>= w
		o[7] = uint32(v) & mask
		out, b = out[8:], b[width:]
	}
}

// unpackMiddle unpacks 9 to 15 bits: four values lie in one word, at most four bits from where it begins.
func unpackMiddle(out []uint32, b []byte, width int) {
	w := uint(width) & 15
	mask := uint32(1)<<w - 1
	half, shift := width/2, uint(width&1)*4
	for len(out) >= 8 {
		v, u := word(b), word(b[half:])>>shift
		o := out[:8:8]
		o[0], o[4] = uint32(v)&mask, uint32(u)&mask
		v, u = v>>w, u>>w
		o[1], o[5] = uint32(v)&mask, uint32(u)&mask
		v, u = v>>w, u>>w
		o[2], o[6] = uint32(v)&mask, uint32(u)&mask
		v, u = v>>w, u>>w
		o[3], o[7] = uint32(v)&mask, uint32(u)&mask
		out, b = out[8:], b[width:]
	}
}

// unpackWide unpacks 17 to 32 bits: each value lies in the word that its first byte begins.
func unpackWide(out []uint32, b []byte, width int) {
	w := uint(width) & 63
	mask := uint32(1<<w - 1)
	for len(out) >= 8 && len(b) >= width+8 {
		o, in := out[:8:8], b[:w+8]
		o[0] = uint32(binary.LittleEndian.Uint64(in)) & mask
		o[1] = uint32(binary.LittleEndian.Uint64(in[w>>3:])>>(w&7)) & mask
		o[2] = uint32(binary.LittleEndian.Uint64(in[2*w>>3:])>>(2*w&7)) & mask
		o[3] = uint32(binary.LittleEndian.Uint64(in[3*w>>3:])>>(3*w&7)) & mask
		o[4] = uint32(binary.LittleEndian.Uint64(in[4*w>>3:])>>(4*w&7)) & mask
		o[5] = uint32(binary.LittleEndian.Uint64(in[5*w>>3:])>>(5*w&7)) & mask
		o[6] = uint32(binary.LittleEndian.Uint64(in[6*w>>3:])>>(6*w&7)) & mask
		o[7] = uint32(binary.LittleEndian.Uint64(in[7*w>>3:])>>(7*w&7)) & mask
		out, b = out[8:], b[width:]
	}
	for i := range out {
		out[i] = uint32(bitsAt(b, i, width))
	}
}

// word reads eight bytes, or those there are.
func word(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.LittleEndian.Uint64(b)
	}
	var v uint64
	for i, c := range b {
		v |= uint64(c) << (8 * uint(i))
	}
	return v
}

// bitsAt gives the value at index i of values of width bits, up to 64.
func bitsAt(b []byte, i, width int) uint64 {
	bit := i * width
	b = b[bit>>3:]
	shift := uint(bit & 7)
	v := word(b) >> shift
	if int(shift)+width > 64 && len(b) > 8 {
		v |= uint64(b[8]) << (64 - shift)
	}
	if width < 64 {
		v &= 1<<uint(width) - 1
	}
	return v
}
