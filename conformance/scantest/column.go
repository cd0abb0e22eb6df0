package scantest

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/extensions"
)

// kind is what a type is.
type kind uint8

const (
	boolean kind = iota
	integer
	long
	float
	double
	decimal
	date
	clock
	timestamp
	timestampTZ
	timestampNS
	timestampTZNS
	text
	uuid
	fixed
	binary
	unknown
	geometry
	variants
	structure
	list
	mapping
)

// typ is a column's type.
type typ struct {
	kind             kind
	precision, scale int      // of a decimal
	length           int      // of fixed
	fields           []*field // of a struct; a list's element; a map's key and value
}

// field is a column or a part of one.
type field struct {
	id       int
	name     string
	required bool
	typ      *typ
	initial  any // what rows have that were written before the field; nil: null
}

// schema is one of a table's schemas.
type schema struct {
	id     int
	fields []*field
	all    []*field // of a file's schema: those of the table at the time
}

func (t *typ) nested() bool { return t.kind >= structure }

// compared says whether a query can compare values of the type with literals.
func (t *typ) compared() bool { return t.kind < unknown }

func (t *typ) clone() *typ {
	out := *t
	out.fields = cloneFields(t.fields)
	return &out
}

func cloneFields(fields []*field) []*field {
	var out []*field
	for _, f := range fields {
		c := *f
		c.typ = f.typ.clone()
		out = append(out, &c)
	}
	return out
}

// find looks a field up at any depth.
func find(fields []*field, id int) *field {
	for _, f := range fields {
		if f.id == id {
			return f
		}
		if found := find(f.typ.fields, id); found != nil {
			return found
		}
	}
	return nil
}

// path is the way to a field through structs; nil where it is none of them.
func path(fields []*field, id int) []*field {
	for _, f := range fields {
		if f.id == id {
			return []*field{f}
		}
		if f.typ.kind != structure {
			continue
		}
		if p := path(f.typ.fields, id); p != nil {
			return append([]*field{f}, p...)
		}
	}
	return nil
}

// reachable lists the fields that a query may name: top-level ones and those inside structs.
func reachable(fields []*field) []*field {
	var out []*field
	for _, f := range fields {
		out = append(out, f)
		if f.typ.kind == structure {
			out = append(out, reachable(f.typ.fields)...)
		}
	}
	return out
}

// json is the type as metadata spells it.
func (t *typ) json() any {
	switch t.kind {
	case structure:
		return map[string]any{"type": "struct", "fields": fieldsJSON(t.fields)}
	case list:
		e := t.fields[0]
		return map[string]any{"type": "list", "element-id": e.id, "element": e.typ.json(), "element-required": e.required}
	case mapping:
		k, v := t.fields[0], t.fields[1]
		return map[string]any{"type": "map", "key-id": k.id, "key": k.typ.json(), "value-id": v.id, "value": v.typ.json(), "value-required": v.required}
	}
	return t.String()
}

func fieldsJSON(fields []*field) []any {
	out := []any{}
	for _, f := range fields {
		m := map[string]any{"id": f.id, "name": f.name, "required": f.required, "type": f.typ.json()}
		if f.initial != nil {
			m["initial-default"], m["write-default"] = defaultJSON(f.typ, f.initial), defaultJSON(f.typ, f.initial)
		}
		out = append(out, m)
	}
	return out
}

var names = [...]string{"boolean", "int", "long", "float", "double", "decimal", "date", "time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns",
	"string", "uuid", "fixed", "binary", "unknown", "geometry", "variant", "struct", "list", "map"}

// String is the name of a primitive type in metadata.
func (t *typ) String() string {
	switch t.kind {
	case decimal:
		return fmt.Sprintf("decimal(%d, %d)", t.precision, t.scale)
	case fixed:
		return fmt.Sprintf("fixed[%d]", t.length)
	}
	return names[t.kind]
}

// arrow is the type in which values are written; ids go along where withIDs.
func (t *typ) arrow(withIDs bool) arrow.DataType {
	switch t.kind {
	case boolean:
		return arrow.FixedWidthTypes.Boolean
	case integer:
		return arrow.PrimitiveTypes.Int32
	case long:
		return arrow.PrimitiveTypes.Int64
	case float:
		return arrow.PrimitiveTypes.Float32
	case double:
		return arrow.PrimitiveTypes.Float64
	case decimal:
		return &arrow.Decimal128Type{Precision: int32(t.precision), Scale: int32(t.scale)}
	case date:
		return arrow.FixedWidthTypes.Date32
	case clock:
		return arrow.FixedWidthTypes.Time64us
	case timestamp:
		return &arrow.TimestampType{Unit: arrow.Microsecond}
	case timestampTZ:
		return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	case timestampNS:
		return &arrow.TimestampType{Unit: arrow.Nanosecond}
	case timestampTZNS:
		return &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}
	case text:
		return arrow.BinaryTypes.String
	case uuid:
		return extensions.NewUUIDType()
	case fixed:
		return &arrow.FixedSizeBinaryType{ByteWidth: t.length}
	case binary, geometry:
		return arrow.BinaryTypes.Binary
	case variants:
		return arrow.StructOf(arrow.Field{Name: "metadata", Type: arrow.BinaryTypes.Binary}, arrow.Field{Name: "value", Type: arrow.BinaryTypes.Binary})
	case structure:
		return arrow.StructOf(arrowFields(t.fields, withIDs)...)
	case list:
		return arrow.ListOfField(arrowFields(t.fields, withIDs)[0])
	case mapping:
		kv := arrowFields(t.fields, withIDs)
		return arrow.MapOfFields(kv[0], kv[1])
	}
	return arrow.Null
}

func arrowFields(fields []*field, withIDs bool) []arrow.Field {
	var out []arrow.Field
	for _, f := range fields {
		a := arrow.Field{Name: f.name, Type: f.typ.arrow(withIDs), Nullable: !f.required}
		if withIDs {
			a.Metadata = arrow.NewMetadata([]string{"PARQUET:field_id"}, []string{fmt.Sprint(f.id)})
		}
		out = append(out, a)
	}
	return out
}

// same says whether two types are equal in all their parts, ids and names too.
func (t *typ) same(o *typ) bool {
	return t.kind == o.kind && t.precision == o.precision && t.scale == o.scale && t.length == o.length &&
		slices.EqualFunc(t.fields, o.fields, func(a, b *field) bool { return a.id == b.id && a.name == b.name && a.typ.same(b.typ) })
}

// holds says whether a type is of a kind or has one inside.
func (t *typ) holds(k kind) bool {
	return t.kind == k || slices.ContainsFunc(t.fields, func(f *field) bool { return f.typ.holds(k) })
}
