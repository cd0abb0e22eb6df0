// Package variant reads values of Iceberg's variant type: their parts by a path, their text as JSON, the type that they have.
package variant

import (
	"encoding/binary"
	"math"
	"math/big"

	"github.com/skua-data/skua/fault"
)

// Kind is what a value is.
type Kind int

// The kinds of values. Whole numbers of all widths are of one kind, and so are decimals.
const (
	Null Kind = iota
	Boolean
	Long
	Double
	Decimal
	Date
	Timestamp    // microseconds in UTC
	TimestampNTZ // microseconds
	Float
	Binary
	String
	Time
	TimestampNanos
	TimestampNanosNTZ
	UUID
	Object
	Array
)

// Value is one value with the names of its metadata.
type Value struct {
	names []string
	bytes []byte // from the value's first byte on, maybe with more behind it
}

// maxDepth bounds how deep values are read.
const maxDepth = 500

// walk bounds a walk through a value: in a broken file parts may be shared, so that there are many more of them than bytes.
type walk struct {
	depth int
	left  *int
}

func (v Value) walk() walk {
	left := len(v.bytes)
	return walk{left: &left}
}

// down goes to a part.
func (w walk) down() (walk, error) {
	w.depth++
	*w.left--
	if w.depth > maxDepth || *w.left < 0 {
		return w, fault.New(fault.Corrupt, "a variant of more than %d levels, or with more parts than bytes", maxDepth)
	}
	return w, nil
}

// Parse reads a variant's two parts.
func Parse(metadata, value []byte) (Value, error) {
	names, err := Names(metadata)
	if err != nil {
		return Value{}, err
	}
	if len(value) == 0 {
		return Value{}, corrupt(value)
	}
	return Value{names, value}, nil
}

func corrupt(b []byte) error {
	return fault.New(fault.Corrupt, "%d bytes that are no value of a variant", len(b))
}

// Number reads a little-endian number of size bytes; false: it lies outside.
func Number(b []byte, at, size int) (int, bool) {
	if at < 0 || size < 0 || at > len(b)-size {
		return 0, false
	}
	n := 0
	for i := range size {
		n |= int(b[at+i]) << (8 * i)
	}
	return n, true
}

// Names reads the names of a variant's metadata, in the order of their numbers.
func Names(b []byte) ([]string, error) {
	bad := fault.New(fault.Corrupt, "%d bytes that are no metadata of a variant", len(b))
	if len(b) < 3 || b[0]&0x0f != 1 {
		return nil, bad
	}
	size := int(b[0]>>6) + 1
	count, ok := Number(b, 1, size)
	if !ok || count > len(b)/size {
		return nil, bad
	}
	text := 1 + size*(count+2)
	out := make([]string, count)
	for i := range out {
		from, _ := Number(b, 1+size*(i+1), size)
		to, ok := Number(b, 1+size*(i+2), size)
		if !ok || from > to || text+to > len(b) {
			return nil, bad
		}
		out[i] = string(b[text+from : text+to])
	}
	return out, nil
}

// primitives are the primitive types of the format, by their numbers.
var primitives = [...]Kind{Null, Boolean, Boolean, Long, Long, Long, Long, Double, Decimal, Decimal, Decimal, Date, Timestamp, TimestampNTZ, Float, Binary, String, Time,
	TimestampNanos, TimestampNanosNTZ, UUID}

// sizes are the bytes of a primitive behind its first; -1: the next four bytes say.
var sizes = [...]int{0, 0, 0, 1, 2, 4, 8, 8, 5, 9, 17, 4, 8, 8, 4, -1, -1, 8, 8, 8, 16}

// Size gives the bytes of a primitive behind its first, by the format's number of its type, -1 where the next four bytes tell them; false where
// there is no such type.
func Size(code int) (size int, known bool) {
	if code < 0 || code >= len(sizes) {
		return 0, false
	}
	return sizes[code], true
}

// code is the format's number of a primitive type.
func (v Value) code() int { return int(v.bytes[0] >> 2) }

// Kind gives what the value is.
func (v Value) Kind() (Kind, error) {
	switch v.bytes[0] & 3 {
	case 1:
		return String, nil
	case 2:
		return Object, nil
	case 3:
		return Array, nil
	}
	if v.code() >= len(primitives) {
		return 0, fault.New(fault.Unsupported, "variants of the type number %d are not supported", v.code())
	}
	return primitives[v.code()], nil
}

