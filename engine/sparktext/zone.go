package sparktext

import (
	"math"
	"strings"
	"sync"
	"time"
)

// Zone tells the offsets of a time zone. It keeps the last one, so it is quick for times near each other; it is for one goroutine.
type Zone struct {
	location         *time.Location
	from, to, offset int64 // the offset holds in [from, to)
}

// ZoneOf gives the zone of a location.
func ZoneOf(location *time.Location) *Zone { return &Zone{location: location} }

// Offset gives the seconds east of UTC at an instant.
func (z *Zone) Offset(seconds int64) int64 {
	if seconds >= z.from && seconds < z.to {
		return z.offset
	}
	at := time.Unix(seconds, 0).In(z.location)
	_, offset := at.Zone()
	start, end := at.ZoneBounds()
	z.from, z.to, z.offset = math.MinInt64, math.MaxInt64, int64(offset)
	if !start.IsZero() {
		z.from = start.Unix()
	}
	if !end.IsZero() {
		z.to = end.Unix()
	}
	return z.offset
}

// Instant reads a wall clock's seconds as an instant. What a change of clocks skips moves forward by the gap, what it repeats means the first time.
func (z *Zone) Instant(wall int64) int64 {
	before, after := z.Offset(wall-SecondsPerDay), z.Offset(wall+SecondsPerDay)
	at := wall - before
	if before != after && z.Offset(at) != before && z.Offset(wall-after) == after {
		at = wall - after
	}
	return at
}

// InstantOf is Instant in microseconds.
func (z *Zone) InstantOf(wall int64) int64 {
	seconds := FloorDiv(wall, 1_000_000)
	return z.Instant(seconds)*1_000_000 + wall - seconds*1_000_000
}

// locations keeps the regions that texts named, whose number is that of the zones there are.
var locations sync.Map

// shortZones are Java's names of zones with three letters.
var shortZones = map[string]string{"ACT": "Australia/Darwin", "AET": "Australia/Sydney", "AGT": "America/Argentina/Buenos_Aires", "ART": "Africa/Cairo", "AST": "America/Anchorage",
	"BET": "America/Sao_Paulo", "BST": "Asia/Dhaka", "CAT": "Africa/Harare", "CNT": "America/St_Johns", "CST": "America/Chicago", "CTT": "Asia/Shanghai", "EAT": "Africa/Addis_Ababa",
	"ECT": "Europe/Paris", "IET": "America/Indiana/Indianapolis", "IST": "Asia/Kolkata", "JST": "Asia/Tokyo", "MIT": "Pacific/Apia", "NET": "Asia/Yerevan", "NST": "Pacific/Auckland",
	"PLT": "Asia/Karachi", "PNT": "America/Phoenix", "PRT": "America/Puerto_Rico", "PST": "America/Los_Angeles", "SST": "Pacific/Guadalcanal", "VST": "Asia/Ho_Chi_Minh"}

// region gives a zone by its name.
func region(name string) (*time.Location, bool) {
	if long, ok := shortZones[name]; ok {
		name = long
	}
	if kept, ok := locations.Load(name); ok {
		return kept.(*time.Location), true
	}
	found, err := time.LoadLocation(strings.Clone(name))
	if err != nil {
		return nil, false
	}
	locations.Store(strings.Clone(name), found) // a name may lie in memory that its owner frees
	return found, true
}

// ParseZone reads a region, Z, UTC, GMT or an offset such as +02:00, +2, GMT+8.
func ParseZone(s string) (*time.Location, bool) {
	switch s {
	case "Z", "UTC", "GMT", "UT":
		return time.UTC, true
	case "", "Local":
		return nil, false
	}
	offset := s
	for _, prefix := range []string{"UTC", "GMT", "UT"} {
		if len(s) > len(prefix) && s[:len(prefix)] == prefix {
			offset = s[len(prefix):]
			break
		}
	}
	if offset[0] != '+' && offset[0] != '-' {
		return region(s)
	}
	seconds, ok := parseOffset(offset[1:])
	if !ok {
		return region(s)
	}
	if offset[0] == '-' {
		seconds = -seconds
	}
	return time.FixedZone(s, int(seconds)), true
}

// parseOffset reads h, hh, hh:mm, hhmm, hh:mm:ss, hhmmss and hh:m.
func parseOffset(s string) (seconds int64, ok bool) {
	hour, rest, ok := digits(s, 1, 2)
	minute, second := int64(0), int64(0)
	if ok && rest != "" {
		colon := rest[0] == ':'
		if colon {
			rest = rest[1:]
		}
		least := 2
		if colon && len(rest) == 1 {
			least = 1
		}
		if minute, rest, ok = digits(rest, least, 2); ok && rest != "" {
			if rest[0] == ':' {
				rest = rest[1:]
			}
			second, rest, ok = digits(rest, 2, 2)
		}
	}
	seconds = hour*3600 + minute*60 + second
	return seconds, ok && rest == "" && minute < 60 && second < 60 && seconds <= 18*3600
}

// UTC gives the zone that is never another.
func UTC() *Zone { return ZoneOf(time.UTC) }
