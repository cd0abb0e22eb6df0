package engine

import (
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/skua-data/skua/engine/syntax"
)

// parseDate reads [+-]y…[-m[-d]], after a whole date also a blank or T and anything, and gives days since the epoch.
func parseDate(s string) (int64, bool) {
	m := datePattern.FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	date, ok := calendar(m[1]+m[2], m[3], m[4])
	return floorDiv(date.Unix(), secondsPerDay), ok
}

var datePattern = regexp.MustCompile(`^([+-]?)([0-9]{4,7})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[ T].*)?)?)?$`)

// calendar gives midnight of a date in UTC; false if there is no such day. Empty parts are 1.
func calendar(year, month, day string) (time.Time, bool) {
	y, m, d := clockNumber(year, 1), clockNumber(month, 1), clockNumber(day, 1)
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, utc)
	return t, t.Year() == y && int(t.Month()) == m && t.Day() == d
}

func clockNumber(s string, empty int) int {
	if s == "" {
		return empty
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// parsedTime is a timestamp's text, read.
type parsedTime struct {
	date     time.Time // midnight in UTC
	clock    time.Duration
	zone     *time.Location // nil: none was given
	justTime bool           // no date was given
}

var (
	timestampPattern = regexp.MustCompile(`^([+-]?)([0-9]{4,6})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[ T](.*))?)?)?$`)
	clockPattern     = regexp.MustCompile(`^([0-9]{1,2})(?::([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]*))?([^0-9.:].*)?)?)?$`)
)

// parseTimestamp reads [+-]y…[-m[-d[( |T)h[:m[:s[.f][zone]]]]]] or a clock alone, which has a colon or a T in front.
func parseTimestamp(s string) (parsedTime, bool) {
	if m := timestampPattern.FindStringSubmatch(s); m != nil {
		date, ok := calendar(m[1]+m[2], m[3], m[4])
		out := parsedTime{date: date}
		if !ok {
			return out, false
		}
		if m[5] == "" {
			return out, !strings.ContainsAny(s, " T")
		}
		return out, out.readClock(m[5])
	}
	rest := strings.TrimPrefix(s, "T")
	out := parsedTime{justTime: true}
	if rest == s && !strings.Contains(s, ":") {
		return out, false
	}
	return out, out.readClock(rest)
}

func (p *parsedTime) readClock(s string) bool {
	m := clockPattern.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	hour, minute, second := clockNumber(m[1], 0), clockNumber(m[2], 0), clockNumber(m[3], 0)
	if hour > 23 || minute > 59 || second > 59 {
		return false
	}
	fraction := (m[4] + "000000000")[:9]
	nanos := clockNumber(fraction, 0)
	p.clock = time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second + time.Duration(nanos)
	if m[5] == "" {
		return true
	}
	zone, ok := parseZone(strings.TrimSpace(m[5]))
	p.zone = zone
	return ok
}

var offsetPattern = regexp.MustCompile(`^(?:UTC|GMT|UT)?([+-])([0-9]{1,2})(?::?([0-9]{2})(?::?([0-9]{2}))?|:([0-9]))?$`)

// parseZone reads a region, Z, UTC, GMT or an offset such as +02:00, +2, GMT+8.
func parseZone(s string) (*time.Location, bool) {
	switch s {
	case "Z", "UTC", "GMT", "UT":
		return utc, true
	case "", "Local":
		return nil, false
	}
	if m := offsetPattern.FindStringSubmatch(s); m != nil {
		seconds := clockNumber(m[2], 0)*3600 + clockNumber(m[3]+m[5], 0)*60 + clockNumber(m[4], 0)
		if seconds > 18*3600 || clockNumber(m[3]+m[5], 0) > 59 || clockNumber(m[4], 0) > 59 {
			return nil, false
		}
		if m[1] == "-" {
			seconds = -seconds
		}
		return time.FixedZone(s, seconds), true
	}
	zone, err := time.LoadLocation(s)
	return zone, err == nil
}

// hexLiteral reads X'…'; an odd number of digits gets a zero in front.
func hexLiteral(e *syntax.Typed) (constant, error) {
	digits := e.Text
	if len(digits)%2 == 1 {
		digits = "0" + digits
	}
	raw, err := hex.DecodeString(digits)
	if err != nil {
		return constant{}, invalidTyped(e)
	}
	return constant{typ: typeBinary, value: raw}, nil
}
