package engine

import (
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/engine/sparktext"
)

var (
	utc       = time.UTC
	epochTime = time.Unix(0, 0).UTC()
)

const secondsPerDay = 86_400

func floorDiv(a, b int64) int64 { return sparktext.FloorDiv(a, b) }

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
	return time.Unix(sparktext.ZoneOf(zone).Instant(wall.Unix()), int64(wall.Nanosecond())).In(zone)
}

// offsetAt gives a zone's seconds east of UTC at an instant.
func offsetAt(seconds int64, zone *time.Location) int64 {
	return sparktext.ZoneOf(zone).Offset(seconds)
}

// clockOf gives what a clock in a zone shows at an instant, as a time in UTC.
func clockOf(t time.Time, zone *time.Location) time.Time {
	return time.Unix(t.Unix()+offsetAt(t.Unix(), zone), int64(t.Nanosecond())).UTC()
}

// timeText spells integers, dates, times and timestamps as a cast to string does.
func timeText(t arrow.DataType, v int64, zone *time.Location) string {
	second := perSecond(t)
	switch t.ID() {
	case arrow.DATE32:
		return string(sparktext.AppendDate(nil, v))
	case arrow.TIME64:
		return string(sparktext.AppendClock(nil, v, second))
	case arrow.TIMESTAMP:
		if zoned(t) {
			v += offsetAt(floorDiv(v, second), zone) * second
		}
		return string(sparktext.AppendTimestamp(nil, v, second))
	}
	return strconv.FormatInt(v, 10)
}

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
			return sparktext.DecimalMicros(n, scale) * (perSecond(to) / 1_000_000), nil
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
