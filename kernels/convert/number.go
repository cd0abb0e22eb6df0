package convert

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// SecondsPerDay is the length of a day, which has no leap seconds.
const SecondsPerDay = 86400

const (
	nanosPerSecond = 1_000_000_000
	julianOfEpoch  = 2440588 // the Julian day number of 1970-01-01
)

func fromInt32(c *schema.Column, target arrow.DataType) (Fixed, bool) {
	switch logical := c.LogicalType().(type) {
	case schema.DateLogicalType:
		return fromDate(target)
	case schema.TimeLogicalType:
		if logical.TimeUnit() == schema.TimeUnitMillis {
			return fromMillis(target)
		}
		return nil, false
	case schema.DecimalLogicalType:
		return fromDecimalInt(c, target)
	}
	bits, signed, ok := Integer(c, 32)
	if !ok {
		return nil, false
	}
	switch target.(type) {
	case *arrow.Int8Type:
		return from4(func(n int32) (int8, bool) { return int8(n), n == int32(int8(n)) && (signed || n >= 0) }), true
	case *arrow.Int16Type:
		return from4(func(n int32) (int16, bool) { return int16(n), n == int32(int16(n)) && (signed || n >= 0) }), true
	case *arrow.Int32Type:
		return nil, signed || bits < 32
	case *arrow.Int64Type:
		if !signed && bits == 32 {
			return widenUnsigned, true
		}
		return widen, true
	case *arrow.Date32Type:
		return nil, Unannotated(c)
	}
	return nil, false
}

// fromDate reads days; dates become timestamps without a zone (a promotion of format version 3).
func fromDate(target arrow.DataType) (Fixed, bool) {
	switch t := target.(type) {
	case *arrow.Date32Type:
		return nil, true
	case *arrow.TimestampType:
		factor := SecondsPerDay * UnitsPerSecond(t.Unit)
		return from4(func(n int32) (int64, bool) { return Multiply(int64(n), factor) }), t.TimeZone == ""
	}
	return nil, false
}

// fromMillis reads milliseconds of a day.
func fromMillis(target arrow.DataType) (Fixed, bool) {
	switch t := target.(type) {
	case *arrow.Time32Type:
		return nil, t.Unit == arrow.Millisecond
	case *arrow.Time64Type:
		factor := UnitsPerSecond(t.Unit) / 1000
		return from4(func(n int32) (int64, bool) { return int64(n) * factor, true }), true
	}
	return nil, false
}

func fromInt64(c *schema.Column, target arrow.DataType) (Fixed, bool) {
	switch t := target.(type) {
	case *arrow.Int64Type:
		_, signed, ok := Integer(c, 64)
		if ok && !signed {
			return from8(func(n int64) (int64, bool) { return n, n >= 0 }), true
		}
		return nil, ok
	case *arrow.Time64Type:
		if clock, ok := c.LogicalType().(schema.TimeLogicalType); ok {
			return rescale(UnitOf(clock.TimeUnit()), UnitsPerSecond(t.Unit))
		}
		return nil, Unannotated(c)
	case *arrow.TimestampType:
		if stamp, ok := c.LogicalType().(schema.TimestampLogicalType); ok {
			return rescale(UnitOf(stamp.TimeUnit()), UnitsPerSecond(t.Unit))
		}
		return nil, Unannotated(c)
	}
	return fromDecimalInt(c, target)
}

// rescale brings times from one unit to another: exactly upwards, rounded down downwards.
func rescale(from, to int64) (Fixed, bool) {
	switch {
	case from == to || from == 0:
		return nil, from > 0
	case from < to:
		return from8(func(n int64) (int64, bool) { return Multiply(n, to/from) }), true
	}
	return from8(func(n int64) (int64, bool) { return Floor(n, from/to), true }), true
}

// UnitOf is how many of a stored unit of time a second has; 0: it is unknown.
func UnitOf(u schema.TimeUnitType) int64 {
	switch u {
	case schema.TimeUnitMillis:
		return 1000
	case schema.TimeUnitMicros:
		return 1_000_000
	case schema.TimeUnitNanos:
		return nanosPerSecond
	}
	return 0
}

// UnitsPerSecond is how many of a target's unit a second has.
func UnitsPerSecond(u arrow.TimeUnit) int64 {
	switch u {
	case arrow.Second:
		return 1
	case arrow.Millisecond:
		return 1000
	case arrow.Microsecond:
		return 1_000_000
	}
	return nanosPerSecond
}

// Multiply scales up, and says whether the product fits.
func Multiply(v, factor int64) (int64, bool) {
	p := v * factor
	return p, v == 0 || (p/v == factor && !(v == -1 && factor == math.MinInt64))
}

// Floor divides and rounds down, as times before 1970 want it.
func Floor(v, divisor int64) int64 {
	q := v / divisor
	if v%divisor < 0 {
		q--
	}
	return q
}

// fromInt96 reads the timestamps of Impala, Hive and old Spark: nanoseconds of the day and a Julian day, in UTC.
func fromInt96(target arrow.DataType) (Fixed, bool) {
	t, ok := target.(*arrow.TimestampType)
	if !ok {
		return nil, false
	}
	perSecond := UnitsPerSecond(t.Unit)
	return func(out, in []byte) int {
		for i, to := 0, cast[int64](out); i < len(to); i++ {
			var ok bool
			if to[i], ok = int96(in[12*i:12*i+12], perSecond); !ok {
				return i
			}
		}
		return -1
	}, true
}

func int96(b []byte, perSecond int64) (int64, bool) {
	nanos, day := binary.LittleEndian.Uint64(b), int32(binary.LittleEndian.Uint32(b[8:]))
	midnight, ok := Multiply((int64(day)-julianOfEpoch)*SecondsPerDay, perSecond)
	inDay := Floor(int64(nanos), nanosPerSecond/perSecond)
	sum := midnight + inDay
	if ok && (inDay < 0) == (sum < midnight) {
		return sum, true
	}
	return around(int64(day), int64(nanos), perSecond)
}

// around reads what Spark writes of microseconds that lie above its range of Julian days: there its sum goes around, and comes back here. Any other
// value is out of range.
func around(day, nanos, perSecond int64) (int64, bool) {
	const dayMicros, perMicro = SecondsPerDay * 1_000_000, 1000
	micros := (day-julianOfEpoch)*dayMicros + nanos/perMicro
	julian := micros + julianOfEpoch*dayMicros
	return micros, perSecond == 1_000_000 && day == julian/dayMicros && nanos == julian%dayMicros*perMicro
}
