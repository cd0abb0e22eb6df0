package storage

import (
	"maps"
	"slices"
	"strings"
)

// Property is a property that a kind of store knows. A name that ends in a dot stands for all that begin so.
type Property struct {
	Name string
	Idle string // why it has no effect; empty: it has one
}

// Idle says of the properties of the families given (name beginnings) which have no effect, in order: those of which a Property says so, and those
// that no Property names. It gives names and no values.
func Idle(known []Property, families []string, properties map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !slices.ContainsFunc(families, func(f string) bool { return strings.HasPrefix(name, f) }) {
			continue
		}
		best := -1
		for i, p := range known {
			if (name == p.Name || strings.HasSuffix(p.Name, ".") && strings.HasPrefix(name, p.Name)) && (best < 0 || len(p.Name) > len(known[best].Name)) {
				best = i
			}
		}
		switch {
		case best < 0:
			out = append(out, name+" has no effect: the store does not know it")
		case known[best].Idle != "":
			out = append(out, name+" has no effect: "+known[best].Idle)
		}
	}
	return out
}

// First gives the first of names that is set to something, and its value.
func First(properties map[string]string, names ...string) (value, name string) {
	for _, n := range names {
		if v := strings.TrimSpace(properties[n]); v != "" {
			return v, n
		}
	}
	return "", ""
}
