package dialect

import (
	"slices"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// conditional are the functions that choose one of their arguments, by the first of those that meet in one type; greatest and least take no texts beside others.
var conditional = map[string]int{"coalesce": 0, "nvl": 0, "ifnull": 0, "nvl2": 1, "iff": 1, "if": 1, "greatest": 0, "least": 0, "array": 0}

// unifiedCall writes a function whose arguments meet in one type; false: it is another one.
func (r *rewriter) unifiedCall(name string) bool {
	first, ok := conditional[name]
	if !ok || !r.Spark || r.odbc || !r.is("(") {
		return false
	}
	from, bounds := r.next-1, r.argumentBounds()
	text, known := r.callText(name, len(bounds))
	if !known || len(bounds) < first+2 || len(bounds) > maxCompared || r.unbound(r.next, r.endOf(r.next+1)) || r.allAlike(bounds[first:]) {
		return false
	}
	if name == "if" {
		text = "CASE WHEN $1 THEN $2 ELSE $3 END"
	}
	args := r.argumentPieces(bounds)
	if r.failed != nil {
		return true
	}
	var asked []int
	for i := first; i < len(bounds); i++ {
		asked = append(asked, i)
	}
	r.put(&coercion{text: text, operands: args, asked: asked, zone: r.Zone.String(), rule: unifyRule(name)}, from, r.next)
	return true
}

// allAlike reports whether all operands are literals of one kind, or NULL.
func (r *rewriter) allAlike(bounds [][2]int) bool {
	var kind syntax.TokenKind
	for _, b := range bounds {
		t := r.at(b[0])
		literal := t.Kind == syntax.Text || t.Kind == syntax.Number && strings.Trim(t.Text, "0123456789") == ""
		switch {
		case b[1]-b[0] != 1 || !literal && !t.Is("NULL"):
			return false
		case t.Is("NULL"):
		case kind != 0 && kind != t.Kind:
			return false
		default:
			kind = t.Kind
		}
	}
	return true
}

// unifyRule casts values to the type that they have in common, where the engine has another one.
func unifyRule(name string) func(types []Type) (verdict, error) {
	return func(types []Type) (verdict, error) {
		out := verdict{casts: make([]string, len(types))}
		extreme := name == "greatest" || name == "least"
		if extreme {
			if err := orderable(name, types...); err != nil {
				return out, err
			}
		}
		to := Type{Name: `"NULL"`, Text: `"NULL"`}
		for _, t := range types {
			if !simple(t) && t.Name != "LIST" && t.Name != `"NULL"` {
				return alikeRule(name, types), nil
			}
			texts := isText(t) != isText(to) && t.Name != `"NULL"` && to.Name != `"NULL"`
			wider, ok := common(to, t)
			if !ok || texts && extreme {
				return out, different(name, types)
			}
			to = wider
		}
		if to.Name == `"NULL"` {
			return out, nil
		}
		for i, t := range types {
			if t.Text != to.Text {
				out.casts[i] = to.Text
			}
		}
		out.gives = to
		if extreme && to.Name == "LIST" {
			out.text = extremeOf(name, types)
		}
		if name == "array" {
			out.gives = parseType(to.Text + "[]")
		}
		return out, nil
	}
}

// alikeRule leaves structs and maps to the engine. What is made of those of one type has a type that is known.
func alikeRule(name string, types []Type) (out verdict) {
	out.casts = make([]string, len(types))
	if slices.ContainsFunc(types, func(t Type) bool { return t.Text != types[0].Text }) {
		return out
	}
	switch out.gives = types[0]; name {
	case "array":
		out.gives = parseType(types[0].Text + "[]")
	case "greatest", "least":
		out.text = extremeOf(name, types)
	}
	return out
}

// simple reports whether values of a type have no parts.
func simple(t Type) bool {
	return isNumber(t) || isDatetime(t) || t.Name == "BOOLEAN" || t.Name == "BLOB" || t.Name == "VARCHAR"
}

// maxCompared is up to how many values in a list are looked at one by one: Spark's users' tools write longer ones of one type.
const maxCompared = 50

// chosen writes decode as a choice whose results meet in one type. What there is where none of them is chosen is a text that is NULL.
func (r *rewriter) chosen(bounds [][2]int) {
	from, operands := r.next-1, r.argumentPieces(bounds)
	if r.failed != nil {
		return
	}
	if len(operands)%2 == 1 {
		operands = append(operands, []piece{{table: -1, text: "CAST(NULL AS VARCHAR)"}})
	}
	last := len(operands) - 1
	text, asked := "CASE", []int{}
	for i := 1; i+1 < last; i += 2 {
		text += " WHEN ($1) IS NOT DISTINCT FROM ($" + itoa(i+1) + ") THEN $" + itoa(i+2)
		asked = append(asked, i+1)
	}
	text += " ELSE $" + itoa(last+1) + " END"
	r.put(&coercion{text: text, operands: operands, asked: append(asked, last), zone: r.Zone.String(), rule: unifyRule("decode")}, from, r.next)
}
