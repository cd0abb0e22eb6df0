package engine

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

var (
	utc       = time.UTC
	epochTime = time.Unix(0, 0).UTC()
)

const secondsPerDay = 86_400

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// perSecond is how many of a timestamp type's or time type's units make a second.
func perSecond(t arrow.DataType) int64 {
	switch t := t.(type) {
	case *arrow.TimestampType:
		return int64(time.Second / t.Unit.Multiplier())
	case *arrow.Time64Type:
		return int64(time.Second / t.Unit.Multiplier())
	}
	return 1
}

// units turns seconds and nanoseconds since the epoch into a type's units; false where 64 bits are too few.
func units(seconds, nanos int64, t arrow.DataType) (int64, bool) {
	n := perSecond(t)
	if seconds > math.MaxInt64/n-1 || seconds < math.MinInt64/n+1 {
		return 0, false
	}
	return seconds*n + nanos/(int64(time.Second)/n), true
}

// moment gives the time that v units of t are, as a wall clock in UTC.
func moment(v int64, t arrow.DataType) time.Time {
	n := perSecond(t)
	seconds := floorDiv(v, n)
	return time.Unix(seconds, (v-seconds*n)*(int64(time.Second)/n)).UTC()
}

func dateOf(days int64) time.Time { return time.Unix(days*secondsPerDay, 0).UTC() }

// local reads a wall clock as an instant in a zone. What a change of clocks skips moves forward by the gap, what it repeats means the first time.
func local(wall time.Time, zone *time.Location) time.Time {
	seconds := wall.Unix()
	before := offsetAt(seconds-secondsPerDay, zone)
	after := offsetAt(seconds+secondsPerDay, zone)
	at := seconds - before
	if offsetAt(at, zone) != before && offsetAt(seconds-after, zone) == after {
		at = seconds - after
	}
	return time.Unix(at, int64(wall.Nanosecond())).In(zone)
}

// offsetAt gives a zone's seconds east of UTC at an instant.
func offsetAt(seconds int64, zone *time.Location) int64 {
	_, offset := time.Unix(seconds, 0).In(zone).Zone()
	return int64(offset)
}

// clockOf gives what a clock in a zone shows at an instant, as a time in UTC.
func clockOf(t time.Time, zone *time.Location) time.Time {
	in := t.In(zone)
	_, offset := in.Zone()
	return time.Unix(t.Unix()+int64(offset), int64(t.Nanosecond())).UTC()
}

// timeText spells integers, dates, times and timestamps as a cast to string does.
func timeText(t arrow.DataType, v int64, zone *time.Location) string {
	switch t.ID() {
	case arrow.DATE32:
		return dateText(dateOf(v))
	case arrow.TIME64:
		return clockText(moment(v, t))
	case arrow.TIMESTAMP:
		at := moment(v, t)
		if zoned(t) {
			at = clockOf(at, zone)
		}
		return dateText(at) + " " + clockText(at)
	}
	return strconv.FormatInt(v, 10)
}

func dateText(t time.Time) string {
	y := t.Year()
	switch {
	case y > 9999:
		return "+" + strconv.Itoa(y) + t.Format("-01-02")
	case y < 0:
		s := strconv.Itoa(-y)
		return "-" + strings.Repeat("0", max(0, 4-len(s))) + s + t.Format("-01-02")
	}
	return t.Format("2006-01-02")
}

func clockText(t time.Time) string { return t.Format("15:04:05.999999999") }

// castToTime casts to date, time, timestamp and timestamp_ntz.
func (b *binder) castToTime(c constant, to arrow.DataType) (any, error) {
	switch v := c.value.(type) {
	case string:
		return b.parseTime(c, v, to)
	case int64:
		if c.typ.ID() == arrow.TIMESTAMP || c.typ.ID() == arrow.DATE32 {
			return b.convertTime(c, v, to)
		}
		if zoned(to) && integral(c.typ) {
			if out, ok := units(v, 0, to); ok {
				return out, nil
			}
			return saturated(v), nil
		}
	case float64:
		if zoned(to) {
			return castSeconds(c, v, to)
		}
	case decimal128.Num:
		if zoned(to) {
			n, scale := decimalValue(c)
			n = n.Mul(n, power10(6)).Quo(n, power10(scale))
			if !n.IsInt64() {
				return nil, castOverflow(c, to)
			}
			return n.Int64() * (perSecond(to) / 1_000_000), nil
		}
	case bool:
		if zoned(to) {
			return int64(boolDigit(v)) * perSecond(to) / 1_000_000, nil
		}
	}
	return nil, mismatchedCast(c, to)
}

