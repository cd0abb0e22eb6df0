package variant

import (
	"fmt"
	"sort"
	"strings"
)

// shape is the type of values: that of one, or what several have in common.
type shape struct {
	kind             Kind
	precision, scale int // of decimals
	fields           map[string]shape
	element          *shape
	mixed            bool // several that have nothing in common
}

var kindNames = map[Kind]string{Null: "VOID", Boolean: "BOOLEAN", Long: "BIGINT", Double: "DOUBLE", Date: "DATE", Timestamp: "TIMESTAMP", TimestampNTZ: "TIMESTAMP_NTZ",
	Float: "FLOAT", Binary: "BINARY", String: "STRING", Time: "TIME(6)", TimestampNanos: "TIMESTAMP", TimestampNanosNTZ: "TIMESTAMP_NTZ", UUID: "UUID"}

// Schema writes the value's type as Spark's schema_of_variant does.
func (v Value) Schema() (string, error) {
	s, err := v.shape(v.walk())
	if err != nil {
		return "", err
	}
	return s.String(), nil
}

// String writes a type.
func (s shape) String() string {
	switch {
	case s.mixed:
		return "VARIANT"
	case s.kind == Decimal:
		return fmt.Sprintf("DECIMAL(%d,%d)", s.precision, s.scale)
	case s.kind == Array:
		return "ARRAY<" + s.element.String() + ">"
	case s.kind == Object:
		names := make([]string, 0, len(s.fields))
		for name := range s.fields {
			names = append(names, name)
		}
		sort.Strings(names)
		for i, name := range names {
			names[i] = name + ": " + s.fields[name].String()
		}
		return "OBJECT<" + strings.Join(names, ", ") + ">"
	}
	return kindNames[s.kind]
}

func (v Value) shape(w walk) (shape, error) {
	k, err := v.Kind()
	if err != nil {
		return shape{}, err
	}
	if w, err = w.down(); err != nil {
		return shape{}, err
	}
	out := shape{kind: k}
	switch k {
	case Object:
		fields, err := v.Fields()
		if err != nil {
			return out, err
		}
		out.fields = map[string]shape{}
		for _, f := range fields {
			if out.fields[f.Name], err = f.Value.shape(w); err != nil {
				return out, err
			}
		}
	case Array:
		elements, err := v.Elements()
		if err != nil {
			return out, err
		}
		out.element = &shape{kind: Null}
		for _, e := range elements {
			s, err := e.shape(w)
			if err != nil {
				return out, err
			}
			*out.element = out.element.merge(s)
		}
	case Decimal:
		unscaled, scale, err := v.decimal()
		if err != nil {
			return out, err
		}
		out.scale, out.precision = scale, max(scale, len(strings.TrimPrefix(unscaled.String(), "-")))
	}
	return out, nil
}

// merge gives the type that both have room in.
func (s shape) merge(o shape) shape {
	switch {
	case s.mixed || o.mixed:
		return shape{mixed: true}
	case s.kind == Null:
		return o
	case o.kind == Null:
		return s
	case s.kind == Object && o.kind == Object:
		out := shape{kind: Object, fields: map[string]shape{}}
		for name, f := range s.fields {
			out.fields[name] = f
		}
		for name, f := range o.fields {
			if known, ok := out.fields[name]; ok {
				f = known.merge(f)
			}
			out.fields[name] = f
		}
		return out
	case s.kind == Array && o.kind == Array:
		element := s.element.merge(*o.element)
		return shape{kind: Array, element: &element}
	case s.numeric() && o.numeric():
		return s.mergeNumber(o)
	case s.kind == o.kind:
		return s
	case s.day() && o.day():
		return shape{kind: max(s.kind, o.kind)}
	}
	return shape{mixed: true}
}

func (s shape) numeric() bool {
	return s.kind == Long || s.kind == Decimal || s.kind == Float || s.kind == Double
}

func (s shape) day() bool { return s.kind == Date || s.kind == Timestamp || s.kind == TimestampNTZ }

func (s shape) mergeNumber(o shape) shape {
	if s.kind == o.kind && s.kind != Decimal {
		return s
	}
	if s.kind == Double || o.kind == Double || (s.kind == Float || o.kind == Float) && (s.kind == Decimal || o.kind == Decimal) {
		return shape{kind: Double}
	}
	if s.kind == Float || o.kind == Float {
		return shape{kind: Float}
	}
	a, b := s.asDecimal(), o.asDecimal()
	scale := max(a.scale, b.scale)
	whole := max(a.precision-a.scale, b.precision-b.scale)
	if whole+scale > 38 {
		return shape{kind: Double}
	}
	return shape{kind: Decimal, precision: whole + scale, scale: scale}
}

// asDecimal gives a whole number the digits of its type.
func (s shape) asDecimal() shape {
	if s.kind == Long {
		return shape{kind: Decimal, precision: 20}
	}
	return s
}
