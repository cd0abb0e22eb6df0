package conformance

import (
	"cmp"
	"slices"
	"strings"
)

// Rename replaces a name, or another text.
type Rename struct{ From, To string }

// Renames are what is said otherwise on the server asked: tables and catalogs by their dotted names, and any text in expected values. The zero
// value renames nothing.
type Renames struct{ names, texts []Rename }

// NewRenames makes them. Of several that fit at one place the longest counts.
func NewRenames(names, texts []Rename) Renames {
	longest := func(a, b Rename) int { return cmp.Compare(len(b.From), len(a.From)) }
	r := Renames{slices.Clone(names), slices.Clone(texts)}
	slices.SortFunc(r.names, longest)
	slices.SortFunc(r.texts, longest)
	return r
}

// SQL renames in a statement, outside its string literals.
func (r Renames) SQL(s string) string {
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

// Text renames in text that is expected. In a path, a part of the same spelling is no name.
func (r Renames) Text(s string) string {
	for _, t := range r.texts {
		s = strings.ReplaceAll(s, t.From, t.To)
	}
	return replaceNames(s, r.names, "/-")
}

// Value renames in all text of a recorded value.
func (r Renames) Value(v any) any {
	switch x := v.(type) {
	case string:
		return r.Text(x)
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = r.Value(e)
		}
		return out
	}
	return v
}

// replaceNames replaces names that stand alone or begin a dotted name. What may not stand beside them are letters, digits, _, ` and more.
func replaceNames(s string, names []Rename, more string) string {
	if len(names) == 0 {
		return s
	}
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
