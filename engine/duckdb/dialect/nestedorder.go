package dialect

import (
	"slices"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// OrderKey is a function that gives bytes which compare as Spark orders values with parts; NULL for NULL.
const OrderKey = "skua_order"

// orderedCalls are the aggregates that order values, as they are called up to their last parenthesis, and how they are called where the values have parts.
var orderedCalls = map[string]string{"min($1": "arg_min($1, " + OrderKey + "($1)", "max($1": "arg_max($1, " + OrderKey + "($1)",
	"arg_min_null($1, $2": "arg_min_null($1, " + OrderKey + "($2)", "arg_max_null($1, $2": "arg_max_null($1, " + OrderKey + "($2)"}

// Orders reports whether an aggregate of the engine orders values.
func Orders(name string) bool {
	for call := range orderedCalls {
		if strings.HasPrefix(call, name+"(") {
			return true
		}
	}
	return false
}

// orderedCall writes the call of an aggregate up to its last parenthesis; one that orders values is written in both ways.
func (r *rewriter) orderedCall(call string, args [][]piece, pos syntax.Pos) {
	nested := orderedCalls[strings.Replace(call, "(DISTINCT ", "(", 1)]
	if !r.Spark || nested == "" {
		r.template(call, pos, args...)
		return
	}
	r.putKey(sortKey{value: r.capture(func() { r.template(call, pos, args...) }), nested: r.capture(func() { r.template(nested, pos, args...) })}, pos)
}

// partial reports whether values of a type have parts that may be NULL inside them.
func partial(t Type) bool { return t.Name == "LIST" || t.Name == "STRUCT" }

// orderable is Spark's error for values that have no order: maps, and what holds them.
func orderable(name string, types ...Type) error {
	for _, t := range types {
		if strings.Contains(t.Text, "MAP(") {
			return mismatch(name, "INVALID_ORDERING_TYPE", "The `"+name+"` does not support ordering on type \""+t.sparkName()+"\".")
		}
	}
	return nil
}

// keyedList makes structs of a list's elements and their keys; NULL stays NULL.
func keyedList(list string) string {
	return "list_transform(" + list + ", lambda skua_k: CASE WHEN skua_k IS NOT NULL THEN struct_pack(k := " + OrderKey + "(skua_k), v := skua_k) END)"
}

// sortRule sorts a list in an order of the engine.
func sortRule(name, order string) func(types []Type) (verdict, error) {
	return func(types []Type) (verdict, error) {
		t := types[0]
		if err := orderable(name, t.element()); err != nil && t.Name == "LIST" {
			return verdict{}, err
		}
		if t.Name != "LIST" || !partial(t.element()) {
			return verdict{gives: t}, nil
		}
		return verdict{text: "list_transform(list_sort(" + keyedList("$1") + ", " + order + "), lambda skua_k: skua_k.v)", gives: t}, nil
	}
}

// extremeRule takes the least or the greatest element of a list.
func extremeRule(name, call, order string) func(types []Type) (verdict, error) {
	return func(types []Type) (verdict, error) {
		t := types[0]
		switch {
		case t.Name != "LIST":
			return verdict{text: call + "($1)"}, nil
		case !partial(t.element()):
			return verdict{text: call + "($1)", gives: t.element()}, orderable(name, t.element())
		}
		return verdict{text: "(list_sort(list_filter(" + keyedList("$1") + ", lambda skua_k: skua_k IS NOT NULL), " + order + ")[1]).v", gives: t.element()}, orderable(name, t.element())
	}
}

// extremeOf writes greatest or least of values with parts that have one type.
func extremeOf(name string, types []Type) string {
	order, keyed := "'DESC'", make([]string, len(types))
	if name == "least" {
		order = "'ASC'"
	}
	for i := range types {
		keyed[i] = "$" + itoa(i+1)
	}
	return "(list_sort(list_filter(" + keyedList("["+strings.Join(keyed, ", ")+"]") + ", lambda skua_k: skua_k IS NOT NULL), " + order + ")[1]).v"
}

// inOrder are the comparisons that ask for an order.
var inOrder = []string{"$1 < $2", "$1 <= $2", "$1 > $2", "$1 >= $2", "$1 BETWEEN $2 AND $3", "$1 NOT BETWEEN $2 AND $3"}

// comparesNested says how a comparison of values with parts is written; empty: as it stands.
func comparesNested(text string, types []Type) (string, error) {
	if err := orderable(strings.Trim(text, "$123456789 "), types...); err != nil {
		return "", err
	}
	if !partial(types[0]) {
		return "", nil
	}
	same := !slices.Contains(inOrder, text)
	out := text
	for i, t := range types {
		alike, named := keysAlike(types[0], t)
		switch {
		case alike:
		case partial(t) && !named:
			return "", unlike(types[0], t)
		default:
			return "", nil
		}
		same = same && t.Text == types[0].Text
		place := "$" + itoa(i+1)
		out = strings.Replace(out, place, OrderKey+"("+place+")", 1)
	}
	if same { // the engine compares them as Spark does
		return "", nil
	}
	return out, nil
}

// keysAlike reports whether the keys of values of two types are compared, whatever their fields are called; named: the fields have the same names.
func keysAlike(a, b Type) (alike, named bool) {
	switch {
	case a.Text == b.Text:
		return true, true
	case a.Name == "LIST" && b.Name == "LIST":
		return keysAlike(a.element(), b.element())
	case a.Name != "STRUCT" || b.Name != "STRUCT":
		return isWhole(a) && isWhole(b) || isFloat(a) && isFloat(b), true
	}
	left, right := structFields(a), structFields(b)
	if len(left) != len(right) {
		return false, false
	}
	alike, named = true, true
	for i := range left {
		of, inner := keysAlike(left[i].of, right[i].of)
		alike, named = alike && of, named && inner && strings.EqualFold(left[i].name, right[i].name)
	}
	return alike && (named || sameParts(left, right)), named
}

// sameParts reports whether fields have the same types.
func sameParts(left, right []field) bool {
	for i := range left {
		a, b := left[i].of, right[i].of
		if alike, _ := keysAlike(a, b); !alike || !partial(a) && a.Text != b.Text {
			return false
		}
	}
	return true
}

func isFloat(t Type) bool { return t.Name == "FLOAT" || t.Name == "DOUBLE" }

// unlikeElements is Spark's error for lists whose elements are not compared with each other: a decimal meets what it holds.
func unlikeElements(a, b Type) error {
	for a.Name == "LIST" && b.Name == "LIST" {
		a, b = a.element(), b.element()
	}
	if !simple(a) || !simple(b) || a.Text == b.Text || isDatetime(a) && isDatetime(b) || a.Name != "DECIMAL" && b.Name != "DECIMAL" && isNumber(a) && isNumber(b) {
		return nil
	}
	if isNumber(a) && isNumber(b) && !isFloat(a) && !isFloat(b) {
		if to := commonNumber(a, b); to.Text == a.Text || to.Text == b.Text {
			return nil
		}
	}
	return fault.New(fault.Invalid, "Cannot resolve the comparison due to data type mismatch: the elements have incompatible types (%q and %q).", a.sparkName(), b.sparkName()).
		With("DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES", "42K09")
}
