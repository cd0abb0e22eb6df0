//go:build cgo

package duckdb

import (
	"fmt"
	"math"

	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/fault"
)

// madeTimes make timestamps of their parts: of the minute in microseconds. What is none is NULL where the seventh argument says so.
var madeTimes = []scalar{
	rowFunction("skua_made_time", []int{typeInteger, typeInteger, typeInteger, typeInteger, typeInteger, typeBigint, typeBoolean, typeVarchar}, typeOfZoned, madeTimeCall),
	rowFunction("skua_made_wall", []int{typeInteger, typeInteger, typeInteger, typeInteger, typeInteger, typeBigint, typeBoolean}, typeOfTimestamp, madeTimeCall),
}

func madeTimeCall(r *row) error {
	days, micros, err := madeWall(r.whole(0), r.whole(1), r.whole(2), r.whole(3), r.whole(4), r.whole(5))
	if err != nil {
		if r.truth(6) {
			return nil
		}
		return err
	}
	if days > farthestDay || days < -farthestDay {
		return longOverflow()
	}
	wall := days*sparktext.MicrosPerDay + micros
	if len(r.columns) > 7 {
		zone, err := r.zone(7)
		if err != nil {
			return err
		}
		wall = zone.InstantOf(wall)
	}
	r.give(wall)
	return nil
}

// farthestDay is the last whose microseconds 64 bits hold in every zone.
const farthestDay = math.MaxInt64/sparktext.MicrosPerDay - 2

// madeWall gives a wall clock's day and the microseconds of it. Sixty seconds are the next minute.
func madeWall(year, month, day, hour, minute, micros int64) (days, rest int64, err error) {
	outside := func(field string, most string, value int64) (int64, int64, error) {
		return 0, 0, fault.New(fault.Invalid, "Invalid value for %s (valid values %s): %d. If necessary set \"spark.sql.ansi.enabled\" to \"false\" to bypass this error.", field, most, value).
			With("DATETIME_FIELD_OUT_OF_BOUNDS.WITH_SUGGESTION", "22023")
	}
	switch {
	case year < -999_999_999 || year > 999_999_999:
		return outside("Year", "-999999999 - 999999999", year)
	case month < 1 || month > 12:
		return outside("MonthOfYear", "1 - 12", month)
	case day < 1 || day > 31:
		return outside("DayOfMonth", "1 - 28/31", day)
	case hour < 0 || hour > 23:
		return outside("HourOfDay", "0 - 23", hour)
	case minute < 0 || minute > 59:
		return outside("MinuteOfHour", "0 - 59", minute)
	case micros > 60_000_000 && micros < 61_000_000:
		return 0, 0, fault.New(fault.Invalid, "The fraction of sec must be zero. Valid range is [0, 60].").With("INVALID_FRACTION_OF_SECOND", "22023")
	case micros < 0 || micros > 60_000_000:
		return outside("SecondOfMinute", "0 - 59", micros/1_000_000)
	}
	days, ok := sparktext.DaysOf(year, month, day)
	if !ok {
		return outside(fmt.Sprintf("date '%d-%d-%d'", year, month, day), "of the calendar", day)
	}
	return days, (hour*60+minute)*60_000_000 + micros, nil
}
