package sparktext

import (
	_ "embed"
	"strings"
	"sync"
	"time"
)

// zoneNames has Java's English names of regions, a line for regions of the same ones: the short name, the one of summer, both in words, and the regions.
//
//go:embed zonenames.txt
var zoneNames string

// zoneNamesOf gives the four names of regions.
var zoneNamesOf = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(zoneNames) {
		names := strings.Split(strings.TrimSpace(line), "\t")
		for _, region := range strings.Fields(names[4]) {
			out[region] = names[:4]
		}
	}
	return out
})

// Name is the zone's id, as Java has it.
func (z *Zone) Name() string { return z.location.String() }

// NameAt is what the zone is called at an instant: in short, or in words. A zone that is an offset is called by it.
func (z *Zone) NameAt(seconds int64, words bool) string {
	at := time.Unix(seconds, 0).In(z.location)
	if names, ok := zoneNamesOf()[z.Name()]; ok {
		i := 0
		if words {
			i = 2
		}
		if at.IsDST() {
			i++
		}
		return names[i]
	}
	name, offset := at.Zone()
	if strings.HasPrefix(name, "+") || strings.HasPrefix(name, "-") {
		return offsetText(parts('O', 4), int64(offset))
	}
	return name
}
