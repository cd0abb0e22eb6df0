package predicate

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// membership asks whether values are in a list.
type membership struct {
	values  []Literal
	hasNull bool
}

// fewValues is up to how many literals comparing with each beats hashing.
const fewValues = 4

func (m membership) settle(t *truth, valid []uint64) {
	settled(t, valid)
	if m.hasNull {
		clear(t.no) // what is not in the list might equal its NULL
	}
}

func (m membership) ask(dst []uint64, a arrow.Array) error {
	clear(dst)
	if len(m.values) == 0 || a.DataType().ID() == arrow.NULL {
		return nil
	}
	if _, boolean := a.(*array.Boolean); boolean || len(m.values) <= fewValues {
		return m.each(dst, a)
	}
	for _, v := range m.values {
		if err := sameUnit(a.DataType(), v.Type); err != nil {
			return err
		}
	}
	if values, ok := integersOf(a); ok {
		set, ok := setOf[int64](m.values)
		if !ok {
			return mismatch(a, m.values[0])
		}
		values.member(dst, set)
		return nil
	}
	if values, ok := textsOf(a); ok {
		set, ok := textSet(m.values)
		if !ok {
			return mismatch(a, m.values[0])
		}
		values.member(dst, set)
		return nil
	}
	return m.numbers(dst, a)
}

func (m membership) numbers(dst []uint64, a arrow.Array) error {
	switch a := a.(type) {
	case *array.Float32:
		if set, ok := setOf[float64](m.values); ok {
			memberFloats(dst, a.Float32Values(), set, m.hasNaN())
			return nil
		}
	case *array.Float64:
		if set, ok := setOf[float64](m.values); ok {
			memberFloats(dst, a.Float64Values(), set, m.hasNaN())
			return nil
		}
	case *array.Decimal128:
		if set, ok := setOf[decimal128.Num](m.values); ok {
			memberDecimals(dst, a.Values(), set)
			return nil
		}
	}
	return mismatch(a, m.values[0])
}

// each compares with every literal in turn.
func (m membership) each(dst []uint64, a arrow.Array) error {
	one := make([]uint64, len(dst))
	for _, v := range m.values {
		if err := compare(one, a, equal, v); err != nil {
			return err
		}
		for i, w := range one {
			dst[i] |= w
		}
	}
	return nil
}

func (m membership) hasNaN() bool {
	for _, v := range m.values {
		if f, ok := v.Value.(float64); ok && f != f {
			return true
		}
	}
	return false
}

// setOf gives the literals as a set; false if one has another type.
func setOf[T int64 | float64 | decimal128.Num](values []Literal) (map[T]struct{}, bool) {
	set := make(map[T]struct{}, len(values))
	for _, v := range values {
		x, ok := v.Value.(T)
		if !ok {
			return nil, false
		}
		set[x] = struct{}{}
	}
	return set, true
}

func textSet(values []Literal) (map[string]struct{}, bool) {
	set := make(map[string]struct{}, len(values))
	for _, v := range values {
		switch x := v.Value.(type) {
		case string:
			set[x] = struct{}{}
		case []byte:
			set[string(x)] = struct{}{}
		default:
			return nil, false
		}
	}
	return set, true
}

// memberFloats relies on the map for -0.0, which it holds equal to 0.0; NaN it would never find.
func memberFloats[T float32 | float64](dst []uint64, values []T, set map[float64]struct{}, nan bool) {
	for w := range dst {
		var bits uint64
		part := values[64*w : min(64*w+64, len(values))]
		for _, x := range part {
			_, in := set[float64(x)]
			bits = bits>>1 | bit(in || nan && x != x)<<63
		}
		dst[w] = bits >> (64 - len(part))
	}
}

func memberDecimals(dst []uint64, values []decimal128.Num, set map[decimal128.Num]struct{}) {
	for w := range dst {
		var bits uint64
		part := values[64*w : min(64*w+64, len(values))]
		for _, x := range part {
			_, in := set[x]
			bits = bits>>1 | bit(in)<<63
		}
		dst[w] = bits >> (64 - len(part))
	}
}

// nullTest asks nothing: validity answers.
type nullTest struct{}

func (nullTest) ask([]uint64, arrow.Array) error { return nil }

func (nullTest) settle(t *truth, valid []uint64) {
	fill(t.yes, t.rows, true)
	for i, v := range valid {
		t.yes[i] &^= v
		t.no[i] = v
	}
}

// nanTest asks which values are NaN; null ones are not.
type nanTest struct{}

func (nanTest) ask(dst []uint64, a arrow.Array) error {
	switch a := a.(type) {
	case *array.Float32:
		markNaN(dst, a.Float32Values())
	case *array.Float64:
		markNaN(dst, a.Float64Values())
	default:
		clear(dst)
	}
	return nil
}

func (nanTest) settle(t *truth, valid []uint64) {
	fill(t.no, t.rows, true)
	for i, v := range valid {
		t.yes[i] &= v
		t.no[i] &^= t.yes[i]
	}
}
