package session

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// units are the binary multiples that Spark accepts after a size, b to p.
var units = map[string]int64{"": 1, "b": 1, "k": 1 << 10, "kb": 1 << 10, "m": 1 << 20, "mb": 1 << 20, "g": 1 << 30, "gb": 1 << 30,
	"t": 1 << 40, "tb": 1 << 40, "p": 1 << 50, "pb": 1 << 50}

// ParseBytes reads a size of 0 or more: a number of bytes, or one with k, m, g, t or p in any case, as Spark's sizes are written.
func ParseBytes(text string) (int64, error) {
	lower := strings.ToLower(strings.TrimSpace(text))
	digits := strings.TrimRight(lower, "bkmgtp")
	unit, ok := units[lower[len(digits):]]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !ok || n < 0 || n > math.MaxInt64/unit {
		return 0, fmt.Errorf("%q is no size: expected a number of bytes, or one with k, m, g or t, such as 512m", text)
	}
	return n * unit, nil
}

// timeUnits are Spark's suffixes of durations.
var timeUnits = map[string]time.Duration{"": time.Second, "us": time.Microsecond, "ms": time.Millisecond, "s": time.Second,
	"m": time.Minute, "min": time.Minute, "h": time.Hour, "d": 24 * time.Hour}

// ParseDuration reads a duration of 0 or more: a number with us, ms, s, m, min, h or d; a bare number is in seconds.
func ParseDuration(text string) (time.Duration, error) {
	lower := strings.ToLower(strings.TrimSpace(text))
	digits := strings.TrimRight(lower, "umsinhd")
	unit, ok := timeUnits[lower[len(digits):]]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !ok || n < 0 || n > int64(math.MaxInt64/unit) {
		return 0, fmt.Errorf("%q is no duration: expected a number with ms, s, m, h or d, such as 30s", text)
	}
	return time.Duration(n) * unit, nil
}
