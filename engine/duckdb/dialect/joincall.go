package dialect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skua-data/skua/fault"
)

// concatenated writes concat in Spark's dialect.
func (r *rewriter) concatenated() bool {
	if !r.Spark || r.odbc || !r.is("(") {
		return false
	}
	from, bounds := r.next-1, r.argumentBounds()
	if r.unbound(r.next, r.endOf(r.next+1)) || len(bounds) > maxCompared {
		return false
	}
	pos := r.at(from).Pos
	args := r.argumentPieces(bounds)
	switch {
	case r.failed != nil:
		return true
	case len(bounds) == 0:
		r.emitAt("''", pos)
		return true
	}
	text := "("
	asked := []int{}
	for i, b := range bounds {
		if i > 0 {
			text += " || "
		}
		text += "($" + itoa(i+1) + ")"
		if !r.isText(b) {
			asked = append(asked, i)
		}
	}
	rule := concatRule
	if len(asked) < len(bounds) { // a text is among them
		rule = func(types []Type) (verdict, error) {
			out, err := concatRule(append(slices.Clone(types), parseType("VARCHAR")))
			if out.casts != nil {
				out.casts = out.casts[:len(types)]
			}
			return out, err
		}
	}
	if len(asked) == 0 {
		for i, a := range args {
			r.emitAt([]string{"(", "||"}[min(i, 1)], pos)
			r.out.pieces = append(r.out.pieces, a...)
		}
		r.emit(")")
		return true
	}
	r.put(&coercion{text: text + ")", operands: args, asked: asked, zone: r.Zone.String(), rule: rule}, from, r.next)
	return true
}

// joined writes concat_ws, whose lists are joined as their elements are, and array_join.
func (r *rewriter) joined(name string) bool {
	if !r.Spark || r.odbc || !r.is("(") {
		return false
	}
	from, bounds := r.next-1, r.argumentBounds()
	if r.unbound(r.next, r.endOf(r.next+1)) || len(bounds) < 1 || len(bounds) > maxCompared || name == "array_join" && len(bounds) != 2 && len(bounds) != 3 {
		return false
	}
	args := r.argumentPieces(bounds)
	if r.failed != nil {
		return true
	}
	asked := make([]int, len(bounds))
	for i := range asked {
		asked[i] = i
	}
	rule := wordsRule
	text := "concat_ws(" + numbered(len(bounds)) + ")"
	if len(bounds) == 1 {
		text = "CASE WHEN ($1) IS NOT NULL THEN '' END"
	}
	if name == "array_join" {
		rule, text = joinRule, "CASE WHEN ($1) IS NOT NULL AND ($2) IS NOT NULL THEN coalesce(array_to_string($1, $2), '') END"
		if len(bounds) == 3 {
			text = "CASE WHEN ($1) IS NOT NULL AND ($2) IS NOT NULL AND ($3) IS NOT NULL THEN coalesce(array_to_string(list_transform($1, lambda skua_x: coalesce(skua_x, $3)), $2), '') END"
		}
	}
	r.put(&coercion{text: text, operands: args, asked: asked, zone: r.Zone.String(), rule: rule}, from, r.next)
	return true
}

// numbered gives $1, $2, ….
func numbered(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = "$" + itoa(i+1)
	}
	return strings.Join(out, ", ")
}

// texts casts what is no text, and lists of what is none to lists of texts.
func texts(types []Type) []string {
	out := make([]string, len(types))
	for i, t := range types {
		switch {
		case t.Name == "LIST" && t.Text != "VARCHAR[]":
			out[i] = "VARCHAR[]"
		case t.Name != "LIST" && !isText(t):
			out[i] = "VARCHAR"
		}
	}
	return out
}

// joinRule is for array_join.
func joinRule(types []Type) (verdict, error) {
	return verdict{casts: texts(types), gives: parseType("VARCHAR")}, nil
}

// wordsRule is for concat_ws, which leaves NULL out, in lists, too.
func wordsRule(types []Type) (verdict, error) {
	out := verdict{casts: texts(types), gives: parseType("VARCHAR")}
	if !slices.ContainsFunc(types, func(t Type) bool { return t.Name == "LIST" }) {
		return out, nil
	}
	lists := make([]string, len(types)-1)
	for i, t := range types[1:] {
		lists[i] = "[$" + itoa(i+2) + "]"
		if t.Name == "LIST" {
			lists[i] = "coalesce($" + itoa(i+2) + ", [])"
		}
	}
	out.text = "CASE WHEN ($1) IS NOT NULL THEN coalesce(array_to_string(" + strings.Join(lists, " || ") + ", $1), '') END"
	return out, nil
}

// concatRule joins texts, bytes with bytes, and lists with lists.
func concatRule(types []Type) (verdict, error) {
	bytes, lists, others := 0, 0, 0
	var element Type
	for _, t := range types {
		switch t.Name {
		case "BLOB":
			bytes++
		case "LIST":
			lists++
			if lists == 1 {
				element = t
			} else if wider, ok := commonList(element, t); ok {
				element = wider
			} else {
				return verdict{}, different("concat", types)
			}
		case `"NULL"`:
		default:
			others++
		}
	}
	out := verdict{casts: make([]string, len(types)), gives: parseType("VARCHAR")}
	none := slices.ContainsFunc(types, func(t Type) bool { return t.Name == `"NULL"` })
	switch {
	case lists > 0 && (bytes > 0 || others > 0):
		return out, different("concat", types)
	case none && lists > 0:
		return verdict{text: "CAST(NULL AS " + element.Text + ")", gives: element}, nil
	case none:
		return verdict{text: "CAST(NULL AS VARCHAR)", gives: out.gives}, nil
	case lists > 0:
		for i := range types {
			out.casts[i] = element.Text
		}
		out.gives = element
	case bytes > 0 && others == 0 && bytes == len(types):
		out.gives = parseType("BLOB")
	default:
		for i, t := range types {
			if !isText(t) {
				out.casts[i] = "VARCHAR"
			}
		}
	}
	return out, nil
}

// commonList gives the type of lists of what two lists have.
func commonList(a, b Type) (Type, bool) {
	element, ok := common(parseType(strings.TrimSuffix(a.Text, "[]")), parseType(strings.TrimSuffix(b.Text, "[]")))
	return parseType(element.Text + "[]"), ok
}

// different is Spark's error for types without a common one.
func different(name string, types []Type) error {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = fmt.Sprintf("%q", t.sparkName())
	}
	return fault.New(fault.Invalid, "Cannot resolve %q due to data type mismatch: Input to `%s` should all be the same type, but it's [%s].", name, name, strings.Join(names, ", ")).
		With("DATATYPE_MISMATCH.DATA_DIFF_TYPES", "42K09")
}
