package scan

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan/parquet"
)

// The Arrow types of the wire that are no plain singletons.
var (
	timestampUTC   = &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	timestampNTZ   = &arrow.TimestampType{Unit: arrow.Microsecond}
	timestampNsUTC = &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}
	timestampNs    = &arrow.TimestampType{Unit: arrow.Nanosecond}
	time64us       = &arrow.Time64Type{Unit: arrow.Microsecond}
)

// arrowSchema turns Iceberg fields into the schema of the wire. A type that is not built becomes a null column that carries unreadableKey,
// so that the other columns can be read.
func arrowSchema(fields []iceberg.NestedField) *arrow.Schema {
	out := make([]arrow.Field, len(fields))
	for i, f := range fields {
		out[i] = arrowField(f)
	}
	return arrow.NewSchema(out, nil)
}

// unreadableKey marks a field whose Iceberg type is not built; its value is the type's name.
const unreadableKey = "skua:unreadable"

// arrowField turns an Iceberg field, with everything inside it, into an Arrow field with field ids and comments.
func arrowField(f iceberg.NestedField) arrow.Field {
	keys, values := []string{FieldIDKey}, []string{strconv.Itoa(f.ID)}
	if f.Doc != "" {
		keys, values = append(keys, CommentKey), append(values, f.Doc)
	}
	typ, unreadable := arrowType(f.Type)
	if unreadable != "" {
		keys, values = append(keys, unreadableKey), append(values, unreadable)
	}
	if metadata, ok := geometryMetadata(f.Type); ok {
		keys, values = append(keys, extensionNameKey, extensionMetadataKey), append(values, extensionWKB, metadata)
	}
	return arrow.Field{Name: f.Name, Type: typ, Nullable: !f.Required, Metadata: arrow.NewMetadata(keys, values)}
}

// arrowType gives the wire type of an Iceberg type, and the name of what cannot be read in it, if anything.
func arrowType(t iceberg.Type) (arrow.DataType, string) {
	switch t := t.(type) {
	case *iceberg.StructType:
		fields, unreadable := make([]arrow.Field, len(t.FieldList)), ""
		for i, f := range t.FieldList {
			fields[i] = arrowField(f)
			if name, ok := fields[i].Metadata.GetValue(unreadableKey); ok {
				unreadable = name
			}
		}
		return arrow.StructOf(fields...), unreadable
	case *iceberg.ListType:
		element := arrowField(t.ElementField())
		unreadable, _ := element.Metadata.GetValue(unreadableKey)
		return arrow.ListOfField(element), unreadable
	case *iceberg.MapType:
		key, value := arrowField(t.KeyField()), arrowField(t.ValueField())
		key.Nullable = false
		unreadable, _ := value.Metadata.GetValue(unreadableKey)
		if name, ok := key.Metadata.GetValue(unreadableKey); ok {
			unreadable = name
		}
		return arrow.MapOfFields(key, value), unreadable
	}
	return arrowPrimitive(t)
}

func arrowPrimitive(t iceberg.Type) (arrow.DataType, string) {
	switch t := t.(type) {
	case iceberg.BooleanType:
		return arrow.FixedWidthTypes.Boolean, ""
	case iceberg.Int32Type:
		return arrow.PrimitiveTypes.Int32, ""
	case iceberg.Int64Type:
		return arrow.PrimitiveTypes.Int64, ""
	case iceberg.Float32Type:
		return arrow.PrimitiveTypes.Float32, ""
	case iceberg.Float64Type:
		return arrow.PrimitiveTypes.Float64, ""
	case iceberg.DateType:
		return arrow.FixedWidthTypes.Date32, ""
	case iceberg.TimeType:
		return time64us, ""
	case iceberg.TimestampType:
		return timestampNTZ, ""
	case iceberg.TimestampTzType:
		return timestampUTC, ""
	case iceberg.TimestampNsType:
		return timestampNs, ""
	case iceberg.TimestampTzNsType:
		return timestampNsUTC, ""
	case iceberg.StringType:
		return arrow.BinaryTypes.String, ""
	case iceberg.BinaryType, iceberg.GeometryType, iceberg.GeographyType:
		return arrow.BinaryTypes.Binary, ""
	case iceberg.UUIDType:
		return extensions.NewUUIDType(), ""
	case iceberg.FixedType:
		return &arrow.FixedSizeBinaryType{ByteWidth: t.Len()}, ""
	case iceberg.DecimalType:
		return &arrow.Decimal128Type{Precision: int32(t.Precision()), Scale: int32(t.Scale())}, ""
	case iceberg.UnknownType:
		return arrow.Null, ""
	case iceberg.VariantType:
		return parquet.VariantType(), ""
	}
	return arrow.Null, t.String()
}

// FieldID gives the Iceberg id of a field of a source; -1: it has none.
func FieldID(f arrow.Field) int {
	s, _ := f.Metadata.GetValue(FieldIDKey)
	id, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return id
}

// readable refuses a field whose type is not built.
func readable(f arrow.Field) error {
	if name, ok := f.Metadata.GetValue(unreadableKey); ok {
		return fault.New(fault.Unsupported, "reading column %s is not supported: its type is or holds %s", f.Name, name)
	}
	return nil
}

// fieldPath is a field and the way to it: indexes from the top level down.
type fieldPath struct {
	Index []int
	Field arrow.Field // the last one
	Names []string
}

// paths indexes every field that can be asked for: top-level ones and those inside structs.
func paths(fields []arrow.Field) map[int]fieldPath {
	out := map[int]fieldPath{}
	var walk func(fields []arrow.Field, index []int, names []string)
	walk = func(fields []arrow.Field, index []int, names []string) {
		for i, f := range fields {
			p := fieldPath{Index: append(append([]int(nil), index...), i), Field: f, Names: append(append([]string(nil), names...), f.Name)}
			if FieldID(f) < 0 {
				continue // a part of a variant
			}
			out[FieldID(f)] = p
			if s, ok := f.Type.(*arrow.StructType); ok {
				walk(s.Fields(), p.Index, p.Names)
			}
		}
	}
	walk(fields, nil, nil)
	return out
}

// outputField is the field of a result: a nested one is nullable if a parent is, and has its own name.
func outputField(top []arrow.Field, p fieldPath) arrow.Field {
	out := p.Field
	fields := top
	for _, i := range p.Index {
		f := fields[i]
		out.Nullable = out.Nullable || f.Nullable
		if s, ok := f.Type.(*arrow.StructType); ok {
			fields = s.Fields()
		}
	}
	return out
}
