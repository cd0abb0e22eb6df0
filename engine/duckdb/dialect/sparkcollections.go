package dialect

import (
	"strings"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// sparkCollections are Spark's functions of lists, maps and structs.
var sparkCollections = func() map[string]function {
	out := map[string]function{
		"typeof":         templated(1, "skua_type_name(typeof($1))"),
		"array_distinct": byTypes(1, 1, distinctRule), "array_compact": templated(1, "list_filter($1, lambda skua_x: skua_x IS NOT NULL)"),
		"array_repeat": templated(2, "skua_repeated($1, $2)"), "slice": templated(3, "skua_sliced($1, $2, $3)"), "flatten": templated(1, "skua_flattened($1)"),
		"get":        {special: getElement},
		"sort_array": {special: sortArray}, "named_struct": {special: sparkNamedStruct},
		"map_from_arrays": templated(2, "skua_map_made($1, $2)"), "map_from_entries": {special: mapFromEntries},
		"str_to_map": templated(1, "skua_text_map($1, ',', ':')", 2, "skua_text_map($1, $2, ':')", 3, "skua_text_map($1, $2, $3)"),
		"map":        {special: sparkMap}, "map_concat": {special: mapConcat}, "arrays_zip": {special: arraysZip}, "sequence": byTypes(2, 3, sequenceRule),
		"size": byTypes(1, 1, sizeRule("size")), "cardinality": byTypes(1, 1, sizeRule("cardinality")),
		"element_at": {special: elementAt("skua_element")}, "try_element_at": {special: elementAt("skua_try_element")},
		"array_contains":   byTypes(2, 2, valueRule("array_contains", "skua_contains($1, $2)", "BOOLEAN")),
		"array_position":   byTypes(2, 2, valueRule("array_position", "skua_position($1, $2)", "BIGINT")),
		"array_remove":     byTypes(2, 2, valueRule("array_remove", "skua_remove($1, $2)", "")),
		"array_append":     byTypes(2, 2, valueRule("array_append", "skua_append($1, $2)", "")),
		"array_prepend":    byTypes(2, 2, valueRule("array_prepend", "skua_prepend($1, $2)", "")),
		"array_insert":     byTypes(3, 3, insertRule),
		"array_union":      byTypes(2, 2, listsRule("array_union", "skua_union($1, $2)", "")),
		"array_except":     byTypes(2, 2, listsRule("array_except", "skua_except($1, $2)", "")),
		"array_intersect":  byTypes(2, 2, listsRule("array_intersect", "skua_intersect($1, $2)", "")),
		"arrays_overlap":   byTypes(2, 2, listsRule("arrays_overlap", "skua_overlap($1, $2)", "BOOLEAN")),
		"map_contains_key": byTypes(2, 2, keyRule),
		"array_max":        byTypes(1, 1, extremeRule("array_max", "list_max", "'DESC'")),
		"array_min":        byTypes(1, 1, extremeRule("array_min", "list_min", "'ASC'")),
	}
	for name := range lambdaCalls {
		out[name] = lambdaFunction(name)
	}
	out["reduce"], out["array_sort"] = out["aggregate"], function{special: arraySort}
	return out
}()

// byTypes makes a function that is written by the types of its arguments.
func byTypes(least, most int, rule func(types []Type) (verdict, error)) function {
	return function{special: func(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
		if len(bounds) < least || len(bounds) > most || r.unbound(bounds[0][0], bounds[len(bounds)-1][1]) {
			return false
		}
		r.typedCall(numbered(len(bounds)), bounds, rule)
		return true
	}}
}

// typedCall writes a call by a rule over the types of all arguments. Text is what stands for it where they are not known.
func (r *rewriter) typedCall(text string, bounds [][2]int, rule func(types []Type) (verdict, error)) {
	from := r.next - 1
	args := r.argumentPieces(bounds)
	if r.failed != nil {
		return
	}
	asked := make([]int, len(bounds))
	for i := range asked {
		asked[i] = i
	}
	if v, err := rule(make([]Type, len(bounds))); err == nil && v.text != "" {
		text = v.text
	}
	r.put(&coercion{text: text, operands: args, asked: asked, zone: r.Zone.String(), rule: rule}, from, r.next)
}

// element gives the type of a list's elements.
func (t Type) element() Type { return parseType(strings.TrimSuffix(t.Text, "[]")) }

// entry gives the types of a map's keys and values.
func (t Type) entry() (key, value Type) {
	inner := strings.TrimSuffix(strings.TrimPrefix(t.Text, "MAP("), ")")
	depth, quoted := 0, false
	for i, c := range inner {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			return parseType(inner[:i]), parseType(strings.TrimSpace(inner[i+1:]))
		}
	}
	return Type{}, Type{}
}

// mismatch is Spark's error for arguments whose types do not go together.
func mismatch(name, kind, message string) error {
	return fault.New(fault.Invalid, "Cannot resolve %q due to data type mismatch: %s", name, message).With("DATATYPE_MISMATCH."+kind, "42K09")
}

// meeting gives the type in which two values of collections are compared; false: they are of different kinds.
func meeting(a, b Type) (Type, bool) {
	switch none := `"NULL"`; {
	case a.Name == "" || b.Name == "" || a.Text == b.Text || b.Name == none:
		return a, true
	case a.Name == none:
		return b, true
	case isText(a) && isText(b):
		return a, true
	case isNumber(a) && isNumber(b), isDatetime(a) && isDatetime(b):
		return common(a, b)
	case a.Name == "LIST" && b.Name == "LIST":
		inner, ok := meeting(a.element(), b.element())
		return parseType(inner.Text + "[]"), ok
	}
	return a, a.Name == b.Name && (a.Name == "STRUCT" || a.Name == "MAP")
}

