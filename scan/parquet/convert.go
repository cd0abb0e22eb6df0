package parquet

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels/convert"
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

// conversionOf gives the conversion of a leaf to a target type, or why there is none (a text to follow "not supported").
func conversionOf(c *schema.Column, target arrow.DataType) (conversion, string) {
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
		return nil
	case parquet.Types.ByteArray:
		return convertByteArray(c, target)
	case parquet.Types.FixedLenByteArray:
		return convertFixed(c, target)
	}
	f, ok := convert.Numbers(c, target)
	switch {
	case !ok:
		return nil
	case f == nil:
		return same(target)
	}
	return numbersTo(c, target, f)
}

// numbersTo converts every slot; what is in null slots does not matter.
func numbersTo(c *schema.Column, target arrow.DataType, f convert.Fixed) conversion {
	stored, width := c.PhysicalType().ByteSize(), target.(arrow.FixedWidthDataType).Bytes()
	return func(v *values, mem memory.Allocator) (arrow.Array, error) {
		b := memory.NewResizableBuffer(mem)
		defer b.Release()
		b.Resize(v.n * width)
		in, out := v.fixed.Bytes()[:v.n*stored], b.Bytes()
		for at := 0; at < v.n; at++ {
			bad := f(out[at*width:], in[at*stored:])
			if bad < 0 {
				break
			}
			if at += bad; v.isValid(at) {
				return nil, convert.Failure(c, target, in[at*stored:(at+1)*stored])
			}
			clear(out[at*width : (at+1)*width])
		}
		return v.array(target, b), nil
	}
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
