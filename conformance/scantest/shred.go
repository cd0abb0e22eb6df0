package scantest

import (
	"math/rand"
	"slices"

	"github.com/apache/arrow-go/v18/parquet"
	pqschema "github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/apache/arrow-go/v18/parquet/variant"
)

// shredding says which parts of variants a file keeps in columns of their own. Nil: none.
type shredding struct {
	kind    variant.Type // of the typed value
	scale   byte
	fields  []string // of an object
	inside  []*shredding
	element *shredding // of an array
}

// randomShredding chooses what is shredded, at most depth deep.
func randomShredding(r *rand.Rand, depth int) *shredding {
	if r.Intn(5) == 0 {
		return nil
	}
	s := &shredding{kind: oneOf(r, variantKinds[1:]...), scale: 2}
	if depth == 0 || r.Intn(4) == 0 {
		return s
	}
	if r.Intn(3) == 0 {
		return &shredding{kind: variant.Array, element: randomShredding(r, depth-1)}
	}
	s.kind = variant.Object
	for _, name := range []string{"b", "a", "é", "never"} {
		if r.Intn(2) == 0 || name == "b" {
			s.fields, s.inside = append(s.fields, name), append(s.inside, randomShredding(r, depth-1))
		}
	}
	return s
}

// group is the columns of a variant's value, and how a value is split among them. A value that is nil is missing: a field that an object lacks.
func (s *shredding) group() ([]*part, func(v *variantValue, keys []string) []any) {
	value := &part{name: "value", repetition: parquet.Repetitions.Optional, physical: parquet.Types.ByteArray}
	encoded := func(v *variantValue, keys []string) []any {
		if v == nil {
			return []any{nil, nil}
		}
		return []any{v.encode(keys), nil}
	}
	if s == nil {
		return []*part{value}, func(v *variantValue, keys []string) []any { return encoded(v, keys)[:1] }
	}
	var typed *part
	var split func(v *variantValue, keys []string) []any // of a value of the kind
	switch s.kind {
	case variant.Object:
		typed, split = s.object()
	case variant.Array:
		children, inner := s.element.group()
		element := &part{name: "element", repetition: parquet.Repetitions.Required, children: children}
		typed = listPart("typed_value", -1, parquet.Repetitions.Optional, "list", element)
		split = func(v *variantValue, keys []string) []any {
			var items []any
			for _, e := range v.list {
				items = append(items, []any{inner(e, keys)})
			}
			return []any{nil, []any{items}}
		}
	default:
		typed = s.scalar()
		split = func(v *variantValue, _ []string) []any { return []any{nil, v.physical()} }
	}
	return []*part{value, typed}, func(v *variantValue, keys []string) []any {
		if v == nil || v.kind != s.kind || v.scale != s.scale && isVariantDecimal(s.kind) {
			return encoded(v, keys)
		}
		return split(v, keys)
	}
}

// object splits objects into the fields that have columns and the others.
func (s *shredding) object() (*part, func(v *variantValue, keys []string) []any) {
	typed := &part{name: "typed_value", repetition: parquet.Repetitions.Optional}
	var inner []func(v *variantValue, keys []string) []any
	for i, name := range s.fields {
		children, split := s.inside[i].group()
		typed.children = append(typed.children, &part{name: name, repetition: parquet.Repetitions.Required, children: children})
		inner = append(inner, split)
	}
	return typed, func(v *variantValue, keys []string) []any {
		rest := &variantValue{kind: variant.Object}
		values := make([]*variantValue, len(s.fields))
		for _, f := range v.fields {
			if i := slices.Index(s.fields, f.name); i >= 0 {
				values[i] = f.value
			} else {
				rest.fields = append(rest.fields, f)
			}
		}
		var columns []any
		for i := range values {
			columns = append(columns, inner[i](values[i], keys))
		}
		var left any
		if len(rest.fields) > 0 {
			left = rest.encode(keys)
		}
		return []any{left, columns}
	}
}

func isVariantDecimal(k variant.Type) bool {
	return k == variant.Decimal4 || k == variant.Decimal8 || k == variant.Decimal16
}

// scalar is the column of a primitive.
func (s *shredding) scalar() *part {
	p := &part{name: "typed_value", repetition: parquet.Repetitions.Optional, physical: parquet.Types.Int64}
	switch s.kind {
	case variant.Bool:
		p.physical = parquet.Types.Boolean
	case variant.Int8:
		p.physical, p.logical = parquet.Types.Int32, pqschema.NewIntLogicalType(8, true)
	case variant.Int16:
		p.physical, p.logical = parquet.Types.Int32, pqschema.NewIntLogicalType(16, true)
	case variant.Int32:
		p.physical = parquet.Types.Int32
	case variant.Double:
		p.physical = parquet.Types.Double
	case variant.Float:
		p.physical = parquet.Types.Float
	case variant.Decimal4:
		p.physical, p.logical = parquet.Types.Int32, pqschema.NewDecimalLogicalType(9, int32(s.scale))
	case variant.Decimal8:
		p.logical = pqschema.NewDecimalLogicalType(18, int32(s.scale))
	case variant.Decimal16:
		p.physical, p.length, p.logical = parquet.Types.FixedLenByteArray, 16, pqschema.NewDecimalLogicalType(38, int32(s.scale))
	case variant.Date:
		p.physical, p.logical = parquet.Types.Int32, pqschema.DateLogicalType{}
	case variant.Time:
		p.logical = pqschema.NewTimeLogicalType(false, pqschema.TimeUnitMicros)
	case variant.TimestampMicros, variant.TimestampMicrosNTZ:
		p.logical = pqschema.NewTimestampLogicalType(s.kind == variant.TimestampMicros, pqschema.TimeUnitMicros)
	case variant.TimestampNanos, variant.TimestampNanosNTZ:
		p.logical = pqschema.NewTimestampLogicalType(s.kind == variant.TimestampNanos, pqschema.TimeUnitNanos)
	case variant.String:
		p.physical, p.logical = parquet.Types.ByteArray, pqschema.StringLogicalType{}
	case variant.Binary:
		p.physical = parquet.Types.ByteArray
	case variant.UUID:
		p.physical, p.length, p.logical = parquet.Types.FixedLenByteArray, 16, pqschema.UUIDLogicalType{}
	}
	return p
}

// physical is a primitive as its column holds it.
func (v *variantValue) physical() any {
	switch v.kind {
	case variant.Bool:
		return v.number == 1
	case variant.Double, variant.Float:
		return v.real
	case variant.String, variant.Binary, variant.UUID:
		return v.bytes
	case variant.Decimal16:
		return signed(v.big(), 16)
	}
	return v.number
}