// valueRule is for functions of a list and a value.
func valueRule(name, text, gives string) func(types []Type) (verdict, error) {
	return func(types []Type) (verdict, error) {
		list, value := types[0], types[1]
		out := verdict{text: text, gives: parseType(gives), casts: []string{"", ""}}
		switch {
		case name == "array_contains" && (list.Name == `"NULL"` || value.Name == `"NULL"`):
			return out, mismatch(name, "NULL_TYPE", "Null typed values cannot be used as arguments.")
		case list.Name == "" || value.Name == "":
			return out, nil
		case list.Name != "LIST" && list.Name != `"NULL"`:
			return out, unexpected(name, "ARRAY", list)
		case list.Name == `"NULL"`:
			out.casts[0] = value.Text + "[]"
			list = parseType(value.Text + "[]")
		}
		to, ok := meeting(list.element(), value)
		if !ok {
			return out, mismatch(name, "ARRAY_FUNCTION_DIFF_TYPES", "the array's elements and the value have different types.")
		}
		if to.Text != list.element().Text {
			out.casts[0] = to.Text + "[]"
		}
		if value.Text != to.Text {
			out.casts[1] = to.Text
		}
		if gives == "" {
			out.gives = parseType(to.Text + "[]")
		}
		return out, nil
	}
}

// insertRule is for array_insert.
func insertRule(types []Type) (verdict, error) {
	if t := types[1]; t.Name != "" && !isWhole(t) {
		return verdict{}, unexpected("array_insert", "INT", t)
	}
	out, err := valueRule("array_insert", "skua_inserted($1, $2, $3)", "")([]Type{types[0], types[2]})
	if len(out.casts) > 1 {
		out.casts = []string{out.casts[0], "", out.casts[1]}
	}
	return out, err
}

// listsRule is for functions of two lists.
func listsRule(name, text, gives string) func(types []Type) (verdict, error) {
	return func(types []Type) (verdict, error) {
		out := verdict{text: text, gives: parseType(gives), casts: []string{"", ""}}
		if types[0].Name == "" || types[1].Name == "" {
			return out, nil
		}
		to, ok := meeting(types[0].element(), types[1].element())
		if types[0].Name != "LIST" || types[1].Name != "LIST" || !ok {
			return out, mismatch(name, "BINARY_ARRAY_DIFF_TYPES", "the arguments are not arrays of one type.")
		}
		for i, t := range types {
			if t.Text != to.Text+"[]" {
				out.casts[i] = to.Text + "[]"
			}
		}
		if gives == "" {
			out.gives = parseType(to.Text + "[]")
		}
		out.text = zerosApart(text, to, gives == "")
		return out, nil
	}
}

// distinctRule is for array_distinct.
func distinctRule(types []Type) (verdict, error) {
	return verdict{text: zerosApart("skua_distinct($1)", types[0].element(), true), gives: types[0], casts: []string{""}}, nil
}

// zerosApart writes a call that compares the elements of lists so that 0.0 and -0.0 are two, as Spark does with numbers that are elements themselves.
func zerosApart(call string, element Type, list bool) string {
	if element.Name != "DOUBLE" && element.Name != "FLOAT" {
		return call
	}
	for _, operand := range []string{"$1", "$2"} {
		call = strings.Replace(call, operand, "list_transform("+operand+", lambda skua_z: CASE WHEN skua_z IS NOT NULL THEN struct_pack(v := skua_z, z := skua_z = 0 AND signbit(skua_z)) END)", 1)
	}
	if !list {
		return call
	}
	return "list_transform(" + call + ", lambda skua_z: skua_z.v)"
}

// sizeRule is for size and cardinality.
func sizeRule(name string) func(types []Type) (verdict, error) {
	return func(types []Type) (verdict, error) {
		out := verdict{text: "CAST(len($1) AS INTEGER)", gives: parseType("INTEGER")}
		switch t := types[0]; t.Name {
		case "MAP":
			out.text = "CAST(cardinality($1) AS INTEGER)"
		case "LIST", "":
		case `"NULL"`:
			out.text = "CAST($1 AS INTEGER)"
		default:
			return out, unexpected(name, "ARRAY", t)
		}
		return out, nil
	}
}

// keyRule is for map_contains_key.
func keyRule(types []Type) (verdict, error) {
	out := verdict{text: "map_contains($1, $2)", gives: parseType("BOOLEAN"), casts: []string{"", ""}}
	m, key := types[0], types[1]
	switch {
	case m.Name == "" || key.Name == "":
		return out, nil
	case m.Name == `"NULL"` || key.Name == `"NULL"`:
		return out, mismatch("map_contains_key", "NULL_TYPE", "Null typed values cannot be used as arguments.")
	case m.Name != "MAP":
		return out, unexpected("map_contains_key", "MAP", m)
	}
	keys, _ := m.entry()
	to, ok := meeting(keys, key)
	if !ok {
		return out, mismatch("map_contains_key", "MAP_FUNCTION_DIFF_TYPES", "the map's keys and the value have different types.")
	}
	if to.Text == keys.Text && key.Text != to.Text {
		out.casts[1] = to.Text
	}
	return out, nil
}
