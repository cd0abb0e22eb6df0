package sparktype

import (
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/skua-data/skua/engine/sparktext"
)

// PerSecond is how many of a timestamp type's or time type's units make a second.
func PerSecond(t arrow.DataType) int64 {
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
	n := PerSecond(t)
	if seconds > math.MaxInt64/n-1 || seconds < math.MinInt64/n+1 {
		return 0, false
	}
	return seconds*n + nanos/(int64(time.Second)/n), true
}

// Moment gives the time that v units of t are, as a wall clock in UTC.
func Moment(v int64, t arrow.DataType) time.Time {
	n := PerSecond(t)
	seconds := sparktext.FloorDiv(v, n)
	return time.Unix(seconds, (v-seconds*n)*(int64(time.Second)/n)).UTC()
}

// Midnight gives the time at which a day begins, counted from the epoch, as a wall clock in UTC.
func Midnight(days int64) time.Time { return time.Unix(days*sparktext.SecondsPerDay, 0).UTC() }

// Local reads a wall clock as an instant in a zone. What a change of clocks skips moves forward by the gap, what it repeats means the first time.
func Local(wall time.Time, zone *time.Location) time.Time {
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
	second := PerSecond(t)
	switch t.ID() {
	case arrow.DATE32:
		return string(sparktext.AppendDate(nil, v))
	case arrow.TIME64:
		return string(sparktext.AppendClock(nil, v, second))
	case arrow.TIMESTAMP:
		if Zoned(t) {
			v += offsetAt(sparktext.FloorDiv(v, second), zone) * second
		}
		return string(sparktext.AppendTimestamp(nil, v, second))
	}
	return strconv.FormatInt(v, 10)
}

// castToTime casts to date, time, timestamp and timestamp_ntz.
func (in Session) castToTime(c Value, to arrow.DataType) (any, error) {
	switch v := c.Value.(type) {
	case string:
		return in.parseTime(c, v, to)
	case int64:
		if c.Type.ID() == arrow.TIMESTAMP || c.Type.ID() == arrow.DATE32 {
			return in.convertTime(c, v, to)
		}
		if Zoned(to) && Integral(c.Type) {
			if out, ok := units(v, 0, to); ok {
				return out, nil
			}
			return saturated(v), nil
		}
	case float64:
		if Zoned(to) {
			return castSeconds(c, v, to)
		}
	case decimal128.Num:
		if Zoned(to) {
			n, scale := Unscaled(c)
			return sparktext.DecimalMicros(n, scale) * (PerSecond(to) / 1_000_000), nil
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

func castSeconds(c Value, v float64, to arrow.DataType) (any, error) {
	micros := v * 1e6
	if c.Endless() {
		return nil, invalidInput(c, to)
	}
	if micros >= math.MaxInt64 || micros <= math.MinInt64 {
		return nil, castOverflow(c, to)
	}
	return int64(micros) * (PerSecond(to) / 1_000_000), nil
}

// convertTime converts between dates, instants and wall clocks in the session's zone.
func (in Session) convertTime(c Value, v int64, to arrow.DataType) (any, error) {
	at := Midnight(v)
	if c.Type.ID() == arrow.TIMESTAMP {
		at = Moment(v, c.Type)
		if Zoned(c.Type) && !Zoned(to) {
			at = clockOf(at, in.Zone)
		}
	}
	switch {
	case to.ID() == arrow.DATE32:
		return sparktext.FloorDiv(at.Unix(), sparktext.SecondsPerDay), nil
	case to.ID() == arrow.TIME64:
		return nil, mismatchedCast(c, to)
	case Zoned(to) && !Zoned(c.Type):
		at = Local(at, in.Zone)
	}
	out, ok := units(at.Unix(), int64(at.Nanosecond()), to)
	if !ok {
		return nil, castOverflow(c, to)
	}
	return out, nil
}
