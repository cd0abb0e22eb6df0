package sparktype

import (
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/engine/sparktext"
)

// parseTime reads a date, time or timestamp from text.
func (in Session) parseTime(c Value, s string, to arrow.DataType) (any, error) {
	s = sparktext.Trim(s)
	if v, ok := in.specialTime(s, to); ok {
		return v, nil
	}
	switch to.ID() {
	case arrow.DATE32:
		if days, ok := sparktext.ParseDate(s); ok {
			return days, nil
		}
	case arrow.TIME64:
		if m, ok := sparktext.ParseTimestamp(s); ok && m.JustTime && m.Zone == nil {
			return m.Nanos / (int64(time.Second) / PerSecond(to)), nil
		}
	default:
		if v, ok := in.parseInstant(s, to); ok {
			return v, nil
		}
	}
	return nil, invalidInput(c, to)
}

// parseInstant reads a timestamp; for a type without zone a zone in the text is checked and has no effect.
func (in Session) parseInstant(s string, to arrow.DataType) (int64, bool) {
	m, ok := sparktext.ParseTimestamp(s)
	if !ok || m.JustTime && !Zoned(to) {
		return 0, false
	}
	zone := sparktext.ZoneOf(in.Zone)
	if m.JustTime {
		m = m.On(in.Now.Unix(), zone)
	}
	if !Zoned(to) {
		zone = nil
	}
	return m.Units(zone, PerSecond(to))
}

// specialTime reads epoch, now, today, tomorrow and yesterday.
func (in Session) specialTime(s string, to arrow.DataType) (int64, bool) {
	word := strings.ToLower(s)
	y, m, d := in.Now.In(in.Zone).Date()
	midnight := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	at := midnight
	switch word {
	case "epoch":
		at = time.Unix(0, 0).UTC()
	case "now":
		at = clockOf(in.Now, in.Zone)
	case "today":
	case "tomorrow":
		at = midnight.AddDate(0, 0, 1)
	case "yesterday":
		at = midnight.AddDate(0, 0, -1)
	default:
		return 0, false
	}
	switch {
	case to.ID() == arrow.TIME64:
		return 0, false
	case to.ID() == arrow.DATE32:
		return sparktext.FloorDiv(at.Unix(), sparktext.SecondsPerDay), true
	case Zoned(to) && word == "now":
		at = in.Now
	case Zoned(to) && word != "epoch":
		at = Local(at, in.Zone)
	}
	return units(at.Unix(), int64(at.Nanosecond()), to)
}
