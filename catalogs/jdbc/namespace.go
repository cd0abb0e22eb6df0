package jdbc

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/apache/iceberg-go/table"
)

// encodedPrefix marks a namespace whose levels hold dots: a JSON list follows. iceberg-go writes it; the Java catalog cannot store such
// a namespace at all.
const encodedPrefix = "__iceberg_namespace_v1__:"

// encode gives a namespace as its rows spell it: levels joined with dots.
func encode(namespace table.Identifier) string {
	plain := strings.Join(namespace, ".")
	if !slices.ContainsFunc(namespace, func(level string) bool { return strings.Contains(level, ".") }) {
		return plain
	}
	list, err := json.Marshal(namespace)
	if err != nil {
		return plain // a list of strings always has a JSON form
	}
	return encodedPrefix + string(list)
}

// decode reads what encode wrote; what only looks encoded is split at its dots.
func decode(stored string) table.Identifier {
	if list, ok := strings.CutPrefix(stored, encodedPrefix); ok {
		var levels table.Identifier
		if json.Unmarshal([]byte(list), &levels) == nil && len(levels) > 0 && encode(levels) == stored {
			return levels
		}
	}
	return strings.Split(stored, ".")
}

// exists reports whether a namespace is among those stored or is a parent of one.
func exists(stored []table.Identifier, namespace table.Identifier) bool {
	return len(namespace) > 0 && slices.ContainsFunc(stored, func(s table.Identifier) bool { return startsWith(s, namespace) })
}

func startsWith(id, prefix table.Identifier) bool {
	return len(id) >= len(prefix) && slices.Equal(id[:len(prefix)], prefix)
}

// children gives the direct children of parent that the stored namespaces name or imply, each once, in byte order.
func children(stored []table.Identifier, parent table.Identifier) []table.Identifier {
	var out []table.Identifier
	for _, s := range stored {
		if len(s) > len(parent) && startsWith(s, parent) {
			out = append(out, s[:len(parent)+1])
		}
	}
	slices.SortFunc(out, func(a, b table.Identifier) int { return strings.Compare(a[len(parent)], b[len(parent)]) })
	return slices.CompactFunc(out, func(a, b table.Identifier) bool { return slices.Equal(a, b) })
}