// payload gives the bytes of a primitive.
func (v Value) payload() ([]byte, error) {
	from, size := 1, 0
	if v.bytes[0]&3 == 1 {
		size = v.code()
	} else if size = sizes[v.code()]; size < 0 {
		n, ok := Number(v.bytes, 1, 4)
		if !ok {
			return nil, corrupt(v.bytes)
		}
		from, size = 5, n
	}
	if size > len(v.bytes)-from {
		return nil, corrupt(v.bytes)
	}
	return v.bytes[from : from+size], nil
}

// signed reads a little-endian number of up to 64 bits with its sign.
func signed(b []byte) int64 {
	var full [8]byte
	copy(full[:], b)
	v := int64(binary.LittleEndian.Uint64(full[:]))
	shift := 64 - 8*len(b)
	return v << shift >> shift
}

// whole gives a whole number, or one that counts days or units of time.
func (v Value) whole() (int64, error) {
	b, err := v.payload()
	return signed(b), err
}

// float gives a number of 32 or 64 bits.
func (v Value) float() (float64, error) {
	b, err := v.payload()
	switch {
	case err != nil:
		return 0, err
	case len(b) == 4:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), nil
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b)), nil
}

// decimal gives a decimal without zeros at its end.
func (v Value) decimal() (unscaled *big.Int, scale int, err error) {
	b, err := v.payload()
	if err != nil {
		return nil, 0, err
	}
	scale = int(b[0])
	big10 := big.NewInt(10)
	reversed := make([]byte, len(b)-1)
	for i, c := range b[1:] {
		reversed[len(reversed)-1-i] = c
	}
	unscaled = new(big.Int).SetBytes(reversed)
	if reversed[0]&0x80 != 0 {
		unscaled.Sub(unscaled, new(big.Int).Lsh(big.NewInt(1), uint(8*len(reversed))))
	}
	if scale > 38 {
		return nil, 0, corrupt(v.bytes)
	}
	for scale > 0 {
		q, r := new(big.Int).QuoRem(unscaled, big10, new(big.Int))
		if r.Sign() != 0 {
			break
		}
		unscaled, scale = q, scale-1
	}
	return unscaled, scale, nil
}

// Field is a named part of an object.
type Field struct {
	Name  string
	Value Value
}

// layout are the places of an object's or an array's parts.
type layout struct {
	count, ids, idSize, offsets, offsetSize, data int
}

func (v Value) layout(object bool) (layout, error) {
	head := v.code()
	l := layout{offsetSize: head&3 + 1}
	large := head&4 != 0
	if object {
		l.idSize, large = head>>2&3+1, head&16 != 0
	}
	countSize := 1
	if large {
		countSize = 4
	}
	count, ok := Number(v.bytes, 1, countSize)
	if !ok || count > len(v.bytes) {
		return l, corrupt(v.bytes)
	}
	l.count, l.ids = count, 1+countSize
	l.offsets = l.ids + count*l.idSize
	l.data = l.offsets + (count+1)*l.offsetSize
	if l.data > len(v.bytes) {
		return l, corrupt(v.bytes)
	}
	return l, nil
}

// part gives the value at an offset.
func (v Value) part(l layout, i int) (Value, error) {
	offset, ok := Number(v.bytes, l.offsets+i*l.offsetSize, l.offsetSize)
	if !ok || offset >= len(v.bytes)-l.data {
		return Value{}, corrupt(v.bytes)
	}
	return Value{v.names, v.bytes[l.data+offset:]}, nil
}

// Fields gives an object's parts in the order of their names.
func (v Value) Fields() ([]Field, error) {
	l, err := v.layout(true)
	if err != nil {
		return nil, err
	}
	out := make([]Field, l.count)
	for i := range out {
		id, _ := Number(v.bytes, l.ids+i*l.idSize, l.idSize)
		if id >= len(v.names) {
			return nil, corrupt(v.bytes)
		}
		out[i].Name = v.names[id]
		if out[i].Value, err = v.part(l, i); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Elements gives an array's parts.
func (v Value) Elements() ([]Value, error) {
	l, err := v.layout(false)
	if err != nil {
		return nil, err
	}
	out := make([]Value, l.count)
	for i := range out {
		if out[i], err = v.part(l, i); err != nil {
			return nil, err
		}
	}
	return out, nil
}
