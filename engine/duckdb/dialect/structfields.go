package dialect

import "strings"

// field is a field of a struct.
type field struct {
	name string
	of   Type
}

// fields gives the fields of a struct's type; nil: it is none, or they have no names.
func fields(t Type) []field {
	out := structFields(t)
	for _, f := range out {
		if f.name == "" {
			return nil
		}
	}
	return out
}

// structFields gives the fields of a struct's type, those without names, too; nil: it is none.
func structFields(t Type) (out []field) {
	inner, ok := strings.CutPrefix(t.Text, "STRUCT(")
	if !ok || !strings.HasSuffix(inner, ")") {
		return nil
	}
	inner = inner[:len(inner)-1]
	depth, begin, quoted := 0, 0, false
	for i := 0; i <= len(inner); i++ {
		switch {
		case i == len(inner) || !quoted && depth == 0 && inner[i] == ',':
			f := strings.TrimSpace(inner[begin:i])
			name, of, ok := cutName(f)
			if !ok || name == "TIMESTAMP" && of == "WITH TIME ZONE" || strings.Contains(name, "(") && !strings.HasPrefix(f, `"`) {
				name, of = "", f
			}
			out = append(out, field{name, parseType(of)})
			begin = i + 1
		case inner[i] == '"':
			quoted = !quoted
		case !quoted && inner[i] == '(':
			depth++
		case !quoted && inner[i] == ')':
			depth--
		}
	}
	return out
}

// cutName cuts the name, which may be in quotes, from a field's type.
func cutName(text string) (name, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		return strings.Cut(text, " ")
	}
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] != '"':
		case i+1 < len(text) && text[i+1] == '"':
			i++
		default:
			return strings.ReplaceAll(text[1:i], `""`, `"`), strings.TrimSpace(text[i+1:]), true
		}
	}
	return "", "", false
}

func fieldTypes(t Type) []Type {
	var out []Type
	for _, f := range fields(t) {
		out = append(out, f.of)
	}
	return out
}
