//go:build cgo

package duckdb

import (
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
)

// nanos are functions of timestamps with nanoseconds: the engine's own of them fail at the ends of their range, and it has no type for those with a zone.
var nanos = []scalar{
	{name: "epoch_ns", parameters: []int{typeZoned}, result: typeBigint, call: epochNanos},
	{name: "epoch_ns", parameters: []int{typeNanos}, result: typeBigint, call: epochNanos},
	{name: "nanosecond", parameters: []int{typeNanos}, result: typeBigint, call: nanosecond},
	{name: "nanosecond", parameters: []int{typeZoned}, result: typeBigint, call: refuseZoned("nanosecond", arrow.PrimitiveTypes.Int64)},
	{name: "to_json", parameters: []int{typeZoned}, result: typeVarchar, call: refuseZoned("to_json", arrow.BinaryTypes.String)},
}

func epochNanos(arguments []arrow.Array, rows int) (arrow.Array, error) {
	return ofNanos(arguments[0], rows, func(ns int64) int64 { return ns })
}

// nanosecond gives the seconds within the minute in nanoseconds.
func nanosecond(arguments []arrow.Array, rows int) (arrow.Array, error) {
	const minute = int64(time.Minute)
	return ofNanos(arguments[0], rows, func(ns int64) int64 { return (ns%minute + minute) % minute })
}

// ofNanos gives f of each value.
func ofNanos(a arrow.Array, rows int, f func(ns int64) int64) (arrow.Array, error) {
	in, ok := a.(*array.Timestamp)
	if !ok || in.DataType().(*arrow.TimestampType).Unit != arrow.Nanosecond {
		return nil, fault.New(fault.Internal, "timestamps with nanoseconds came as %s", a.DataType())
	}
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	for i := range rows {
		if in.IsNull(i) {
			b.AppendNull()
			continue
		}
		b.Append(f(int64(in.Value(i))))
	}
	return b.NewArray(), nil
}

// refuseZoned is a function that would lose the zone.
func refuseZoned(name string, result arrow.DataType) func([]arrow.Array, int) (arrow.Array, error) {
	return func(arguments []arrow.Array, rows int) (arrow.Array, error) {
		if arguments[0].NullN() < rows {
			return nil, fault.New(fault.Unsupported, "the function %s of a timestamp with nanoseconds and a zone is not supported: write CAST(… AS TIMESTAMP_LTZ) around it", name)
		}
		return array.MakeArrayOfNull(memory.DefaultAllocator, result, rows), nil
	}
}
