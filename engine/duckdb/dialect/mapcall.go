package dialect

import (
	"strings"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// sparkMap writes map(k, v, …), whose keys and values have a type each.
func sparkMap(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) == 0 {
		return mapCall(r, bounds, pos)
	}
	if len(bounds)%2 == 1 {
		r.failed = fault.New(fault.Invalid, "The `map` requires 2n (n > 0) parameters but the actual number is %d.", len(bounds)).With("WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "42605").At(faultAt(pos))
		return true
	}
	var sides [2][]string
	var parts [2][][2]int
	for i, b := range bounds {
		sides[i%2] = append(sides[i%2], "$"+itoa(i+1))
		parts[i%2] = append(parts[i%2], b)
	}
	if len(bounds) > maxCompared || r.unbound(bounds[0][0], bounds[len(bounds)-1][1]) || len(bounds) <= 8 && r.allAlike(parts[0]) && r.allAlike(parts[1]) {
		return r.mapOf("skua_map_made([", bounds, pos)
	}
	text := "skua_map_made([" + strings.Join(sides[0], ", ") + "], [" + strings.Join(sides[1], ", ") + "])"
	r.typedCall(text, bounds, func(types []Type) (verdict, error) {
		out := verdict{casts: make([]string, len(types))}
		gives := [2]Type{}
		for side := range 2 {
			var of []Type
			for i := side; i < len(types); i += 2 {
				of = append(of, types[i])
			}
			v, err := unifyRule("map")(of)
			if err != nil {
				return out, err
			}
			gives[side] = v.gives
			for i, to := range v.casts {
				out.casts[2*i+side] = to
			}
		}
		if gives[0].Name != "" && gives[1].Name != "" {
			out.gives = parseType("MAP(" + gives[0].Text + ", " + gives[1].Text + ")")
		}
		return out, nil
	})
	return true
}

// mapOf writes a map behind a text that begins with its list of keys.
func (r *rewriter) mapOf(begin string, bounds [][2]int, pos syntax.Pos) bool {
	args := r.argumentPieces(bounds)
	for side, open := range []string{begin, "], ["} {
		r.emitAt(open, pos)
		for i := side; i < len(args); i += 2 {
			if i > 1 {
				r.emit(",")
			}
			r.out.pieces = append(r.out.pieces, args[i]...)
		}
	}
	r.emit("])")
	return true
}

// mapConcat writes map_concat, whose maps have no key in common.
func mapConcat(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) == 0 || len(bounds) > 9 {
		return false
	}
	for _, b := range bounds {
		if b[1]-b[0] == 1 && r.at(b[0]).Is("NULL") {
			r.failed = mismatch("map_concat", "MAP_CONCAT_DIFF_TYPES", "the arguments are not all of one type of map.")
			return true
		}
	}
	var fields, keys, values []string
	for i := range bounds {
		m := "m" + itoa(i+1)
		fields = append(fields, m+" := $"+itoa(i+1))
		keys, values = append(keys, "map_keys(skua_v."+m+")"), append(values, "map_values(skua_v."+m+")")
	}
	args := r.argumentPieces(bounds)
	r.template("list_transform([struct_pack("+strings.Join(fields, ", ")+")], lambda skua_v: skua_map_made("+strings.Join(keys, " || ")+", "+strings.Join(values, " || ")+"))[1]", pos, args...)
	return true
}

