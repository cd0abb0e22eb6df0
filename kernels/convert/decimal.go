package convert

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// DecimalOf checks that a leaf is a decimal of the target's scale: widening keeps the scale. check is the precision its values have to be
// tested for, where the file allows more digits than the target.
func DecimalOf(c *schema.Column, t *arrow.Decimal128Type) (check int32, ok bool) {
	d, isDecimal := c.LogicalType().(schema.DecimalLogicalType)
	if !isDecimal || d.Scale() != t.Scale {
		return 0, false
	}
	if d.Precision() > t.Precision {
		check = t.Precision
	}
	return check, true
}

// fits tests a decimal's digits, if there is anything to test.
func fits(low, high uint64, check int32) bool {
	return check == 0 || decimal128.New(int64(high), low).FitsInPrecision(check)
}

func fromDecimalInt(c *schema.Column, target arrow.DataType) (Fixed, bool) {
	t, ok := target.(*arrow.Decimal128Type)
	if !ok {
		return nil, false
	}
	check, ok := DecimalOf(c, t)
	if c.PhysicalType() == parquet.Types.Int32 {
		return decimalsFrom4(check), ok
	}
	return decimalsFrom8(check), ok
}

func decimalsFrom4(check int32) Fixed {
	return func(out, in []byte) int {
		for i, to := 0, cast[[2]uint64](out); i < len(to); i++ {
			n := int64(int32(binary.LittleEndian.Uint32(in[4*i:])))
			to[i] = [2]uint64{uint64(n), uint64(n >> 63)}
			if !fits(uint64(n), uint64(n>>63), check) {
				return i
			}
		}
		return -1
	}
}

func decimalsFrom8(check int32) Fixed {
	if check == 0 {
		return extendDecimals
	}
	return func(out, in []byte) int {
		for i, to := 0, cast[[2]uint64](out); i < len(to); i++ {
			n := int64(binary.LittleEndian.Uint64(in[8*i:]))
			to[i] = [2]uint64{uint64(n), uint64(n >> 63)}
			if !fits(uint64(n), uint64(n>>63), check) {
				return i
			}
		}
		return -1
	}
}

// extendDecimals extends the signs of numbers that all fit.
func extendDecimals(out, in []byte) int {
	to := cast[[2]uint64](out)
	in = in[:8*len(to)]
	for i := range to {
		n := int64(binary.LittleEndian.Uint64(in))
		to[i] = [2]uint64{uint64(n), uint64(n >> 63)}
		in = in[8:]
	}
	return -1
}

// Decimals reads big-endian two's complement numbers of one width in bytes. check is a precision to test, or 0.
func Decimals(width int, check int32) Fixed {
	if check == 0 && width <= 8 {
		return func(out, in []byte) int { return narrowDecimals(out, in, width) }
	}
	text := Decimal(check)
	return func(out, in []byte) int {
		for i := range len(out) / 16 {
			if !text(out[16*i:16*i+16], in[i*width:i*width+width]) {
				return i
			}
		}
		return -1
	}
}

// narrowDecimals reads numbers of up to eight bytes from the word that they begin, except for the last ones, behind which there is none.
func narrowDecimals(out, in []byte, width int) int {
	to, shift := cast[[2]uint64](out), uint(64-8*width)&63
	i, at := 0, 0
	for ; i < len(to) && at+8 <= len(in); i++ {
		n := int64(binary.BigEndian.Uint64(in[at:])) >> shift
		to[i] = [2]uint64{uint64(n), uint64(n >> 63)}
		at += width
	}
	for ; i < len(to); i++ {
		n := int64(int8(in[at]))
		for _, c := range in[at+1 : at+width] {
			n = n<<8 | int64(c)
		}
		to[i] = [2]uint64{uint64(n), uint64(n >> 63)}
		at += width
	}
	return -1
}

// Decimal reads a big-endian two's complement number of any length, if it fits 16 bytes and the precision check, unless that is 0. No bytes
// are 0.
func Decimal(check int32) func(out, in []byte) bool {
	return func(out, in []byte) bool {
		low, high, ok := BigEndian(in)
		binary.NativeEndian.PutUint64(out, low)
		binary.NativeEndian.PutUint64(out[8:], high)
		return ok && fits(low, high, check)
	}
}

// BigEndian reads a two's complement number as two words, if it fits them.
func BigEndian(b []byte) (low, high uint64, ok bool) {
	var fill byte
	if len(b) > 0 && b[0]&0x80 != 0 {
		fill = 0xff
	}
	for len(b) > 16 {
		if b[0] != fill || (b[1]^fill)&0x80 != 0 {
			return 0, 0, false
		}
		b = b[1:]
	}
	if len(b) == 16 {
		return binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b), true
	}
	low = uint64(int64(int8(fill)))
	high = low
	for _, c := range b {
		high = high<<8 | low>>56
		low = low<<8 | uint64(c)
	}
	return low, high, true
}
