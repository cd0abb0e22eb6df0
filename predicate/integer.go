package predicate

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// integers are the values of an array that holds whole numbers, dates, times or timestamps.
type integers interface {
	compare(dst []uint64, o order, v int64)
	member(dst []uint64, set map[int64]struct{})
}

// signed are values that widen to int64.
type signed[T ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32] []T

// integersOf views the values of a, its offset applied.
func integersOf(a arrow.Array) (integers, bool) {
	switch a := a.(type) {
	case *array.Int8:
		return signed[int8](a.Int8Values()), true
	case *array.Int16:
		return signed[int16](a.Int16Values()), true
	case *array.Int32:
		return signed[int32](a.Int32Values()), true
	case *array.Int64:
		return signed[int64](a.Int64Values()), true
	case *array.Uint8:
		return signed[uint8](a.Uint8Values()), true
	case *array.Uint16:
		return signed[uint16](a.Uint16Values()), true
	case *array.Uint32:
		return signed[uint32](a.Uint32Values()), true
	case *array.Uint64:
		return unsigned(a.Uint64Values()), true
	case *array.Date32:
		return signed[arrow.Date32](a.Date32Values()), true
	case *array.Date64:
		return signed[arrow.Date64](a.Date64Values()), true
	case *array.Time32:
		return signed[arrow.Time32](a.Time32Values()), true
	case *array.Time64:
		return signed[arrow.Time64](a.Time64Values()), true
	case *array.Timestamp:
		return signed[arrow.Timestamp](a.TimestampValues()), true
	}
	return nil, false
}

func (s signed[T]) compare(dst []uint64, o order, v int64) {
	for w := range dst {
		var bits uint64
		part := s[64*w : min(64*w+64, len(s))]
		switch o {
		case equal:
			for _, x := range part {
				bits = bits>>1 | bit(int64(x) == v)<<63
			}
		case less:
			for _, x := range part {
				bits = bits>>1 | bit(int64(x) < v)<<63
			}
		case greater:
			for _, x := range part {
				bits = bits>>1 | bit(int64(x) > v)<<63
			}
		}
		dst[w] = bits >> (64 - len(part))
	}
}

func (s signed[T]) member(dst []uint64, set map[int64]struct{}) {
	for w := range dst {
		var bits uint64
		part := s[64*w : min(64*w+64, len(s))]
		for _, x := range part {
			_, in := set[int64(x)]
			bits = bits>>1 | bit(in)<<63
		}
		dst[w] = bits >> (64 - len(part))
	}
}

// unsigned are values that may lie beyond int64; a literal never does.
type unsigned []uint64

func (u unsigned) compare(dst []uint64, o order, v int64) {
	for w := range dst {
		var bits uint64
		part := u[64*w : min(64*w+64, len(u))]
		for _, x := range part {
			below := v >= 0 && x < uint64(v)
			same := v >= 0 && x == uint64(v)
			bits = bits>>1 | bit(o == equal && same || o == less && below || o == greater && !same && !below)<<63
		}
		dst[w] = bits >> (64 - len(part))
	}
}

func (u unsigned) member(dst []uint64, set map[int64]struct{}) {
	for w := range dst {
		var bits uint64
		part := u[64*w : min(64*w+64, len(u))]
		for _, x := range part {
			_, in := set[int64(x)]
			bits = bits>>1 | bit(in && int64(x) >= 0)<<63
		}
		dst[w] = bits >> (64 - len(part))
	}
}
