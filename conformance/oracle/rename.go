package oracle

import (
	"cmp"
	"slices"
	"strings"
)

// Rename replaces a name.
type Rename struct{ From, To string }

// renames are what is said otherwise on the server asked: tables and catalogs by their dotted names, and any text in recorded values.
type renames struct{ names, texts []Rename }

func newRenames(names, texts []Rename) renames {
	longest := func(a, b Rename) int { return cmp.Compare(len(b.From), len(a.From)) }
	r := renames{slices.Clone(names), slices.Clone(texts)}
	slices.SortFunc(r.names, longest)
	slices.SortFunc(r.texts, longest)
	return r
}

// sql renames in a statement, outside its string literals.
func (r renames) sql(s string) string {
	if len(r.names) == 0 {
		return s
	}
	var out strings.Builder
	for s != "" {
		start := strings.IndexAny(s, `'"`)
		if start < 0 {
			start = len(s)
		}
		out.WriteString(replaceNames(s[:start], r.names, ""))
		s = s[start:]
		end := literalEnd(s)
		out.WriteString(s[:end])
		s = s[end:]
	}
	return out.String()
}

// literalEnd is where the literal that begins s ends.
func literalEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return len(s)
}

// value renames in all text of a recorded value. In a path, a part of the same spelling is no name.
func (r renames) value(v any) any {
	switch x := v.(type) {
	case string:
		for _, t := range r.texts {
			x = strings.ReplaceAll(x, t.From, t.To)
		}
		return replaceNames(x, r.names, "/-")
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = r.value(e)
		}
		return out
	}
	return v
}

// replaceNames replaces names that stand alone or begin a dotted name. What may not stand beside them are letters, digits, _, ` and more.
func replaceNames(s string, names []Rename, more string) string {
	var out strings.Builder
	for i := 0; i < len(s); {
		if n, ok := nameAt(s, i, names, more); ok {
			out.WriteString(n.To)
			i += len(n.From)
			continue
		}
		out.WriteByte(s[i])
		i++
	}
	return out.String()
}

func nameAt(s string, i int, names []Rename, more string) (Rename, bool) {
	if i > 0 && (wordByte(s[i-1]) || s[i-1] == '.' || strings.IndexByte(more, s[i-1]) >= 0) {
		return Rename{}, false
	}
	for _, n := range names {
		end := i + len(n.From)
		if n.From != "" && strings.HasPrefix(s[i:], n.From) && (end == len(s) || !wordByte(s[end]) && strings.IndexByte(more, s[end]) < 0) {
			return n, true
		}
	}
	return Rename{}, false
}

func wordByte(c byte) bool {
	return c == '_' || c == '`' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
