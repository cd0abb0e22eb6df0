package predicate

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/fault"
)

// byteValues are the values of a string, binary or fixed-size binary array. They compare as unsigned bytes.
type byteValues struct {
	n     int
	data  []byte
	short []int32 // n+1 offsets, or
	long  []int64 // n+1 offsets, or
	width int     // bytes a value
}

// bytesOf views the values of a, its offset applied.
func bytesOf(a arrow.Array) (byteValues, bool) {
	d := a.Data()
	v := byteValues{n: a.Len()}
	switch a.DataType().ID() {
	case arrow.STRING, arrow.BINARY:
		v.short = []int32{0}
		if b := d.Buffers()[1]; b != nil && v.n > 0 {
			v.short = arrow.Int32Traits.CastFromBytes(b.Bytes())[d.Offset() : d.Offset()+v.n+1]
		}
		v.data = buffer(d, 2)
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		v.long = []int64{0}
		if b := d.Buffers()[1]; b != nil && v.n > 0 {
			v.long = arrow.Int64Traits.CastFromBytes(b.Bytes())[d.Offset() : d.Offset()+v.n+1]
		}
		v.data = buffer(d, 2)
	case arrow.FIXED_SIZE_BINARY:
		v.width = a.DataType().(*arrow.FixedSizeBinaryType).ByteWidth
		if data := buffer(d, 1); v.n > 0 {
			v.data = data[d.Offset()*v.width : (d.Offset()+v.n)*v.width]
		}
	default:
		return v, false
	}
	return v, true
}

func buffer(d arrow.ArrayData, i int) []byte {
	if b := d.Buffers()[i]; b != nil {
		return b.Bytes()
	}
	return nil
}

func (v *byteValues) at(i int) []byte {
	if v.short != nil {
		return v.data[v.short[i]:v.short[i+1]]
	}
	if v.long != nil {
		return v.data[v.long[i]:v.long[i+1]]
	}
	return v.data[i*v.width : (i+1)*v.width]
}

func (v *byteValues) compare(dst []uint64, o order, lit string) {
	for w := range dst {
		var bits uint64
		from, to := 64*w, min(64*w+64, v.n)
		switch o {
		case equal:
			for i := from; i < to; i++ {
				bits |= bit(string(v.at(i)) == lit) << (i & 63)
			}
		case less:
			for i := from; i < to; i++ {
				bits |= bit(string(v.at(i)) < lit) << (i & 63)
			}
		case greater:
			for i := from; i < to; i++ {
				bits |= bit(string(v.at(i)) > lit) << (i & 63)
			}
		}
		dst[w] = bits
	}
}

func (v *byteValues) member(dst []uint64, set map[string]struct{}) {
	for w := range dst {
		var bits uint64
		for i := 64 * w; i < min(64*w+64, v.n); i++ {
			_, in := set[string(v.at(i))]
			bits |= bit(in) << (i & 63)
		}
		dst[w] = bits
	}
}

// prefixTest asks whether values begin with it.
type prefixTest string

func (p prefixTest) settle(t *truth, valid []uint64) { settled(t, valid) }

func (p prefixTest) ask(dst []uint64, a arrow.Array) error {
	if a.DataType().ID() == arrow.NULL {
		return nil
	}
	v, ok := bytesOf(a)
	if !ok {
		return fault.New(fault.Unsupported, "a prefix test of %s is not supported", a.DataType())
	}
	for w := range dst {
		var bits uint64
		for i := 64 * w; i < min(64*w+64, v.n); i++ {
			x := v.at(i)
			bits |= bit(len(x) >= len(p) && string(x[:len(p)]) == string(p)) << (i & 63)
		}
		dst[w] = bits
	}
	return nil
}
