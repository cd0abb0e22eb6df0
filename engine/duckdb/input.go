//go:build cgo

package duckdb

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan"
)

// input is a table with what planning found out about it.
type input struct {
	table    engine.Table
	hidden   []arrow.Field // metadata columns that are asked for
	estimate int64
	plan     scan.Plan // with all that was pushed; no columns
}

// splits is how many splits of the table are expected to be read.
func (in *input) splits() int {
	if in.plan == nil {
		return 0
	}
	return in.plan.Splits()
}

// sourceFields are a table's columns, the metadata columns after those of *.
func sourceFields(in *input) []arrow.Field {
	return append(append([]arrow.Field{}, in.table.Source.Schema().Fields()...), in.hidden...)
}

// engineSchema gives a table's columns in the types that the engine gets.
func engineSchema(in *input) *arrow.Schema {
	var out []arrow.Field
	for _, f := range sourceFields(in) {
		out = append(out, engineField(f.Name, f.Type))
	}
	return arrow.NewSchema(out, nil)
}

// zoneKey is SKUA_ZONE_KEY.
const zoneKey = "skua.zone"

// engineField gives a field in the type that the engine gets. One of timestamps with nanoseconds says its zone, or that it has none.
func engineField(name string, t arrow.DataType) arrow.Field {
	out := arrow.Field{Name: name, Type: engineType(t), Nullable: true}
	if ts, ok := t.(*arrow.TimestampType); ok && ts.Unit == arrow.Nanosecond {
		out.Metadata = arrow.NewMetadata([]string{zoneKey}, []string{ts.TimeZone})
	}
	return out
}

func fieldID(f arrow.Field) int {
	v, _ := f.Metadata.GetValue(scan.FieldIDKey)
	id, _ := strconv.Atoi(v)
	return id
}

// engineType gives the type in which the engine gets values. What it has no type for keeps its place and is refused where it is read.
func engineType(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case arrow.ExtensionType:
		if t.ExtensionName() == "arrow.uuid" {
			return t
		}
		return arrow.BinaryTypes.String
	case *arrow.TimestampType:
		if t.Unit == arrow.Nanosecond {
			return &arrow.TimestampType{Unit: arrow.Nanosecond}
		}
	case *arrow.FixedSizeBinaryType:
		return arrow.BinaryTypes.Binary
	case *arrow.NullType:
		return arrow.PrimitiveTypes.Int32
	case *arrow.StructType:
		if isVariant(t) {
			return engineVariant
		}
		fields := make([]arrow.Field, t.NumFields())
		for i, f := range t.Fields() {
			fields[i] = engineField(f.Name, f.Type)
		}
		return arrow.StructOf(fields...)
	case *arrow.ListType:
		return arrow.ListOfField(engineField("item", t.Elem()))
	case *arrow.MapType:
		key, item := engineField("key", t.KeyType()), engineField("value", t.ItemType())
		key.Nullable = false
		return arrow.MapOfFields(key, item)
	}
	return t
}

// readable refuses a column whose values the engine cannot have.
func readable(table string, f arrow.Field) error {
	if name := foreign(f.Type); name != "" {
		return fault.New(fault.Unsupported, "column %s of %s: values of type %s are read by plain SELECTs only, not in a query with joins, grouping or functions",
			f.Name, table, name)
	}
	return nil
}

// foreign names the first type in t that the engine has no values of.
func foreign(t arrow.DataType) string {
	switch t := t.(type) {
	case arrow.ExtensionType:
		if t.ExtensionName() != "arrow.uuid" {
			return "variant"
		}
	case *arrow.StructType:
		if isVariant(t) {
			return ""
		}
		for _, f := range t.Fields() {
			if name := foreign(f.Type); name != "" {
				return name
			}
		}
	case *arrow.ListType:
		return foreign(t.Elem())
	case *arrow.MapType:
		if name := foreign(t.KeyType()); name != "" {
			return name
		}
		return foreign(t.ItemType())
	}
	return ""
}

