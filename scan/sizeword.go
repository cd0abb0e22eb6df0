package scan

import (
	"math"
	"strconv"
	"strings"
)

// origin says where a read option's value was set.
func (r Resolved) origin() string {
	switch {
	case r.Scope == "property":
		return " (table property " + r.Key + ")"
	case r.Key != "":
		return " (" + r.Scope + " scope, " + r.Key + ")"
	}
	return ""
}

// sizes are the units that people put behind a size, and none.
var sizes = []struct {
	suffix string
	shift  uint
}{{"k", 10}, {"m", 20}, {"g", 30}, {"t", 40}, {"", 0}}

// sizeInWords reads a size with a unit, such as 512m or 2 GB.
func sizeInWords(text string) (int64, bool) {
	lower := strings.TrimSuffix(strings.ToLower(strings.TrimSpace(text)), "b")
	for _, s := range sizes {
		digits, ok := strings.CutSuffix(lower, s.suffix)
		n, err := strconv.ParseInt(strings.TrimSpace(strings.ReplaceAll(digits, "_", "")), 10, 64)
		if ok && err == nil && n >= 0 && n <= math.MaxInt64>>s.shift {
			return n << s.shift, true
		}
	}
	return 0, false
}