// arraysZip writes arrays_zip, whose structs have fields that are called after the columns, or by their numbers.
func arraysZip(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) == 0 || len(bounds) > 9 {
		return false
	}
	var fields, missing, lists, parts []string
	for i, b := range bounds {
		n := itoa(i + 1)
		name := itoa(i)
		if r.isColumn(b) {
			name = r.at(b[1] - 1).Name()
		}
		fields, missing, lists = append(fields, "l"+n+" := $"+n), append(missing, "skua_v.l"+n+" IS NULL"), append(lists, "skua_v.l"+n)
		parts = append(parts, QuoteIdent(name)+" := struct_extract_at(skua_e, "+n+")")
	}
	args := r.argumentPieces(bounds)
	r.template("list_transform([struct_pack("+strings.Join(fields, ", ")+")], lambda skua_v: CASE WHEN "+strings.Join(missing, " OR ")+" THEN NULL ELSE list_transform(list_zip("+
		strings.Join(lists, ", ")+"), lambda skua_e: struct_pack("+strings.Join(parts, ", ")+")) END)[1]", pos, args...)
	return true
}

// arraySort writes array_sort, by values or by a lambda.
func arraySort(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) != 1 {
		return r.lambdaCall(lambdaCalls["array_sort"], bounds, pos)
	}
	r.sorted("array_sort", "'ASC', 'NULLS LAST'", bounds, pos)
	return true
}

// sortArray writes sort_array: the order is a literal.
func sortArray(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	order := "'ASC', 'NULLS FIRST'"
	if len(bounds) == 2 {
		switch t := r.at(bounds[1][0]); {
		case bounds[1][1]-bounds[1][0] != 1:
			return false
		case t.Is("FALSE"):
			order = "'DESC', 'NULLS LAST'"
		case t.Is("NULL"):
			r.template("list_transform([$1], lambda skua_v: CASE WHEN false THEN skua_v END)[1]", pos, r.argumentPieces(bounds)...)
			return true
		case !t.Is("TRUE"):
			return false
		}
	}
	if len(bounds) == 0 || len(bounds) > 2 {
		return false
	}
	r.sorted("sort_array", order, bounds, pos)
	return true
}

// sorted writes the sort of a list.
func (r *rewriter) sorted(name, order string, bounds [][2]int, pos syntax.Pos) {
	text := r.ofList("list_sort(&, "+order+")", bounds[0])
	if r.unbound(bounds[0][0], bounds[0][1]) {
		r.template(text, pos, r.argumentPieces(bounds)...)
		return
	}
	r.typedCall(text, bounds, sortRule(name, order))
}

// ofList gives a call with a list in the place of &; one that is no column has a type in a lambda even if it is NULL.
func (r *rewriter) ofList(call string, list [2]int) string {
	if r.isColumn(list) {
		return strings.Replace(call, "&", "$1", 1)
	}
	return "list_transform([$1], lambda skua_v: " + strings.Replace(call, "&", "skua_v", 1) + ")[1]"
}

// getElement writes get, which counts from 0.
func getElement(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) != 2 {
		return false
	}
	r.template(r.ofList("list_extract(&, greatest($2, -1) + 1)", bounds[0]), pos, r.argumentPieces(bounds)...)
	return true
}

// sparkNamedStruct writes named_struct, whose names are literals.
func sparkNamedStruct(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) == 0 || len(bounds)%2 == 1 {
		r.failed = fault.New(fault.Invalid, "The `named_struct` requires 2n (n > 0) parameters but the actual number is %d.", len(bounds)).With("WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "42605").At(faultAt(pos))
		return true
	}
	for i := 0; i < len(bounds); i += 2 {
		if _, ok := r.literal(bounds[i]); !ok {
			r.failed = mismatch("named_struct", "CREATE_NAMED_STRUCT_WITHOUT_FOLDABLE_STRING", "Only foldable `STRING` expressions are allowed to appear at odd position.")
			return true
		}
	}
	return namedStruct(r, bounds, pos)
}

// mapFromEntries writes map_from_entries.
func mapFromEntries(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) != 1 {
		return false
	}
	if bounds[0][1]-bounds[0][0] == 1 && r.at(bounds[0][0]).Is("NULL") {
		r.failed = unexpected("map_from_entries", "ARRAY<STRUCT<K, V>>", parseType(`"NULL"`))
		return true
	}
	r.template("skua_entries($1)", pos, r.argumentPieces(bounds)...)
	return true
}
