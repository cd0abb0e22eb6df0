package engine

import (
	"strings"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// SchemaName spells a namespace as metadata calls and session options do: its levels with dots between, in back quotes where a level would be misread. Other names
// stand as they are, whatever characters they have: tools put their own quotes around what they list.
func SchemaName(namespace []string) string {
	levels := make([]string, len(namespace))
	for i, level := range namespace {
		levels[i] = level
		if level == "" || strings.ContainsAny(level, ".`") {
			levels[i] = syntax.BackQuote(level)
		}
	}
	return strings.Join(levels, ".")
}

// ParseSchemaName takes such a spelling apart.
func ParseSchemaName(text string) (parts []string, err error) {
	for text != "" {
		part, rest := text, ""
		if text[0] == '`' {
			if part, rest, err = cutQuoted(text); err != nil {
				return nil, err
			}
		} else if i := strings.IndexByte(text, '.'); i >= 0 {
			part, rest = text[:i], text[i:]
		}
		if part == "" || rest == "." || rest != "" && rest[0] != '.' {
			return nil, fault.New(fault.Invalid, "the schema's name is malformed")
		}
		parts, text = append(parts, part), strings.TrimPrefix(rest, ".")
	}
	return parts, nil
}

// cutQuoted cuts a back-quoted part off the front of text.
func cutQuoted(text string) (part, rest string, err error) {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		if text[i] != '`' {
			b.WriteByte(text[i])
			continue
		}
		if i+1 < len(text) && text[i+1] == '`' {
			b.WriteByte('`')
			i++
			continue
		}
		return b.String(), text[i+1:], nil
	}
	return "", "", fault.New(fault.Invalid, "a back quote in the schema's name is not closed")
}
