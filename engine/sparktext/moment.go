package sparktext

import (
	"math"
	"strconv"
	"time"
)

// AppendDate writes a day since 1970-01-01.
func AppendDate(b []byte, days int64) []byte {
	year, month, day := civil(days)
	switch {
	case year < 0:
		b = append(b, '-')
		year = -year
	case year > 9999:
		b = append(b, '+')
	}
	switch {
	case year > 9999:
		b = strconv.AppendInt(b, year, 10)
	default:
		b = two(two(b, year/100), year%100)
	}
	return two(append(two(append(b, '-'), month), '-'), day)
}

func two(b []byte, n int64) []byte { return append(b, byte('0'+n/10), byte('0'+n%10)) }

// AppendClock writes a time of day of some units to the second, a power of ten, without zeros at its end.
func AppendClock(b []byte, units, perSecond int64) []byte {
	seconds, fraction := units/perSecond, units%perSecond
	b = two(append(two(append(two(b, seconds/3600), ':'), seconds/60%60), ':'), seconds%60)
	return appendFraction(b, fraction, perSecond)
}

func appendFraction(b []byte, fraction, perSecond int64) []byte {
	if fraction == 0 {
		return b
	}
	b = append(b, '.')
	for unit := perSecond / 10; fraction > 0; unit /= 10 {
		b = append(b, byte('0'+fraction/unit))
		fraction %= unit
	}
	return b
}

// AppendTimestamp writes a wall clock of some units to the second since 1970.
func AppendTimestamp(b []byte, units, perSecond int64) []byte {
	days := FloorDiv(units, SecondsPerDay*perSecond)
	return AppendClock(append(AppendDate(b, days), ' '), units-days*SecondsPerDay*perSecond, perSecond)
}

// ParseDate reads [+-]y…[-m[-d]], after a whole date also a blank or T and anything, and gives days since 1970-01-01. Blanks around it were dropped.
func ParseDate(s string) (int64, bool) {
	days, rest, ok := parseDay(s, 7)
	if !ok || days < math.MinInt32 || days > math.MaxInt32 {
		return 0, false
	}
	return days, rest == "" || rest[0] == ' ' || rest[0] == 'T'
}

// parseDay reads a date with years of four digits up to a number of them, and gives what follows, which is nothing where it is no whole date.
func parseDay(s string, mostYear int) (days int64, rest string, ok bool) {
	negative := false
	if s != "" && (s[0] == '+' || s[0] == '-') {
		negative, s = s[0] == '-', s[1:]
	}
	year, rest, ok := digits(s, 4, mostYear)
	month, day := int64(1), int64(1)
	if ok && rest != "" {
		if rest[0] != '-' {
			return 0, "", false
		}
		month, rest, ok = digits(rest[1:], 1, 2)
		if ok && rest != "" {
			if rest[0] != '-' {
				return 0, "", false
			}
			day, rest, ok = digits(rest[1:], 1, 2)
		}
	}
	if !ok {
		return 0, "", false
	}
	if negative {
		year = -year
	}
	days, ok = daysOf(year, month, day)
	return days, rest, ok
}

// Moment is a timestamp's text, read.
type Moment struct {
	Days     int64          // since 1970-01-01; of a clock alone nothing is known
	Nanos    int64          // of the day
	Zone     *time.Location // nil: none was given
	JustTime bool           // no date was given
}

// ParseTimestamp reads [+-]y…[-m[-d[( |T)h[:m[:s[.f][zone]]]]]] or a clock alone, which has a colon or a T in front. Blanks around it were dropped.
func ParseTimestamp(s string) (m Moment, ok bool) {
	if days, rest, ok := parseDay(s, 6); ok {
		m.Days = days
		if rest == "" {
			return m, true
		}
		return m, (rest[0] == ' ' || rest[0] == 'T') && m.readClock(rest[1:])
	}
	m.JustTime = true
	if s != "" && s[0] == 'T' {
		return m, m.readClock(s[1:])
	}
	for i := range len(s) {
		if s[i] == ':' {
			return m, m.readClock(s)
		}
	}
	return m, false
}

// readClock reads h[:m[:s[.f][zone]]].
func (m *Moment) readClock(s string) bool {
	var parts [3]int64
	for i := range parts {
		n, rest, ok := digits(s, 1, 2)
		if !ok {
			return false
		}
		parts[i], s = n, rest
		if i == 2 || s == "" {
			break
		}
		if s[0] != ':' {
			return false
		}
		s = s[1:]
	}
	if parts[0] > 23 || parts[1] > 59 || parts[2] > 59 {
		return false
	}
	nanos := int64(0)
	if s != "" && s[0] == '.' {
		s = s[1:]
		for unit := int64(100_000_000); s != "" && isDigit(s[0]); unit /= 10 {
			nanos += int64(s[0]-'0') * unit
			s = s[1:]
		}
	}
	m.Nanos = (parts[0]*3600+parts[1]*60+parts[2])*1_000_000_000 + nanos
	if s == "" {
		return true
	}
	if s[0] == ':' || s[0] == '.' {
		return false
	}
	zone, ok := ParseZone(Trim(s))
	m.Zone = zone
	return ok
}

// Units gives the time since 1970 of a moment with a date, in units of which some make a second: of an instant, by the zone of the text or the given one, or with a nil
// zone of the wall clock; false: there are too many.
func (m Moment) Units(zone *Zone, perSecond int64) (int64, bool) {
	seconds := m.Days*SecondsPerDay + m.Nanos/1_000_000_000
	switch {
	case zone == nil:
	case m.Zone != nil:
		seconds = ZoneOf(m.Zone).Instant(seconds)
	default:
		seconds = zone.Instant(seconds)
	}
	return Scaled(seconds, m.Nanos%1_000_000_000/(1_000_000_000/perSecond), perSecond)
}

// On gives a clock alone the day that it is at an instant, in the zone of its text or in the given one.
func (m Moment) On(instant int64, zone *Zone) Moment {
	if m.Zone != nil {
		zone = ZoneOf(m.Zone)
	}
	m.Days = FloorDiv(instant+zone.Offset(instant), SecondsPerDay)
	return m
}

// Scaled gives seconds and units behind them in units; false: there are too many.
func Scaled(seconds, units, perSecond int64) (int64, bool) {
	if seconds < 0 && units > 0 { // so that the smallest one does not run over
		seconds, units = seconds+1, units-perSecond
	}
	n := seconds * perSecond
	if n/perSecond != seconds || n > 0 && n > math.MaxInt64-units || n < 0 && n < math.MinInt64-units {
		return 0, false
	}
	return n + units, true
}
