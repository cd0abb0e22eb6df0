package ptxsim

import "math/bits"

// bitOp computes the operations on bits and bytes.
func bitOp(in *instr, a, b, c uint64) uint64 {
	n := in.bits
	switch in.op {
	case opPopc:
		return uint64(bits.OnesCount64(a))
	case opClz:
		return uint64(bits.LeadingZeros64(a) - (64 - int(n)))
	case opBrev:
		return bits.Reverse64(a) >> (64 - n)
	case opBfind:
		return findBit(in, a)
	case opBfe:
		return extractField(a, b&255, c&255, n, in.kind == kS)
	case opShfL, opShfR:
		s := c & 31
		if in.sub == "clamp" {
			s = min(c, 32)
		}
		if in.op == opShfL {
			return (b<<32 | a) << s >> 32
		}
		return (b<<32 | a) >> s
	case opPrmt:
		return permute(b<<32|a, c)
	case opLop3:
		return lookup3(a, b, c, in.imm)
	}
	panic("instruction " + in.text) // Parse decodes no others
}

func findBit(in *instr, a uint64) uint64 {
	n := in.bits
	if in.kind == kS && sext(a, n) < 0 {
		a = ^a & mask64[n]
	}
	if a == 0 {
		return 0xffffffff
	}
	p := 63 - bits.LeadingZeros64(a)
	if in.sub == "shiftamt" {
		return uint64(int(n) - 1 - p)
	}
	return uint64(p)
}

func extractField(a, pos, length uint64, n uint8, signed bool) uint64 {
	v, top := uint64(0), uint64(n)-1
	if pos < uint64(n) {
		v = a >> pos
	}
	if length < uint64(n) {
		v &= 1<<length - 1
	}
	if !signed || length == 0 {
		return v
	}
	if sign := min(pos+length-1, top); a>>sign&1 != 0 {
		have := sign - min(pos, sign) + 1
		if pos > top {
			have = 0
		}
		v |= ^uint64(0) << have
	}
	return v
}

func insertField(a, b, pos, length uint64, n uint8) uint64 {
	pos, length = pos&255, length&255
	if pos >= uint64(n) || length == 0 {
		return b
	}
	field := mask64[min(length, uint64(n)-pos)] << pos
	return (b&^field | a<<pos&field) & mask64[n]
}

// permute picks four of eight bytes; a selector's high bit spreads the byte's sign.
func permute(v, selectors uint64) (out uint64) {
	for k := range 4 {
		s := selectors >> (4 * k) & 15
		x := v >> (8 * (s & 7)) & 255
		if s&8 != 0 {
			x = uint64(uint8(int8(x) >> 7))
		}
		out |= x << (8 * k)
	}
	return out
}

// lookup3 looks up three bits in a table of eight, for all bits.
func lookup3(a, b, c uint64, table uint32) (out uint64) {
	for k := range 8 {
		if table>>k&1 != 0 {
			out |= pick(k&4 != 0, a, ^a) & pick(k&2 != 0, b, ^b) & pick(k&1 != 0, c, ^c)
		}
	}
	return out
}
