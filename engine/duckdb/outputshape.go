//go:build cgo

package duckdb

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/google/uuid"

	"github.com/skua-data/skua/fault"
)

// merged gives the type of a column that is a table's: the engine's, but where that says less, deep inside as well.
func merged(engine, table arrow.DataType) arrow.DataType {
	switch t := table.(type) {
	case *arrow.FixedSizeBinaryType:
		if engine.ID() == arrow.BINARY {
			return t
		}
	case *arrow.NullType:
		if engine.ID() == arrow.INT32 {
			return t
		}
	case arrow.ExtensionType:
		if isUUID(t) && engine.ID() == arrow.STRING {
			return t
		}
	case *arrow.StructType:
		e, ok := engine.(*arrow.StructType)
		if !ok || e.NumFields() != t.NumFields() {
			return engine
		}
		fields := e.Fields()
		for i := range fields {
			fields[i].Type = merged(fields[i].Type, t.Field(i).Type)
		}
		return arrow.StructOf(fields...)
	case *arrow.ListType:
		if e, ok := engine.(*arrow.ListType); ok {
			element := e.ElemField()
			element.Type = merged(element.Type, t.Elem())
			return arrow.ListOfField(element)
		}
	case *arrow.MapType:
		if e, ok := engine.(*arrow.MapType); ok {
			key, item := e.KeyField(), e.ItemField()
			key.Type, item.Type = merged(key.Type, t.KeyType()), merged(item.Type, t.ItemType())
			return arrow.MapOfFields(key, item)
		}
	}
	return engine
}

func isUUID(t arrow.ExtensionType) bool {
	return t.ExtensionName() == extensions.NewUUIDType().ExtensionName()
}

// shaped gives data the type that the client is told of: another name for the same layout, or values that the engine has no type for.
func shaped(in arrow.ArrayData, t arrow.DataType, mem allocator) (arrow.ArrayData, error) {
	from := in.DataType().ID()
	switch {
	case from == arrow.DICTIONARY:
		in.Retain()
		return in, nil
	case t.ID() == arrow.NULL:
		return array.NewData(t, in.Len(), []*memory.Buffer{nil}, nil, in.Len(), 0), nil
	case t.ID() == arrow.FIXED_SIZE_BINARY && from == arrow.BINARY, t.ID() == arrow.EXTENSION && from == arrow.STRING:
		a := array.MakeFromData(in)
		defer a.Release()
		out, err := foreignValues(a, t, mem)
		if err != nil {
			return nil, err
		}
		defer out.Release()
		out.Data().Retain()
		return out.Data(), nil
	}
	children := make([]arrow.ArrayData, 0, len(in.Children()))
	defer func() {
		for _, c := range children {
			c.Release()
		}
	}()
	for i, child := range in.Children() {
		c, err := shaped(child, partType(t, i, child.DataType()), mem)
		if err != nil {
			return nil, err
		}
		children = append(children, c)
	}
	return array.NewData(t, in.Len(), in.Buffers(), children, in.NullN(), in.Offset()), nil
}

// partType gives the type of a part of a nested one.
func partType(t arrow.DataType, i int, otherwise arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.StructType:
		return t.Field(i).Type
	case *arrow.MapType:
		return t.Elem()
	case *arrow.ListType:
		return t.Elem()
	}
	return otherwise
}

func foreignValues(a arrow.Array, t arrow.DataType, mem allocator) (arrow.Array, error) {
	if f, ok := t.(*arrow.FixedSizeBinaryType); ok {
		return fixed(a, f, mem)
	}
	return uuids(a, mem)
}

// fixed gives values of one length that type.
func fixed(a arrow.Array, t *arrow.FixedSizeBinaryType, mem allocator) (arrow.Array, error) {
	in, ok := a.(*array.Binary)
	if !ok {
		return nil, fault.New(fault.Internal, "binary values came as %s", a.DataType())
	}
	b := array.NewFixedSizeBinaryBuilder(mem, t)
	defer b.Release()
	b.Reserve(in.Len())
	for i := range in.Len() {
		switch v := in.Value(i); {
		case in.IsNull(i):
			b.AppendNull()
		case len(v) != t.ByteWidth:
			return nil, fault.New(fault.Internal, "a value of %d bytes came as one of %s", len(v), t)
		default:
			b.Append(v)
		}
	}
	return b.NewArray(), nil
}

// uuids reads texts.
func uuids(a arrow.Array, mem allocator) (arrow.Array, error) {
	in, ok := a.(*array.String)
	if !ok {
		return nil, fault.New(fault.Internal, "a uuid came as %s", a.DataType())
	}
	b := extensions.NewUUIDBuilder(mem)
	defer b.Release()
	for i := range in.Len() {
		if in.IsNull(i) {
			b.AppendNull()
			continue
		}
		u, err := uuid.Parse(in.Value(i))
		if err != nil {
			return nil, fault.New(fault.Internal, "a uuid came as %q", in.Value(i))
		}
		b.Append(u)
	}
	return b.NewArray(), nil
}
