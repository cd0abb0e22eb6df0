package parquet

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/skua-data/skua/fault"
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

func plain(c *schema.Column) bool {
	_, none := c.LogicalType().(schema.NoLogicalType)
	return none
}

func convertInt32(c *schema.Column, target arrow.DataType) conversion {
	switch logical := c.LogicalType().(type) {
	case schema.DateLogicalType:
		return convertDate(target)
	case schema.TimeLogicalType:
		if logical.TimeUnit() == schema.TimeUnitMillis {
			return convertMillis(target)
		}
		return nil
	case schema.DecimalLogicalType:
		if t, ok := target.(*arrow.Decimal128Type); ok {
			return convertIntDecimal(c, t)
		}
		return nil
	}
	bits, signed, ok := integer(c, 32)
	if !ok {
		return nil
	}
	switch t := target.(type) {
	case *arrow.Int8Type:
		return checked(t, func(v int32) (int8, bool) { return int8(v), v == int32(int8(v)) && (signed || v >= 0) })
	case *arrow.Int16Type:
		return checked(t, func(v int32) (int16, bool) { return int16(v), v == int32(int16(v)) && (signed || v >= 0) })
	case *arrow.Int32Type:
		if signed || bits < 32 {
			return same(t)
		}
	case *arrow.Int64Type:
		if !signed && bits == 32 {
			return each(t, func(v uint32) int64 { return int64(v) })
		}
		return each(t, func(v int32) int64 { return int64(v) })
	case *arrow.Date32Type:
		if plain(c) {
			return same(t)
		}
	}
	return nil
}

// convertDate reads days; dates become timestamps without a zone (a promotion of format version 3).
func convertDate(target arrow.DataType) conversion {
	switch t := target.(type) {
	case *arrow.Date32Type:
		return same(t)
	case *arrow.TimestampType:
		if t.TimeZone == "" {
			factor := secondsPerDay * unitsPerSecond(t.Unit)
			return checked(t, func(v int32) (int64, bool) { return multiply(int64(v), factor) })
		}
	}
	return nil
}

// convertMillis reads milliseconds of a day.
func convertMillis(target arrow.DataType) conversion {
	switch t := target.(type) {
	case *arrow.Time32Type:
		if t.Unit == arrow.Millisecond {
			return same(t)
		}
	case *arrow.Time64Type:
		factor := unitsPerSecond(t.Unit) / 1000
		return each(t, func(v int32) int64 { return int64(v) * factor })
	}
	return nil
}

func convertInt64(c *schema.Column, target arrow.DataType) conversion {
	_, signed, isInteger := integer(c, 64)
	switch t := target.(type) {
	case *arrow.Int64Type:
		if isInteger && signed {
			return same(t)
		}
		if isInteger {
			return checked(t, func(v int64) (int64, bool) { return v, v >= 0 })
		}
	case *arrow.Time64Type:
		if plain(c) {
			return same(t)
		}
		if clock, ok := c.LogicalType().(schema.TimeLogicalType); ok {
			return rescale(t, unitOf(clock.TimeUnit()), unitsPerSecond(t.Unit))
		}
	case *arrow.TimestampType:
		if plain(c) {
			return same(t)
		}
		if stamp, ok := c.LogicalType().(schema.TimestampLogicalType); ok {
			return rescale(t, unitOf(stamp.TimeUnit()), unitsPerSecond(t.Unit))
		}
	case *arrow.Decimal128Type:
		return convertIntDecimal(c, t)
	}
	return nil
}

// rescale brings times from one unit to another: exactly upwards, rounded down downwards.
func rescale(t arrow.DataType, from, to int64) conversion {
	switch {
	case from == 0:
		return nil
	case from == to:
		return same(t)
	case from < to:
		return checked(t, func(v int64) (int64, bool) { return multiply(v, to/from) })
	}
	return each(t, func(v int64) int64 { return floor(v, from/to) })
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

// convertInt96 reads the timestamps of Impala, Hive and old Spark: nanoseconds of the day and a Julian day, in UTC.
func convertInt96(target arrow.DataType) conversion {
	t, ok := target.(*arrow.TimestampType)
	if !ok {
		return nil
	}
	perSecond := unitsPerSecond(t.Unit)
	return func(v *values, mem memory.Allocator) (arrow.Array, error) {
		b, out := allocate[int64](v.n, mem)
		defer b.Release()
		for i, in := range parquet.Int96Traits.CastFromBytes(v.fixed.Bytes())[:v.n] {
			if !v.isValid(i) {
				out[i] = 0
				continue
			}
			var ok bool
			if out[i], ok = fromInt96(in, perSecond); !ok {
				return nil, fault.New(fault.Corrupt, "INT96 value %x is out of the range of %s", in[:], t)
			}
		}
		return v.array(t, b), nil
	}
}

func fromInt96(v parquet.Int96, perSecond int64) (int64, bool) {
	var nanos uint64
	for i := 7; i >= 0; i-- {
		nanos = nanos<<8 | uint64(v[i])
	}
	day := int32(uint32(v[8]) | uint32(v[9])<<8 | uint32(v[10])<<16 | uint32(v[11])<<24)
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