// isVariant reports whether a struct is what a variant is made of: unlike those of a table's structs, its fields have no ids.
func isVariant(t *arrow.StructType) bool {
	return t.NumFields() == 2 && t.Field(0).Name == "metadata" && t.Field(1).Name == "value" && t.Field(0).Type.ID() == arrow.BINARY &&
		t.Field(1).Type.ID() == arrow.BINARY && fieldID(t.Field(0)) == 0
}

// engineArray gives an array as the engine takes it. Most share their memory with the given one.
func engineArray(a arrow.Array, t arrow.DataType, mem memory.Allocator) (arrow.Array, error) {
	switch {
	case arrow.IsNested(t.ID()):
		d, err := engineData(a.Data(), t, mem)
		if err != nil {
			return nil, err
		}
		defer d.Release()
		return array.MakeFromData(d), nil
	case a.DataType().ID() == arrow.FIXED_SIZE_BINARY:
		return variable(a.(*array.FixedSizeBinary), mem), nil
	case a.DataType().ID() == arrow.NULL:
		return array.MakeArrayOfNull(mem, t, a.Len()), nil
	case a.DataType().ID() == arrow.DICTIONARY, arrow.TypeEqual(a.DataType(), t):
		a.Retain()
		return a, nil
	}
	d := array.NewData(t, a.Len(), a.Data().Buffers(), nil, a.NullN(), a.Data().Offset())
	defer d.Release()
	return array.MakeFromData(d), nil
}

// engineData gives nested data its types, and structs without an offset: exported, theirs would count twice.
func engineData(in arrow.ArrayData, t arrow.DataType, mem memory.Allocator) (arrow.ArrayData, error) {
	var children []arrow.ArrayData
	defer func() {
		for _, c := range children {
			c.Release()
		}
	}()
	st, isStruct := t.(*arrow.StructType)
	for i, child := range in.Children() {
		var typ arrow.DataType
		from, to := int64(0), int64(child.Len())
		switch {
		case isStruct:
			typ = st.Field(i).Type
			from, to = int64(in.Offset()), int64(in.Offset()+in.Len())
		case t.ID() == arrow.MAP:
			m := t.(*arrow.MapType)
			typ = arrow.StructOf(m.KeyField(), m.ItemField())
		default:
			typ = t.(*arrow.ListType).Elem()
		}
		part := array.NewSliceData(child, from, to)
		a := array.MakeFromData(part)
		part.Release()
		converted, err := engineArray(a, typ, mem)
		a.Release()
		if err != nil {
			return nil, err
		}
		children = append(children, converted.Data())
		converted.Data().Retain()
		converted.Release()
	}
	if !isStruct || in.Offset() == 0 {
		return array.NewData(t, in.Len(), in.Buffers(), children, in.NullN(), in.Offset()), nil
	}
	validity := shifted(in, mem)
	if validity != nil {
		defer validity.Release()
	}
	return array.NewData(t, in.Len(), []*memory.Buffer{validity}, children, in.NullN(), 0), nil
}

// shifted copies the validity of data with an offset to one without; nil: all valid.
func shifted(in arrow.ArrayData, mem memory.Allocator) *memory.Buffer {
	if in.Buffers()[0] == nil || in.NullN() == 0 {
		return nil
	}
	out := memory.NewResizableBuffer(mem)
	out.Resize(int(bitutil.BytesForBits(int64(in.Len()))))
	bitutil.CopyBitmap(in.Buffers()[0].Bytes(), in.Offset(), in.Len(), out.Bytes(), 0)
	return out
}

// variable gives fixed-size binary values with offsets.
func variable(a *array.FixedSizeBinary, mem memory.Allocator) arrow.Array {
	b := array.NewBinaryBuilder(mem, arrow.BinaryTypes.Binary)
	defer b.Release()
	b.Reserve(a.Len())
	for i := range a.Len() {
		if a.IsNull(i) {
			b.AppendNull()
			continue
		}
		b.Append(a.Value(i))
	}
	return b.NewArray()
}
