package dialect

import "github.com/skua-data/skua/engine/syntax"

// elementAt makes element_at and try_element_at, which count a list's elements from 1 or from its end, and look a map's keys up. A function of ours finds the place.
func elementAt(place string) func(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	return func(r *rewriter, bounds [][2]int, _ syntax.Pos) bool {
		if len(bounds) != 2 || r.unbound(bounds[0][0], bounds[1][1]) {
			return false
		}
		r.typedCall("", bounds, placeRule("element_at", elementText(place, r.isColumn(bounds[0]))))
		return true
	}
}

// elementText writes an element of a list at a place. What is more than a column is written once.
func elementText(place string, column bool) string {
	if column {
		return "($1)[" + place + "($2, len($1))]"
	}
	return "list_transform([struct_pack(l := $1, n := $2)], lambda skua_v: skua_v.l[" + place + "(skua_v.n, len(skua_v.l))])[1]"
}

// placeRule is for what takes an element of a list, or the value of a map's key.
func placeRule(name, text string) func(types []Type) (verdict, error) {
	return func(types []Type) (verdict, error) {
		of, key := types[0], types[1]
		out := verdict{text: text, casts: []string{"", ""}}
		switch {
		case of.Name == "MAP":
			keys, value := of.entry()
			if key.Text != keys.Text && simple(keys) && (simple(key) || key.Name == `"NULL"`) {
				if to, ok := meeting(keys, key); !ok || to.Text != keys.Text && name == "" {
					return out, unexpected(name, keys.sparkName(), key)
				} else if to.Text == keys.Text {
					out.casts[1] = to.Text
				}
			}
			out.text, out.gives = "($1)[$2]", value
		case of.Name == "LIST":
			if !isWhole(key) && (name != "" || key.Name != `"NULL"`) && key.Name != "" {
				return out, unexpected(name, "INT", key)
			}
			out.gives = of.element()
		case of.Name != "" && of.Name != `"NULL"`:
			out.text = "($1)[$2]"
		}
		return out, nil
	}
}
