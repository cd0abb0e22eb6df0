package cpu

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

const (
	secondsPerDay  = 86400
	nanosPerSecond = 1_000_000_000
	julianOfEpoch  = 2440588 // the Julian day number of 1970-01-01
)

// integer describes an integer leaf: its bits and sign as annotated, or as stored where it is not; false for other annotations.
func integer(c *schema.Column, stored int8) (bits int8, signed, ok bool) {
	switch t := c.LogicalType().(type) {
	case schema.IntLogicalType:
		return t.BitWidth(), t.IsSigned(), true
	case schema.NoLogicalType:
		return stored, true, true
	}
	return 0, false, false
}

func (v *conversion) fromInt32(c *schema.Column, target arrow.DataType) bool {
	switch logical := c.LogicalType().(type) {
	case schema.DateLogicalType:
		return v.fromDate(target)
	case schema.TimeLogicalType:
		return logical.TimeUnit() == schema.TimeUnitMillis && v.fromMillis(target)
	case schema.DecimalLogicalType:
		return v.fromDecimalInt(c, target)
	}
	bits, signed, ok := integer(c, 32)
	if !ok {
		return false
	}
	switch target.(type) {
	case *arrow.Int8Type:
		v.fixed = from4(func(n int32) (int8, bool) { return int8(n), n == int32(int8(n)) && (signed || n >= 0) })
	case *arrow.Int16Type:
		v.fixed = from4(func(n int32) (int16, bool) { return int16(n), n == int32(int16(n)) && (signed || n >= 0) })
	case *arrow.Int32Type:
		return signed || bits < 32
	case *arrow.Int64Type:
		v.fixed = widen
		if !signed && bits == 32 {
			v.fixed = widenUnsigned
		}
	case *arrow.Date32Type:
		return unannotated(c)
	default:
		return false
	}
	return true
}

// fromDate reads days; dates become timestamps without a zone (a promotion of format version 3).
func (v *conversion) fromDate(target arrow.DataType) bool {
	switch t := target.(type) {
	case *arrow.Date32Type:
		return true
	case *arrow.TimestampType:
		factor := secondsPerDay * unitsPerSecond(t.Unit)
		v.fixed = from4(func(n int32) (int64, bool) { return multiply(int64(n), factor) })
		return t.TimeZone == ""
	}
	return false
}

// fromMillis reads milliseconds of a day.
func (v *conversion) fromMillis(target arrow.DataType) bool {
	switch t := target.(type) {
	case *arrow.Time32Type:
		return t.Unit == arrow.Millisecond
	case *arrow.Time64Type:
		factor := unitsPerSecond(t.Unit) / 1000
		v.fixed = from4(func(n int32) (int64, bool) { return int64(n) * factor, true })
		return true
	}
	return false
}

func (v *conversion) fromInt64(c *schema.Column, target arrow.DataType) bool {
	switch t := target.(type) {
	case *arrow.Int64Type:
		_, signed, ok := integer(c, 64)
		if ok && !signed {
			v.fixed = from8(func(n int64) (int64, bool) { return n, n >= 0 })
		}
		return ok
	case *arrow.Time64Type:
		if clock, ok := c.LogicalType().(schema.TimeLogicalType); ok {
			return v.rescale(unitOf(clock.TimeUnit()), unitsPerSecond(t.Unit))
		}
		return unannotated(c)
	case *arrow.TimestampType:
		if stamp, ok := c.LogicalType().(schema.TimestampLogicalType); ok {
			return v.rescale(unitOf(stamp.TimeUnit()), unitsPerSecond(t.Unit))
		}
		return unannotated(c)
	}
	return v.fromDecimalInt(c, target)
}

// rescale brings times from one unit to another: exactly upwards, rounded down downwards.
func (v *conversion) rescale(from, to int64) bool {
	switch {
	case from < to:
		v.fixed = from8(func(n int64) (int64, bool) { return multiply(n, to/max(from, 1)) })
	case from > to:
		v.fixed = from8(func(n int64) (int64, bool) { return floor(n, from/to), true })
	}
	return from > 0
}

func unitOf(u schema.TimeUnitType) int64 {
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

func unitsPerSecond(u arrow.TimeUnit) int64 {
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

// multiply scales up, and says whether the product fits.
func multiply(v, factor int64) (int64, bool) {
	p := v * factor
	return p, v == 0 || (p/v == factor && !(v == -1 && factor == math.MinInt64))
}

// floor divides and rounds down, as times before 1970 want it.
func floor(v, divisor int64) int64 {
	q := v / divisor
	if v%divisor < 0 {
		q--
	}
	return q
}

// fromInt96 reads the timestamps of Impala, Hive and old Spark: nanoseconds of the day and a Julian day, in UTC.
func (v *conversion) fromInt96(target arrow.DataType) bool {
	t, ok := target.(*arrow.TimestampType)
	if !ok {
		return false
	}
	perSecond := unitsPerSecond(t.Unit)
	v.fixed = func(out, in []byte) int {
		for i, to := 0, cast[int64](out); i < len(to); i++ {
			var ok bool
			if to[i], ok = int96(in[12*i:12*i+12], perSecond); !ok {
				return i
			}
		}
		return -1
	}
	return true
}

func int96(b []byte, perSecond int64) (int64, bool) {
	nanos, day := binary.LittleEndian.Uint64(b), int32(binary.LittleEndian.Uint32(b[8:]))
	midnight, ok := multiply((int64(day)-julianOfEpoch)*secondsPerDay, perSecond)
	inDay := floor(int64(nanos), nanosPerSecond/perSecond)
	sum := midnight + inDay
	if ok && (inDay < 0) == (sum < midnight) {
		return sum, true
	}
	return around(int64(day), int64(nanos), perSecond)
}

// around reads what Spark writes of microseconds that lie above its range of Julian days: there its sum goes around, and comes back here. Any other
// value is out of range.
func around(day, nanos, perSecond int64) (int64, bool) {
	const dayMicros, perMicro = secondsPerDay * 1_000_000, 1000
	micros := (day-julianOfEpoch)*dayMicros + nanos/perMicro
	julian := micros + julianOfEpoch*dayMicros
	return micros, perSecond == 1_000_000 && day == julian/dayMicros && nanos == julian%dayMicros*perMicro
}
