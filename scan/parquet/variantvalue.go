package parquet

import (
	"encoding/binary"
	"math"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/variant"
)

// encoder appends a primitive as a variant's value.
type encoder func(out []byte, a arrow.Array, i int) []byte

// The primitive types of a variant's value.
const (
	codeTrue              = 1
	codeFalse             = 2
	codeInt8              = 3
	codeInt16             = 4
	codeInt32             = 5
	codeInt64             = 6
	codeDouble            = 7
	codeDecimal4          = 8
	codeDecimal8          = 9
	codeDecimal16         = 10
	codeDate              = 11
	codeTimestamp         = 12
	codeTimestampNTZ      = 13
	codeFloat             = 14
	codeBinary            = 15
	codeString            = 16
	codeTime              = 17
	codeTimestampNanos    = 18
	codeTimestampNanosNTZ = 19
	codeUUID              = 20
)

// The kinds of values that are no primitives, in the lowest two bits.
const (
	basicShort  = 1
	basicObject = 2
	basicArray  = 3
)

const shortMost = 63 // bytes of a short text

var variantNull = []byte{0}

func encodeBoolean(out []byte, a arrow.Array, i int) []byte {
	if a.(*array.Boolean).Value(i) {
		return append(out, codeTrue<<2)
	}
	return append(out, codeFalse<<2)
}

func encodeInt8(out []byte, a arrow.Array, i int) []byte {
	return append(out, codeInt8<<2, byte(a.(*array.Int8).Value(i)))
}

func encodeInt16(out []byte, a arrow.Array, i int) []byte {
	return binary.LittleEndian.AppendUint16(append(out, codeInt16<<2), uint16(a.(*array.Int16).Value(i)))
}

func encodeInt32(out []byte, a arrow.Array, i int) []byte {
	return binary.LittleEndian.AppendUint32(append(out, codeInt32<<2), uint32(a.(*array.Int32).Value(i)))
}

func encodeInt64(out []byte, a arrow.Array, i int) []byte {
	return binary.LittleEndian.AppendUint64(append(out, codeInt64<<2), uint64(a.(*array.Int64).Value(i)))
}

func encodeDouble(out []byte, a arrow.Array, i int) []byte {
	return binary.LittleEndian.AppendUint64(append(out, codeDouble<<2), math.Float64bits(a.(*array.Float64).Value(i)))
}

func encodeFloat(out []byte, a arrow.Array, i int) []byte {
	return binary.LittleEndian.AppendUint32(append(out, codeFloat<<2), math.Float32bits(a.(*array.Float32).Value(i)))
}

func encodeDecimal(code byte, width int, scale int32) encoder {
	return func(out []byte, a arrow.Array, i int) []byte {
		v := a.(*array.Decimal128).Value(i)
		raw := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, v.LowBits()), uint64(v.HighBits()))
		return append(append(out, code<<2, byte(scale)), raw[:width]...)
	}
}

func encodeDate(out []byte, a arrow.Array, i int) []byte {
	return binary.LittleEndian.AppendUint32(append(out, codeDate<<2), uint32(a.(*array.Date32).Value(i)))
}

func encodeTime(out []byte, a arrow.Array, i int) []byte {
	return binary.LittleEndian.AppendUint64(append(out, codeTime<<2), uint64(a.(*array.Time64).Value(i)))
}

func encodeTimestamp(code byte) encoder {
	return func(out []byte, a arrow.Array, i int) []byte {
		return binary.LittleEndian.AppendUint64(append(out, code<<2), uint64(a.(*array.Timestamp).Value(i)))
	}
}

func encodeString(out []byte, a arrow.Array, i int) []byte {
	v := a.(*array.String).Value(i)
	if len(v) <= shortMost {
		return append(append(out, byte(len(v))<<2|basicShort), v...)
	}
	return append(binary.LittleEndian.AppendUint32(append(out, codeString<<2), uint32(len(v))), v...)
}

func encodeBinary(out []byte, a arrow.Array, i int) []byte {
	v := a.(*array.Binary).Value(i)
	return append(binary.LittleEndian.AppendUint32(append(out, codeBinary<<2), uint32(len(v))), v...)
}

func encodeUUID(out []byte, a arrow.Array, i int) []byte {
	return append(append(out, codeUUID<<2), a.(*array.FixedSizeBinary).Value(i)...)
}

// part is a field of an object: the name, its number in the metadata, its value.
type part struct {
	name   string
	number int
	value  []byte
}

