package session

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // the zones are known on a machine without them too
)

// offset is a zone by its distance from UTC, with the prefixes that Java knows.
var offset = regexp.MustCompile(`^(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2})(?::?(\d{2}))?)?$`)

// shortZones are the abbreviations that Java still resolves, as Spark uses them.
var shortZones = map[string]string{"ACT": "Australia/Darwin", "AET": "Australia/Sydney", "AGT": "America/Argentina/Buenos_Aires", "ART": "Africa/Cairo",
	"AST": "America/Anchorage", "BET": "America/Sao_Paulo", "BST": "Asia/Dhaka", "CAT": "Africa/Harare", "CNT": "America/St_Johns", "CST": "America/Chicago",
	"CTT": "Asia/Shanghai", "EAT": "Africa/Addis_Ababa", "ECT": "Europe/Paris", "IET": "America/Indiana/Indianapolis", "IST": "Asia/Kolkata", "JST": "Asia/Tokyo",
	"MIT": "Pacific/Apia", "NET": "Asia/Yerevan", "NST": "Pacific/Auckland", "PLT": "Asia/Karachi", "PNT": "America/Phoenix", "PRT": "America/Puerto_Rico",
	"PST": "America/Los_Angeles", "SST": "Pacific/Guadalcanal", "VST": "Asia/Ho_Chi_Minh", "EST": "America/Panama", "MST": "America/Phoenix", "HST": "Pacific/Honolulu"}

// maxOffset is how far from UTC an offset may lie, as in Java.
const maxOffset = 18 * 3600

// ParseZone reads a session time zone as Spark does: a region (Europe/Oslo), an offset (+02:00, -8, UTC+1), Z, or a short name such as PST.
func ParseZone(text string) (*time.Location, error) {
	if text == "Z" || text == "UT" {
		return time.UTC, nil
	}
	if m := offset.FindStringSubmatch(text); m != nil {
		seconds, err := offsetSeconds(m[2:])
		if err != nil {
			return nil, fmt.Errorf("time zone %q: %w", text, err)
		}
		if m[1] == "-" {
			seconds = -seconds
		}
		return time.FixedZone(text, seconds), nil
	}
	if long, ok := shortZones[text]; ok {
		text = long
	}
	if text == "" || text == "Local" || strings.HasPrefix(text, "posix/") || strings.HasPrefix(text, "right/") {
		return nil, fmt.Errorf("time zone %q: unknown", text)
	}
	return time.LoadLocation(text)
}

func offsetSeconds(parts []string) (int, error) {
	total := 0
	for i, unit := range []int{3600, 60, 1} {
		if parts[i] == "" {
			continue
		}
		n, err := strconv.Atoi(parts[i])
		if err != nil || (i > 0 && n > 59) {
			return 0, fmt.Errorf("bad offset")
		}
		total += n * unit
	}
	if total > maxOffset {
		return 0, fmt.Errorf("an offset is at most 18 hours")
	}
	return total, nil
}
