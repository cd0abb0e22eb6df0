package parquet

import (
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/skua-data/skua/fault"
)

// values are a leaf's decoded slots, nulls included, in the file's physical type.
type values struct {
	n, nulls int
	valid    *memory.Buffer // nil: no nulls
	fixed    *memory.Buffer // numbers and INT96, one after the other; BOOLEAN as bits
	bytes    arrow.Array    // BYTE_ARRAY (binary), FIXED_LEN_BYTE_ARRAY (fixed size binary)
}

func (v *values) isValid(i int) bool { return v.valid == nil || bitutil.BitIsSet(v.valid.Bytes(), i) }

func (v *values) release() {
	for _, b := range []*memory.Buffer{v.valid, v.fixed} {
		if b != nil {
			b.Release()
		}
	}
	if v.bytes != nil {
		v.bytes.Release()
	}
	*v = values{}
}

// conversion makes an array of the target type of a leaf's values. It keeps what it needs of v alive; the caller releases v and the array.
type conversion func(v *values, mem memory.Allocator) (arrow.Array, error)

// convert gives the conversion of a leaf to a target type, or why there is none (a text to follow "not supported").
func convert(c *schema.Column, target arrow.DataType) (conversion, string) {
	if _, null := c.LogicalType().(schema.NullLogicalType); null {
		return onlyNulls(target), ""
	}
	storage := target
	if uuid, ok := target.(*extensions.UUIDType); ok {
		storage = uuid.StorageType()
	}
	to := convertPhysical(c, storage)
	if to == nil {
		return nil, " (no such promotion)"
	}
	if storage == target {
		return to, ""
	}
	return func(v *values, mem memory.Allocator) (arrow.Array, error) {
		inner, err := to(v, mem)
		if err != nil {
			return nil, err
		}
		defer inner.Release()
		return retyped(inner, target), nil
	}, ""
}

func convertPhysical(c *schema.Column, target arrow.DataType) conversion {
	switch c.PhysicalType() {
	case parquet.Types.Boolean:
		if target.ID() == arrow.BOOL {
			return same(target)
		}
	case parquet.Types.Int32:
		return convertInt32(c, target)
	case parquet.Types.Int64:
		return convertInt64(c, target)
	case parquet.Types.Int96:
		return convertInt96(target)
	case parquet.Types.Float:
		switch target.ID() {
		case arrow.FLOAT32:
			return same(target)
		case arrow.FLOAT64:
			return each(target, func(v float32) float64 { return float64(v) })
		}
	case parquet.Types.Double:
		if target.ID() == arrow.FLOAT64 {
			return same(target)
		}
	case parquet.Types.ByteArray:
		return convertByteArray(c, target)
	case parquet.Types.FixedLenByteArray:
		return convertFixed(c, target)
	}
	return nil
}

// onlyNulls reads a leaf that its writer knew to hold nothing (logical type UNKNOWN).
func onlyNulls(target arrow.DataType) conversion {
	return func(v *values, mem memory.Allocator) (arrow.Array, error) {
		if v.nulls != v.n {
			return nil, fault.New(fault.Corrupt, "%d values in a column of unknown type", v.n-v.nulls)
		}
		return array.MakeArrayOfNull(mem, target, v.n), nil
	}
}

// same takes the values as they are.
func same(target arrow.DataType) conversion {
	return func(v *values, _ memory.Allocator) (arrow.Array, error) { return v.array(target, v.fixed), nil }
}

// array wraps a buffer of values with v's validity.
func (v *values) array(t arrow.DataType, data *memory.Buffer) arrow.Array {
	d := array.NewData(t, v.n, []*memory.Buffer{v.valid, data}, nil, v.nulls, 0)
	defer d.Release()
	return array.MakeFromData(d)
}

// retyped gives a's buffers another type of the same layout.
func retyped(a arrow.Array, t arrow.DataType) arrow.Array {
	from := a.Data()
	d := array.NewData(t, from.Len(), from.Buffers(), from.Children(), a.NullN(), from.Offset())
	defer d.Release()
	return array.MakeFromData(d)
}

// allocate makes a buffer for n values of T.
func allocate[T arrow.FixedWidthType](n int, mem memory.Allocator) (*memory.Buffer, []T) {
	b := memory.NewResizableBuffer(mem)
	b.Resize(n * int(unsafe.Sizeof(*new(T))))
	return b, arrow.GetData[T](b.Bytes())
}

// each converts every slot; what is in null slots does not matter.
func each[In, Out arrow.FixedWidthType](target arrow.DataType, f func(In) Out) conversion {
	return func(v *values, mem memory.Allocator) (arrow.Array, error) {
		b, out := allocate[Out](v.n, mem)
		defer b.Release()
		for i, in := range arrow.GetData[In](v.fixed.Bytes())[:v.n] {
			out[i] = f(in)
		}
		return v.array(target, b), nil
	}
}

// checked is each for conversions that some values do not survive: those are an error.
func checked[In, Out arrow.FixedWidthType](target arrow.DataType, f func(In) (Out, bool)) conversion {
	return func(v *values, mem memory.Allocator) (arrow.Array, error) {
		b, out := allocate[Out](v.n, mem)
		defer b.Release()
		for i, in := range arrow.GetData[In](v.fixed.Bytes())[:v.n] {
			var ok bool
			if out[i], ok = f(in); !ok && v.isValid(i) {
				return nil, fault.New(fault.Corrupt, "value %v is out of the range of %s", in, target)
			}
		}
		return v.array(target, b), nil
	}
}

// multiply scales up, and says whether the product fits.
func multiply(v, factor int64) (int64, bool) {
	p := v * factor
	return p, v == 0 || (p/v == factor && !(v == -1 && factor == math.MinInt64))
}

// floor divides and rounds down, as times before 1970 want it.
func floor(v, divisor int64) int64 {
	q := v / divisor
	if v%divisor < 0 {
		q--
	}
	return q
}