// appendObject writes an object; fields are in the order of their names, as the format wants it.
func appendObject(out []byte, parts []part) []byte {
	sort.Slice(parts, func(i, j int) bool { return parts[i].name < parts[j].name })
	total, most := 0, 0
	for _, p := range parts {
		total, most = total+len(p.value), max(most, p.number)
	}
	idSize, offsetSize := bytesFor(most), bytesFor(total)
	header := byte((idSize-1)<<4 | (offsetSize-1)<<2 | basicObject)
	if len(parts) > math.MaxUint8 {
		out = binary.LittleEndian.AppendUint32(append(out, header|1<<6), uint32(len(parts)))
	} else {
		out = append(out, header, byte(len(parts)))
	}
	for _, p := range parts {
		out = appendNumber(out, p.number, idSize)
	}
	at := 0
	for _, p := range parts {
		out = appendNumber(out, at, offsetSize)
		at += len(p.value)
	}
	out = appendNumber(out, at, offsetSize)
	for _, p := range parts {
		out = append(out, p.value...)
	}
	return out
}

func appendList(out []byte, values [][]byte) []byte {
	total := 0
	for _, v := range values {
		total += len(v)
	}
	offsetSize := bytesFor(total)
	header := byte((offsetSize-1)<<2 | basicArray)
	if len(values) > math.MaxUint8 {
		out = binary.LittleEndian.AppendUint32(append(out, header|1<<4), uint32(len(values)))
	} else {
		out = append(out, header, byte(len(values)))
	}
	at := 0
	for _, v := range values {
		out = appendNumber(out, at, offsetSize)
		at += len(v)
	}
	out = appendNumber(out, at, offsetSize)
	for _, v := range values {
		out = append(out, v...)
	}
	return out
}

func bytesFor(n int) int {
	switch {
	case n < 1<<8:
		return 1
	case n < 1<<16:
		return 2
	case n < 1<<24:
		return 3
	}
	return 4
}

func appendNumber(out []byte, n, size int) []byte {
	for i := range size {
		out = append(out, byte(n>>(8*i)))
	}
	return out
}

// objectParts takes an object's value apart.
func objectParts(value []byte, names []string) ([]part, error) {
	bad := func() ([]part, error) {
		return nil, fault.New(fault.Corrupt, "a partly shredded variant whose rest is no object")
	}
	if len(value) < 2 || value[0]&3 != basicObject {
		return bad()
	}
	offsetSize, idSize, countSize := int(value[0]>>2&3)+1, int(value[0]>>4&3)+1, 1
	if value[0]&(1<<6) != 0 {
		countSize = 4
	}
	count, ok := variant.Number(value, 1, countSize)
	if !ok || count > len(value) {
		return bad()
	}
	ids := 1 + countSize
	offsets := ids + count*idSize
	data := offsets + (count+1)*offsetSize
	total, ok := variant.Number(value, offsets+count*offsetSize, offsetSize)
	if !ok || data+total > len(value) {
		return bad()
	}
	out := make([]part, count)
	for i := range out {
		number, _ := variant.Number(value, ids+i*idSize, idSize)
		from, _ := variant.Number(value, offsets+i*offsetSize, offsetSize)
		if number >= len(names) || from >= total {
			return bad()
		}
		size, err := valueSize(value[data+from : data+total])
		if err != nil {
			return nil, err
		}
		out[i] = part{names[number], number, value[data+from : data+from+size]}
	}
	return out, nil
}

// valueSize is how many bytes the value at the start of b takes: those of an object may lie in any order, so that only each itself tells.
func valueSize(b []byte) (int, error) {
	size, ok := -1, true
	head := int(b[0] >> 2)
	switch b[0] & 3 {
	case basicShort:
		size = 1 + head
	case basicObject, basicArray:
		size, ok = nestedSize(b, head)
	default:
		behind, known := variant.Size(head)
		if !known {
			return 0, fault.New(fault.Unsupported, "variants of the type number %d are not supported", head)
		}
		if size = 1 + behind; size == 0 {
			size, ok = variant.Number(b, 1, 4)
			size += 5
		}
	}
	if !ok || size > len(b) || size < 0 {
		return 0, fault.New(fault.Corrupt, "a variant's value of %d bytes where %d are left", size, len(b))
	}
	return size, nil
}

func nestedSize(b []byte, head int) (int, bool) {
	offsetSize, idSize, large := head&3+1, 0, head&4 != 0
	if b[0]&3 == basicObject {
		idSize, large = head>>2&3+1, head&16 != 0
	}
	countSize := 1
	if large {
		countSize = 4
	}
	count, ok := variant.Number(b, 1, countSize)
	if !ok || count > len(b) {
		return 0, false
	}
	offsets := 1 + countSize + count*idSize
	total, ok := variant.Number(b, offsets+count*offsetSize, offsetSize)
	return offsets + (count+1)*offsetSize + total, ok
}
