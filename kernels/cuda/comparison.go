package cuda

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/kernels/cpu"
	"github.com/skua-data/skua/kernels/cuda/ptx"
	"github.com/skua-data/skua/predicate"
)

var operators = map[predicate.Op]uint64{predicate.Eq: ptx.Equal, predicate.NotEq: ptx.NotEqual, predicate.Lt: ptx.Less, predicate.LtEq: ptx.LessEqual,
	predicate.Gt: ptx.Greater, predicate.GtEq: ptx.GreaterEqual}

// comparison gives what a kernel needs to compare a leaf's fixed values with a literal, false where it cannot.
func comparison(e predicate.Expr, f *leaf) (kind, op, literal uint64, ok bool) {
	c, is := e.(predicate.Comparison)
	if !is || f.form == cpu.TextForm || f.form == cpu.BitForm || f.back > 8 {
		return 0, 0, 0, false
	}
	op, known := operators[c.Op]
	if !known {
		return 0, 0, 0, false
	}
	kind, literal, ok = ordered(c.Value.Value, f)
	return kind, op, literal, ok
}

// ordered gives a literal as the kernels order it.
func ordered(value any, f *leaf) (kind, literal uint64, ok bool) {
	switch v := value.(type) {
	case int64:
		switch f.conversion {
		case ptx.Copy4:
			return ptx.Signed4, uint64(v), f.form == cpu.SameBytes && v == int64(int32(v))
		case ptx.Copy8, ptx.Widen:
			return ptx.Signed8, uint64(v), !f.widened
		}
	case float64:
		switch f.field.Type.ID() {
		case arrow.FLOAT32:
			return ptx.Float4, uint64(orderFloat32(float32(v))), f.form == cpu.SameBytes && float64(float32(v)) == v
		case arrow.FLOAT64:
			return ptx.Float8, uint64(orderFloat64(v)), f.form == cpu.SameBytes
		}
	case decimal128.Num:
		low := int64(v.LowBits())
		return ptx.Signed8, uint64(low), f.widened && v.HighBits() == low>>63
	}
	return 0, 0, false
}

// orderFloat32 and orderFloat64 order numbers as the kernels do: NaN equals itself and is the largest, zeros are equal.
func orderFloat32(v float32) int64 {
	if v != v {
		return math.MaxInt64
	}
	bits := math.Float32bits(v)
	if size := int64(bits & 0x7fffffff); bits>>31 == 0 {
		return size
	} else {
		return -size
	}
}

func orderFloat64(v float64) int64 {
	if v != v {
		return math.MaxInt64
	}
	bits := math.Float64bits(v)
	if size := int64(bits & math.MaxInt64); bits>>63 == 0 {
		return size
	} else {
		return -size
	}
}

// entriesArray gives the chunk's dictionary as values of a type.
func (c *chunk) entriesArray(t arrow.DataType, mem memory.Allocator) (arrow.Array, error) {
	return cpu.DictionaryArray(c.leaf.column, t, &c.head, c.dictionary.Bytes[:c.head.Size], mem)
}
