package storage

import (
	"sort"
	"strings"

	"github.com/skua-data/skua/fault"
)

// Mapping opens what lies under prefix From under prefix To. Both are kept as configured.
type Mapping struct{ From, To Location }

// Map is an ordered set of mappings, longest From first. The nil Map maps nothing. It changes only where a file is opened: every path that a
// user sees keeps the spelling of its metadata.
type Map []Mapping

// NewMap checks and orders mappings. Each From must be non-empty and different from every other.
func NewMap(mappings []Mapping) (Map, error) {
	out := append(Map(nil), mappings...)
	sort.SliceStable(out, func(i, j int) bool { return len(out[i].From) > len(out[j].From) })
	seen := map[string]bool{}
	for _, m := range out {
		if m.From == "" || m.To == "" {
			return nil, fault.New(fault.Invalid, "location map: from and to must both be set (from=%q, to=%q)", m.From, m.To).Change("skua.location-map.<n>.from")
		}
		if seen[m.From] {
			return nil, fault.New(fault.Invalid, "location map: prefix %q is mapped twice", m.From).Change("skua.location-map.<n>.from")
		}
		seen[m.From] = true
	}
	return out, nil
}

// Open gives the location under which to open at: at itself where no prefix fits.
func (m Map) Open(at Location) Location {
	opened, _ := m.Lookup(at)
	return opened
}

// Lookup is Open, and reports whether a prefix fits. A prefix matches whole path segments only, unless it ends in a slash or a colon.
func (m Map) Lookup(at Location) (opened Location, fits bool) {
	for _, e := range m {
		rest, ok := strings.CutPrefix(at, e.From)
		if !ok {
			continue
		}
		if rest == "" || strings.HasPrefix(rest, "/") || strings.HasSuffix(e.From, "/") || strings.HasSuffix(e.From, ":") {
			return e.To + rest, true
		}
	}
	return at, false
}
