package engine

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/engine/sparktype"
	"github.com/skua-data/skua/fault"
)

// repeated gives an array that holds a constant n times.
func repeated(c sparktype.Value, n int, mem memory.Allocator) (arrow.Array, error) {
	b := array.NewBuilder(mem, c.Type)
	defer b.Release()
	b.Reserve(n)
	for range n {
		if c.Value == nil {
			b.AppendNull()
			continue
		}
		if err := appendValue(b, c.Value); err != nil {
			return nil, err
		}
	}
	return b.NewArray(), nil
}

// appendValue appends a value in the representation of predicate.Literal.
func appendValue(b array.Builder, value any) error {
	switch v := value.(type) {
	case bool:
		if b, ok := b.(*array.BooleanBuilder); ok {
			b.Append(v)
			return nil
		}
	case int64:
		return appendInteger(b, v)
	case float64:
		switch b := b.(type) {
		case *array.Float32Builder:
			b.Append(float32(v))
			return nil
		case *array.Float64Builder:
			b.Append(v)
			return nil
		}
	case decimal128.Num:
		if b, ok := b.(*array.Decimal128Builder); ok {
			b.Append(v)
			return nil
		}
	case string:
		if b, ok := b.(*array.StringBuilder); ok {
			b.Append(v)
			return nil
		}
	case []byte:
		if b, ok := b.(*array.BinaryBuilder); ok {
			b.Append(v)
			return nil
		}
	}
	return fault.New(fault.Internal, "a constant of type %s holds a %T", b.Type(), value)
}

func appendInteger(b array.Builder, v int64) error {
	switch b := b.(type) {
	case *array.Int8Builder:
		b.Append(int8(v))
	case *array.Int16Builder:
		b.Append(int16(v))
	case *array.Int32Builder:
		b.Append(int32(v))
	case *array.Int64Builder:
		b.Append(v)
	case *array.Date32Builder:
		b.Append(arrow.Date32(v))
	case *array.Time64Builder:
		b.Append(arrow.Time64(v))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v))
	default:
		return fault.New(fault.Internal, "a constant of type %s holds an integer", b.Type())
	}
	return nil
}
