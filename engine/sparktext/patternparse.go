package sparktext

import (
	"strings"

	"github.com/skua-data/skua/fault"
)

// reading is a text that is read by a pattern.
type reading struct {
	text                        string
	year, month, day, dayOfYear int64
	hour, minute, second, micro int64
	clockHour, noon             int64 // of a half day, from 1; of the day: -1 are unknown
	era                         int64
	offset                      int64
	zoned                       bool
	zone                        *Zone
}

// Parse reads a text as an instant in microseconds, or as a wall clock where the zone is nil.
func (p *Pattern) Parse(text string, zone *Zone) (int64, error) {
	r := &reading{text: text, year: 1970, month: 1, day: 1, hour: -1, clockHour: -1, noon: -1, era: 1}
	if !p.read(r, 0, len(p.parts)) || r.text != "" || !r.settleHour() {
		return 0, cannotParse(text)
	}
	days, ok := r.days()
	if !ok {
		return 0, cannotParse(text)
	}
	wall := days*MicrosPerDay + ((r.hour*60+r.minute)*60+r.second)*1_000_000 + r.micro
	switch {
	case r.zoned && zone != nil:
		return wall - r.offset*1_000_000, nil
	case r.zone != nil && zone != nil:
		return r.zone.InstantOf(wall), nil
	case zone == nil:
		return wall, nil
	}
	return zone.InstantOf(wall), nil
}

// read reads what parts stand for; what stands in brackets may be missing.
func (p *Pattern) read(r *reading, from, to int) bool {
	for i := from; i < to; i++ {
		switch part := p.parts[i]; {
		case part.letter == '[':
			before := *r
			if !p.read(r, i+1, part.count) {
				*r = before
			}
			i = part.count
		case !r.part(part, p.fixed(i)):
			return false
		}
	}
	return true
}

// settleHour gives the hour of the day by what was read of it; false: parts of it contradict each other.
func (r *reading) settleHour() bool {
	switch {
	case r.hour >= 0:
		half := r.noon < 0 || r.hour/12 == r.noon
		return half && (r.clockHour < 0 || r.clockHour%12 == r.hour%12)
	case r.clockHour >= 0:
		r.hour = r.clockHour%12 + 12*max(0, r.noon)
	default:
		r.hour = 12 * max(0, r.noon)
	}
	return true
}

func cannotParse(text string) error {
	return fault.New(fault.Invalid, "Text '%s' could not be parsed. Use `try_to_timestamp` to tolerate invalid input string and return NULL instead.", text).
		With("CANNOT_PARSE_TIMESTAMP", "22007")
}

// fixed reports whether a number must have the digits of its letters: another one follows at once.
func (p *Pattern) fixed(i int) bool {
	numeric := func(i int) bool {
		return i < len(p.parts) && strings.IndexByte("yMdDhHKkmsS", p.parts[i].letter) >= 0 && p.parts[i].letter != 0 && (p.parts[i].letter != 'M' || p.parts[i].count < 3)
	}
	return numeric(i) && numeric(i+1)
}

// days gives the day.
func (r *reading) days() (int64, bool) {
	if r.era == 0 {
		r.year = 1 - r.year
	}
	if r.dayOfYear > 0 {
		first, _ := daysOf(r.year, 1, 1)
		days := first + r.dayOfYear - 1
		year, _, _ := civil(days)
		return days, year == r.year
	}
	return daysOf(r.year, r.month, r.day)
}

// part reads what a part of the pattern stands for.
func (r *reading) part(p part, fixed bool) bool {
	n := p.count
	switch p.letter {
	case 0:
		if len(r.text) < len(p.text) || !strings.EqualFold(r.text[:len(p.text)], p.text) {
			return false
		}
		r.text = r.text[len(p.text):]
		return true
	case 'G':
		return r.word(&r.era, []string{"BC", "AD"}, 0)
	case 'y':
		return r.yearOf(n, fixed)
	case 'M', 'L':
		switch n {
		case 3, 4:
			names := monthNames
			if n == 3 {
				names = shortened(monthNames)
			}
			return r.word(&r.month, names[1:], 1)
		}
		return r.number(&r.month, n, fixed, 1, 12)
	case 'd':
		return r.number(&r.day, n, fixed, 1, 31)
	case 'D':
		return r.number(&r.dayOfYear, n, fixed, 1, 366)
	case 'E':
		var ignored int64
		names := dayNames
		if n < 4 {
			names = shortened(dayNames)
		}
		return r.word(&ignored, names, 0)
	case 'a':
		return r.word(&r.noon, []string{"AM", "PM"}, 0)
	case 'h':
		return r.number(&r.clockHour, n, fixed, 1, 12)
	case 'K':
		return r.number(&r.clockHour, n, fixed, 0, 11)
	case 'H':
		return r.number(&r.hour, n, fixed, 0, 23)
	case 'k':
		ok := r.number(&r.hour, n, fixed, 1, 24)
		r.hour %= 24
		return ok
	case 'm':
		return r.number(&r.minute, n, fixed, 0, 59)
	case 's':
		return r.number(&r.second, n, fixed, 0, 59)
	case 'S':
		return r.fraction(n)
	case 'V', 'z':
		return r.zoneName()
	case 'X', 'x', 'Z', 'O':
		return r.offsetOf(p)
	}
	return false
}

