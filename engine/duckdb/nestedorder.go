//go:build cgo

package duckdb

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/engine/duckdb/dialect"
	"github.com/skua-data/skua/fault"
)

// orders are the function whose bytes compare as Spark orders values: NULL in a list or a struct comes first, where the engine has it last.
var orders = []scalar{{name: dialect.OrderKey, parameters: []int{typeAny}, result: typeBlob, call: orderCall}}

func orderCall(arguments []arrow.Array, rows int) (arrow.Array, error) {
	b := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.Binary)
	defer b.Release()
	b.Reserve(rows)
	var key []byte
	for i := range rows {
		if isNull(arguments[0], i) {
			b.AppendNull()
			continue
		}
		var err error
		if key, err = appendOrder(key[:0], arguments[0], i); err != nil {
			return nil, err
		}
		b.Append(key)
	}
	return b.NewArray(), nil
}

// Marks in keys: what ends a list is less than any element of it, and NULL less than any value.
const (
	orderEnd  = 0
	orderNull = 1
	orderSome = 2
)

// appendOrder appends the key of a value that is not NULL.
func appendOrder(key []byte, a arrow.Array, i int) ([]byte, error) {
	var err error
	switch a := a.(type) {
	case *array.Struct:
		for f := range a.NumField() {
			if key, err = appendPart(key, a.Field(f), i); err != nil {
				return nil, err
			}
		}
		return key, nil
	case *array.Map:
		return nil, fault.New(fault.Unsupported, "values of type map have no order")
	case array.ListLike:
		from, to := a.ValueOffsets(i)
		for n := from; n < to; n++ {
			if key, err = appendPart(key, a.ListValues(), int(n)); err != nil {
				return nil, err
			}
		}
		return append(key, orderEnd), nil
	}
	return appendSimple(key, a, i)
}

func appendPart(key []byte, a arrow.Array, i int) ([]byte, error) {
	if isNull(a, i) {
		return append(key, orderNull), nil
	}
	return appendOrder(append(key, orderSome), a, i)
}

// appendSimple appends a value without parts: numbers from the most significant byte on, with the sign turned.
func appendSimple(key []byte, a arrow.Array, i int) ([]byte, error) {
	signed := func(v int64) []byte { return binary.BigEndian.AppendUint64(key, uint64(v)^1<<63) }
	switch a := a.(type) {
	case *array.Boolean:
		if a.Value(i) {
			return append(key, 1), nil
		}
		return append(key, 0), nil
	case *array.Int8:
		return signed(int64(a.Value(i))), nil
	case *array.Int16:
		return signed(int64(a.Value(i))), nil
	case *array.Int32:
		return signed(int64(a.Value(i))), nil
	case *array.Int64:
		return signed(a.Value(i)), nil
	case *array.Date32:
		return signed(int64(a.Value(i))), nil
	case *array.Time64:
		return signed(int64(a.Value(i))), nil
	case *array.Timestamp:
		return signed(int64(a.Value(i))), nil
	case *array.Float32:
		return appendFloat(key, float64(a.Value(i))), nil
	case *array.Float64:
		return appendFloat(key, a.Value(i)), nil
	case *array.Decimal128:
		v := a.Value(i)
		return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(key, uint64(v.HighBits())^1<<63), v.LowBits()), nil
	case *array.String:
		return appendBytes(key, []byte(a.Value(i))), nil
	case *array.Binary:
		return appendBytes(key, a.Value(i)), nil
	}
	return nil, fault.New(fault.Unsupported, "values of type %s inside others are not ordered", a.DataType())
}

// appendFloat appends a float: both zeros are one, NaN is one and the largest.
func appendFloat(key []byte, v float64) []byte {
	if v == 0 {
		v = 0
	}
	bits := math.Float64bits(v)
	switch {
	case v != v:
		bits = 0xfff8000000000000
	case bits>>63 == 1:
		bits = ^bits
	default:
		bits |= 1 << 63
	}
	return binary.BigEndian.AppendUint64(key, bits)
}

// appendBytes appends bytes so that none is the beginning of another one's key.
func appendBytes(key, b []byte) []byte {
	for _, c := range b {
		if key = append(key, c); c == 0 {
			key = append(key, 0xff)
		}
	}
	return append(key, 0, 0)
}

// ordersNested reports whether a node has the least or the greatest of values with parts.
func (n *planNode) ordersNested() (found bool) {
	n.expressions(func(e *planExpr) {
		if !dialect.Orders(e.Name) || e.Class != "BOUND_AGGREGATE" && e.Class != "BOUND_WINDOW" {
			return
		}
		for _, c := range e.Children {
			found = found || c.typ().nested()
		}
	})
	return found
}

// typ gives the type of an expression, which constants have with their value.
func (e *planExpr) typ() planType {
	if e.ReturnType.ID == "" {
		return e.Value.Type
	}
	return e.ReturnType
}

// nested reports whether values of the type have parts that may be NULL inside them.
func (t planType) nested() bool { return t.ID == "LIST" || t.ID == "STRUCT" }
