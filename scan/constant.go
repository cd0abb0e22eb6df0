package scan

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/scan/metatable"
)

// constant makes an array that repeats one value n times. A struct's value is a metatable.Struct; nil is null. The caller releases it.
func constant(typ arrow.DataType, v any, n int, mem memory.Allocator) (arrow.Array, error) {
	if typ.ID() == arrow.NULL {
		return array.NewNull(n), nil
	}
	if e, ok := typ.(arrow.ExtensionType); ok {
		storage, err := constant(e.StorageType(), v, n, mem)
		if err != nil {
			return nil, err
		}
		defer storage.Release()
		return array.NewExtensionArrayWithStorage(e, storage), nil
	}
	if s, ok := typ.(*arrow.StructType); ok && v != nil {
		return constantStruct(s, v.(metatable.Struct), n, mem)
	}
	if v == nil {
		return kernels.Nulls(mem, typ, n), nil
	}
	b := array.NewBuilder(mem, typ)
	defer b.Release()
	b.Reserve(n)
	for i := 0; i < n; i++ {
		if !appendNested(b, v) {
			return nil, fault.New(fault.Internal, "a %T is no value of the type %s", v, typ)
		}
	}
	return b.NewArray(), nil
}

func constantStruct(typ *arrow.StructType, values []any, n int, mem memory.Allocator) (arrow.Array, error) {
	children := make([]arrow.ArrayData, 0, len(values))
	defer func() { releaseData(children) }()
	for i, f := range typ.Fields() {
		c, err := constant(f.Type, values[i], n, mem)
		if err != nil {
			return nil, err
		}
		children = append(children, c.Data())
		c.Data().Retain()
		c.Release()
	}
	data := array.NewData(typ, n, []*memory.Buffer{nil}, children, 0, 0)
	defer data.Release()
	return array.MakeFromData(data), nil
}

// appendValue appends a value in its normal form (see value.go) to a builder of a primitive type.
func appendValue(b array.Builder, v any) bool {
	if v == nil {
		b.AppendNull()
		return true
	}
	switch b := b.(type) {
	case *array.BooleanBuilder:
		return appendAs(v, b.Append)
	case *array.Int8Builder:
		return appendInt(v, func(n int64) { b.Append(int8(n)) })
	case *array.Int16Builder:
		return appendInt(v, func(n int64) { b.Append(int16(n)) })
	case *array.Int32Builder:
		return appendInt(v, func(n int64) { b.Append(int32(n)) })
	case *array.Int64Builder:
		return appendInt(v, b.Append)
	case *array.Date32Builder:
		return appendInt(v, func(n int64) { b.Append(arrow.Date32(n)) })
	case *array.Time64Builder:
		return appendInt(v, func(n int64) { b.Append(arrow.Time64(n)) })
	case *array.TimestampBuilder:
		return appendInt(v, func(n int64) { b.Append(arrow.Timestamp(n)) })
	case *array.Float32Builder:
		return appendAs(v, func(f float64) { b.Append(float32(f)) })
	case *array.Float64Builder:
		return appendAs(v, b.Append)
	case *array.Decimal128Builder:
		return appendAs(v, func(d decimal128.Num) { b.Append(d) })
	case *array.StringBuilder:
		return appendAs(v, b.Append)
	case *array.BinaryBuilder:
		return appendAs(v, b.Append)
	case *array.FixedSizeBinaryBuilder:
		raw, ok := v.([]byte)
		if !ok || len(raw) != b.Type().(*arrow.FixedSizeBinaryType).ByteWidth {
			return false
		}
		b.Append(raw)
		return true
	}
	return false
}

func appendInt(v any, put func(int64)) bool { return appendAs(v, put) }

func appendAs[T any](v any, put func(T)) bool {
	x, ok := v.(T)
	if ok {
		put(x)
	}
	return ok
}
