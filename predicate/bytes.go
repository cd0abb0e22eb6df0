package predicate

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/fault"
)

// texts are the values of a string, binary or fixed-size binary array. They compare as unsigned bytes.
type texts interface {
	compare(dst []uint64, o order, lit string)
	member(dst []uint64, set map[string]struct{})
	prefixed(dst []uint64, prefix string)
}

// spans are byte strings that lie one after the other: value i reaches from offset i to offset i+1.
type spans[O int32 | int64] struct {
	offsets []O
	data    []byte
}

// textsOf views the values of a, its offset applied.
func textsOf(a arrow.Array) (texts, bool) {
	d := a.Data()
	switch t := a.DataType().(type) {
	case *arrow.StringType, *arrow.BinaryType:
		return spans[int32]{part(arrow.Int32Traits.CastFromBytes(buffer(d, 1)), d), buffer(d, 2)}, true
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return spans[int64]{part(arrow.Int64Traits.CastFromBytes(buffer(d, 1)), d), buffer(d, 2)}, true
	case *arrow.FixedSizeBinaryType:
		offsets := make([]int64, d.Len()+1)
		for i := range offsets {
			offsets[i] = int64((d.Offset() + i) * t.ByteWidth)
		}
		return spans[int64]{offsets, buffer(d, 1)}, true
	}
	return nil, false
}

// part takes an array's own offsets; an array without values may lack them.
func part[O int32 | int64](offsets []O, d arrow.ArrayData) []O {
	if d.Len() == 0 {
		return []O{0}
	}
	return offsets[d.Offset() : d.Offset()+d.Len()+1]
}

func buffer(d arrow.ArrayData, i int) []byte {
	if b := d.Buffers()[i]; b != nil {
		return b.Bytes()
	}
	return nil
}

func (s spans[O]) at(i int) []byte { return s.data[s.offsets[i]:s.offsets[i+1]] }

// word gives the range of values whose answers word w holds.
func (s spans[O]) word(w int) (from, to int) { return 64 * w, min(64*w+64, len(s.offsets)-1) }

func (s spans[O]) compare(dst []uint64, o order, lit string) {
	for w := range dst {
		var bits uint64
		from, to := s.word(w)
		switch o {
		case equal:
			for i := from; i < to; i++ {
				bits = bits>>1 | bit(string(s.at(i)) == lit)<<63
			}
		case less:
			for i := from; i < to; i++ {
				bits = bits>>1 | bit(string(s.at(i)) < lit)<<63
			}
		case greater:
			for i := from; i < to; i++ {
				bits = bits>>1 | bit(string(s.at(i)) > lit)<<63
			}
		}
		dst[w] = bits >> (64 - (to - from))
	}
}

func (s spans[O]) member(dst []uint64, set map[string]struct{}) {
	for w := range dst {
		var bits uint64
		from, to := s.word(w)
		for i := from; i < to; i++ {
			_, in := set[string(s.at(i))]
			bits = bits>>1 | bit(in)<<63
		}
		dst[w] = bits >> (64 - (to - from))
	}
}

func (s spans[O]) prefixed(dst []uint64, prefix string) {
	for w := range dst {
		var bits uint64
		from, to := s.word(w)
		for i := from; i < to; i++ {
			x := s.at(i)
			bits = bits>>1 | bit(len(x) >= len(prefix) && string(x[:len(prefix)]) == prefix)<<63
		}
		dst[w] = bits >> (64 - (to - from))
	}
}

// prefixTest asks whether values begin with it.
type prefixTest string

func (p prefixTest) settle(t *truth, valid []uint64) { settled(t, valid) }

func (p prefixTest) ask(dst []uint64, a arrow.Array) error {
	if a.DataType().ID() == arrow.NULL {
		return nil
	}
	values, ok := textsOf(a)
	if !ok {
		return fault.New(fault.Unsupported, "a prefix test of %s is not supported", a.DataType())
	}
	values.prefixed(dst, string(p))
	return nil
}