func shortened(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = name[:min(3, len(name))]
	}
	return out
}

// digits takes up to most digits, and at least least.
func (r *reading) digits(least, most int) (int64, bool) {
	n, v := 0, int64(0)
	for n < most && n < len(r.text) && r.text[n] >= '0' && r.text[n] <= '9' {
		v = v*10 + int64(r.text[n]-'0')
		n++
	}
	r.text = r.text[n:]
	return v, n >= least
}

func (r *reading) number(into *int64, count int, fixed bool, least, most int64) bool {
	longest := 18
	if fixed || count > 1 {
		longest = count
	}
	v, ok := r.digits(count, longest)
	*into = v
	return ok && v >= least && v <= most
}

// yearOf reads a year: two digits are of this century, more than four have a sign.
func (r *reading) yearOf(count int, fixed bool) bool {
	if count == 2 {
		v, ok := r.digits(2, 2)
		r.year = 2000 + v
		return ok
	}
	sign := int64(1)
	signed := r.text != "" && (r.text[0] == '-' || r.text[0] == '+')
	if signed {
		if r.text[0] == '-' {
			sign = -1
		}
		r.text = r.text[1:]
	}
	longest := 9
	if fixed || count > 3 && !signed {
		longest = count
	}
	v, ok := r.digits(min(count, 9), longest)
	r.year = sign * v
	return ok
}

func (r *reading) fraction(most int) bool {
	before := len(r.text)
	v, ok := r.digits(1, most)
	for n := before - len(r.text); n < 9; n++ {
		v *= 10
	}
	r.micro = v / 1000
	return ok
}

// word reads one of the names, in any case.
func (r *reading) word(into *int64, names []string, first int64) bool {
	for i, name := range names {
		if len(r.text) >= len(name) && strings.EqualFold(r.text[:len(name)], name) {
			*into, r.text = first+int64(i), r.text[len(name):]
			return true
		}
	}
	return false
}

func (r *reading) zoneName() bool {
	end := strings.IndexAny(r.text, " ,;)]")
	if end < 0 {
		end = len(r.text)
	}
	location, ok := ParseZone(r.text[:end])
	if ok {
		r.zone, r.text = ZoneOf(location), r.text[end:]
	}
	return ok
}

// offsetOf reads an offset from UTC: in digits alone, or behind GMT.
func (r *reading) offsetOf(p part) bool {
	r.zoned, r.offset = true, 0
	localized := p.letter == 'O' || p.letter == 'Z' && p.count == 4
	if localized {
		if len(r.text) < 3 || !strings.EqualFold(r.text[:3], "GMT") {
			return false
		}
		if r.text = r.text[3:]; r.text == "" || r.text[0] != '+' && r.text[0] != '-' {
			return true
		}
	}
	if r.text != "" && (r.text[0] == 'Z' || r.text[0] == 'z') && (p.letter == 'X' || p.letter == 'Z' && p.count == 5) {
		r.text = r.text[1:]
		return true
	}
	if r.text == "" || r.text[0] != '+' && r.text[0] != '-' {
		return false
	}
	sign := int64(1)
	if r.text[0] == '-' {
		sign = -1
	}
	r.text = r.text[1:]
	hour, ok := r.digits(map[bool]int{true: 1, false: 2}[p.letter == 'O' && p.count == 1], 2)
	colon := localized || p.count == 3 || p.count == 5
	minute, more := r.offsetPart(colon)
	second := int64(0)
	if more && (localized || p.count > 3) {
		second, _ = r.offsetPart(colon)
	}
	if !more && !(p.letter == 'O' && p.count == 1 || p.count == 1 && p.letter != 'Z') {
		return false
	}
	r.offset = sign * (hour*3600 + minute*60 + second)
	return ok && hour <= 18 && minute < 60 && second < 60
}

// offsetPart reads two more digits of an offset; false: there are none.
func (r *reading) offsetPart(colon bool) (int64, bool) {
	before := r.text
	if colon {
		if !strings.HasPrefix(r.text, ":") {
			return 0, false
		}
		r.text = r.text[1:]
	}
	v, ok := r.digits(2, 2)
	if !ok {
		r.text = before
		return 0, false
	}
	return v, true
}
