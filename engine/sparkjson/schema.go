package sparkjson

import (
	"slices"
	"strconv"
	"strings"
)

// Schema gives the type of a value as schema_of_json does.
func (v *Value) Schema() string { return typeOf(v).String() }

// shape is the type of values: one without parts by its name, an array of others, or a struct.
type shape struct {
	name   string // empty: null
	fields map[string]*shape
	array  *shape
	digits int // of decimals
}

func (s *shape) String() string {
	switch {
	case s.array != nil:
		return "ARRAY<" + s.array.String() + ">"
	case s.fields != nil:
		var names, parts []string
		for name := range s.fields {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			parts = append(parts, quotedName(name)+": "+s.fields[name].String())
		}
		return "STRUCT<" + strings.Join(parts, ", ") + ">"
	case s.name == "":
		return "STRING"
	case s.name == "DECIMAL":
		return "DECIMAL(" + strconv.Itoa(s.digits) + ",0)"
	}
	return s.name
}

func quotedName(name string) string {
	for i, c := range name {
		if !(c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || i > 0 && c >= '0' && c <= '9') {
			return "`" + strings.ReplaceAll(name, "`", "``") + "`"
		}
	}
	return name
}

func typeOf(v *Value) *shape {
	switch v.Kind {
	case Boolean:
		return &shape{name: "BOOLEAN"}
	case Float:
		return &shape{name: "DOUBLE"}
	case Text:
		return &shape{name: "STRING"}
	case Integer:
		digits := len(strings.TrimPrefix(v.Text, "-"))
		if _, err := strconv.ParseInt(v.Text, 10, 64); err == nil {
			return &shape{name: "BIGINT"}
		} else if digits <= 38 {
			return &shape{name: "DECIMAL", digits: digits}
		}
		return &shape{name: "DOUBLE"}
	case Array:
		inner := &shape{}
		for _, e := range v.Values {
			inner = merged(inner, typeOf(e))
		}
		return &shape{array: inner}
	case Object:
		out := &shape{fields: map[string]*shape{}}
		for i, name := range v.Names {
			out.fields[name] = merged(or(out.fields[name]), typeOf(v.Values[i]))
		}
		return out
	}
	return &shape{}
}

func or(s *shape) *shape {
	if s == nil {
		return &shape{}
	}
	return s
}

// none reports whether a type is that of null.
func (s *shape) none() bool { return s.name == "" && s.array == nil && s.fields == nil }

// merged gives the type of values of two types.
func merged(a, b *shape) *shape {
	numbers := []string{"BIGINT", "DECIMAL", "DOUBLE"}
	switch {
	case a.none():
		return b
	case b.none():
		return a
	case a.array != nil && b.array != nil:
		return &shape{array: merged(a.array, b.array)}
	case a.fields != nil && b.fields != nil:
		for name, f := range b.fields {
			a.fields[name] = merged(or(a.fields[name]), f)
		}
		return a
	case a.name != "" && a.name == b.name:
		return &shape{name: a.name, digits: max(a.digits, b.digits)}
	case slices.Contains(numbers, a.name) && slices.Contains(numbers, b.name):
		if a.name == "DOUBLE" || b.name == "DOUBLE" {
			return &shape{name: "DOUBLE"}
		}
		return &shape{name: "DECIMAL", digits: max(a.digits, b.digits, 20)}
	}
	return &shape{name: "STRING"}
}
