package predicate

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/fault"
)

// order is the question that a kernel answers; the other three operators are complements.
type order uint8

const (
	equal order = iota
	less
	greater
)

// question gives the kernel's question for op, and whether its answers must be swapped.
func (op Op) question() (order, bool) {
	switch op {
	case Eq:
		return equal, false
	case NotEq:
		return equal, true
	case Lt:
		return less, false
	case GtEq:
		return less, true
	case Gt:
		return greater, false
	}
	return greater, true
}

// comparison tests values against a literal.
type comparison struct {
	op    Op
	value Literal
}

func (c comparison) settle(t *truth, valid []uint64) { settled(t, valid) }

func (c comparison) ask(dst []uint64, a arrow.Array) error {
	if a.DataType().ID() == arrow.NULL {
		return nil
	}
	o, swap := c.op.question()
	if err := compare(dst, a, o, c.value); err != nil {
		return err
	}
	if swap {
		complement(dst)
	}
	return nil
}

// compare answers o for every value of a against v.
func compare(dst []uint64, a arrow.Array, o order, v Literal) error {
	if err := sameUnit(a.DataType(), v.Type); err != nil {
		return err
	}
	switch lit := v.Value.(type) {
	case int64:
		if values, ok := integersOf(a); ok {
			values.compare(dst, o, lit)
			return nil
		}
	case float64:
		switch a := a.(type) {
		case *array.Float32:
			compareFloats(dst, a.Float32Values(), o, float32(lit))
			return nil
		case *array.Float64:
			compareFloats(dst, a.Float64Values(), o, lit)
			return nil
		}
	case decimal128.Num:
		if a, ok := a.(*array.Decimal128); ok {
			compareDecimals(dst, a.Values(), o, lit)
			return nil
		}
	case bool:
		if a, ok := a.(*array.Boolean); ok {
			compareBooleans(dst, a, o, lit)
			return nil
		}
	case string:
		if values, ok := textsOf(a); ok {
			values.compare(dst, o, lit)
			return nil
		}
	case []byte:
		if values, ok := textsOf(a); ok {
			values.compare(dst, o, string(lit))
			return nil
		}
	}
	return mismatch(a, v)
}

func mismatch(a arrow.Array, v Literal) error {
	return fault.New(fault.Unsupported, "comparing %s with a literal of type %s is not supported", a.DataType(), v.Type)
}

// sameUnit refuses to compare numbers that count different things; only a wrong binding gets here.
func sameUnit(values, literal arrow.DataType) error {
	if e, ok := literal.(arrow.ExtensionType); ok {
		literal = e.StorageType()
	}
	ok := true
	switch v := values.(type) {
	case *arrow.Decimal128Type:
		l, is := literal.(*arrow.Decimal128Type)
		ok = is && l.Scale == v.Scale
	case *arrow.TimestampType:
		l, is := literal.(*arrow.TimestampType)
		ok = is && l.Unit == v.Unit
	case *arrow.Time64Type:
		l, is := literal.(*arrow.Time64Type)
		ok = is && l.Unit == v.Unit
	case *arrow.Date32Type:
		ok = literal.ID() == arrow.DATE32
	}
	if !ok {
		return fault.New(fault.Internal, "literal of type %s against values of type %s", literal, values)
	}
	return nil
}

// compareFloats orders NaN last and equal to itself. -0.0 equals 0.0 as the machine has it.
func compareFloats[T float32 | float64](dst []uint64, values []T, o order, v T) {
	if v != v {
		compareNaN(dst, values, o)
		return
	}
	for w := range dst {
		var bits uint64
		part := values[64*w : min(64*w+64, len(values))]
		switch o {
		case equal:
			for _, x := range part {
				bits = bits>>1 | bit(x == v)<<63
			}
		case less:
			for _, x := range part {
				bits = bits>>1 | bit(x < v)<<63
			}
		case greater:
			for _, x := range part {
				bits = bits>>1 | bit(!(x <= v))<<63
			}
		}
		dst[w] = bits >> (64 - len(part))
	}
}

// compareNaN compares with NaN: equal to itself, nothing is greater.
func compareNaN[T float32 | float64](dst []uint64, values []T, o order) {
	clear(dst)
	if o == greater {
		return
	}
	markNaN(dst, values)
	if o == less {
		complement(dst)
	}
}

func markNaN[T float32 | float64](dst []uint64, values []T) {
	for w := range dst {
		var bits uint64
		part := values[64*w : min(64*w+64, len(values))]
		for _, x := range part {
			bits = bits>>1 | bit(x != x)<<63
		}
		dst[w] = bits >> (64 - len(part))
	}
}

func compareDecimals(dst []uint64, values []decimal128.Num, o order, v decimal128.Num) {
	hi, lo := v.HighBits(), v.LowBits()
	for w := range dst {
		var bits uint64
		part := values[64*w : min(64*w+64, len(values))]
		for _, x := range part {
			xh, xl := x.HighBits(), x.LowBits()
			var b uint64
			switch o {
			case equal:
				b = bit(xh == hi && xl == lo)
			case less:
				b = bit(xh < hi || xh == hi && xl < lo)
			case greater:
				b = bit(xh > hi || xh == hi && xl > lo)
			}
			bits = bits>>1 | b<<63
		}
		dst[w] = bits >> (64 - len(part))
	}
}

// compareBooleans orders false before true.
func compareBooleans(dst []uint64, a *array.Boolean, o order, v bool) {
	if o == less && !v || o == greater && v {
		clear(dst)
		return
	}
	loadBooleans(dst, a)
	if o == equal && !v || o == less {
		complement(dst)
	}
}

func loadBooleans(dst []uint64, a *array.Boolean) {
	clear(dst)
	if b := a.Data().Buffers()[1]; b != nil {
		load(dst, b.Bytes(), a.Data().Offset(), a.Len())
	}
}

// bit is 1 for true; the compiler makes it a flag move.
func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
