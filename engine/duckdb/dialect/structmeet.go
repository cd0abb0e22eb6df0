package dialect

import "strings"

// commonStruct gives the type in which structs of two types meet: fields of the same names meet one by one, those of other names only have the same types; false:
// Spark has none.
func commonStruct(a, b Type) (Type, bool) {
	left, right := structFields(a), structFields(b)
	if len(left) != len(right) || len(left) == 0 {
		return Type{}, false
	}
	parts := make([]string, len(left))
	for i, l := range left {
		to, ok := common(l.of, right[i].of)
		named := strings.EqualFold(l.name, right[i].name)
		if !ok || l.name == "" || !named && !sameParts(left, right) {
			return Type{}, false
		}
		parts[i] = QuoteIdent(l.name) + " " + to.Text
	}
	return parseType("STRUCT(" + strings.Join(parts, ", ") + ")"), true
}

// structCast gives what stands around a struct that is cast field by field.
func structCast(have, to Type, zone string) (open, closing string) {
	from, into := structFields(have), structFields(to)
	parts := make([]string, len(into))
	for i, f := range into {
		parts[i] = "struct_extract_at(skua_f, " + itoa(i+1) + ")"
		if i < len(from) && from[i].of.Text != f.of.Text {
			before, behind := castCall(from[i].of, f.of, zone)
			parts[i] = before + parts[i] + behind
		}
		parts[i] = QuoteIdent(f.name) + " := " + parts[i]
	}
	return "list_transform([", "], lambda skua_f: CASE WHEN skua_f IS NOT NULL THEN struct_pack(" + strings.Join(parts, ", ") + ") END)[1]"
}