// saturated is what a number of seconds beyond all timestamps becomes.
func saturated(v int64) int64 {
	if v < 0 {
		return math.MinInt64
	}
	return math.MaxInt64
}

func castSeconds(c constant, v float64, to arrow.DataType) (any, error) {
	micros := v * 1e6
	if micros != micros || micros >= math.MaxInt64 || micros <= math.MinInt64 {
		return nil, castOverflow(c, to)
	}
	return int64(micros) * (perSecond(to) / 1_000_000), nil
}

// convertTime converts between dates, instants and wall clocks in the session's zone.
func (b *binder) convertTime(c constant, v int64, to arrow.DataType) (any, error) {
	at := dateOf(v)
	if c.typ.ID() == arrow.TIMESTAMP {
		at = moment(v, c.typ)
		if zoned(c.typ) && !zoned(to) {
			at = clockOf(at, b.zone)
		}
	}
	switch {
	case to.ID() == arrow.DATE32:
		return floorDiv(at.Unix(), secondsPerDay), nil
	case to.ID() == arrow.TIME64:
		return nil, mismatchedCast(c, to)
	case zoned(to) && !zoned(c.typ):
		at = local(at, b.zone)
	}
	out, ok := units(at.Unix(), int64(at.Nanosecond()), to)
	if !ok {
		return nil, castOverflow(c, to)
	}
	return out, nil
}

// parseTime reads a date, time or timestamp from text.
func (b *binder) parseTime(c constant, s string, to arrow.DataType) (any, error) {
	if v, ok := b.specialTime(trimmed(s), to); ok {
		return v, nil
	}
	switch to.ID() {
	case arrow.DATE32:
		if days, ok := parseDate(trimmed(s)); ok {
			return days, nil
		}
	case arrow.TIME64:
		if p, ok := parseTimestamp(trimmed(s)); ok && p.justTime && p.zone == nil {
			return int64(p.clock) / (int64(time.Second) / perSecond(to)), nil
		}
	default:
		if v, ok := b.parseInstant(trimmed(s), to); ok {
			return v, nil
		}
	}
	return nil, invalidInput(c, to)
}

// parseInstant reads a timestamp; for a type without zone a zone in the text is checked and has no effect.
func (b *binder) parseInstant(s string, to arrow.DataType) (int64, bool) {
	p, ok := parseTimestamp(s)
	if !ok || p.justTime && !zoned(to) {
		return 0, false
	}
	zone := b.zone
	if p.zone != nil {
		zone = p.zone
	}
	if p.justTime {
		y, m, d := b.now.In(zone).Date()
		p.date = time.Date(y, m, d, 0, 0, 0, 0, utc)
	}
	if perSecond(to) == 1_000_000 {
		p.clock = p.clock.Truncate(time.Microsecond)
	}
	at := p.date.Add(p.clock)
	if zoned(to) {
		at = local(at, zone)
	}
	return units(at.Unix(), int64(at.Nanosecond()), to)
}

// specialTime reads epoch, now, today, tomorrow and yesterday.
func (b *binder) specialTime(s string, to arrow.DataType) (int64, bool) {
	word := strings.ToLower(s)
	y, m, d := b.now.In(b.zone).Date()
	midnight := time.Date(y, m, d, 0, 0, 0, 0, utc)
	at := midnight
	switch word {
	case "epoch":
		at = time.Unix(0, 0).UTC()
	case "now":
		at = clockOf(b.now, b.zone)
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
		return floorDiv(at.Unix(), secondsPerDay), true
	case zoned(to) && word == "now":
		at = b.now
	case zoned(to) && word != "epoch":
		at = local(at, b.zone)
	}
	return units(at.Unix(), int64(at.Nanosecond()), to)
}

// typedLiteral reads DATE '…' and its like.
func (b *binder) typedLiteral(e *syntax.Typed) (constant, error) {
	if e.Type == "X" {
		return hexLiteral(e)
	}
	to, ok := namedTypes[strings.ToLower(e.Type)]
	if !ok || !datetime(to) && to.ID() != arrow.TIME64 {
		return constant{}, unsupported("a literal of type %s is not supported", e.Type)
	}
	v, err := b.castValue(textConstant(e.Text), to)
	if err != nil {
		return constant{}, invalidTyped(e)
	}
	return constant{typ: to, value: v}, nil
}

func invalidTyped(e *syntax.Typed) error {
	return fault.New(fault.Invalid, "The value of the typed literal \"%s\" is invalid: %s.", e.Type, textConstant(e.Text).sql()).
		With("INVALID_TYPED_LITERAL", "42604")
}
