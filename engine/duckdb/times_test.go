//go:build cgo

package duckdb

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
)

// hostileTimes are times at which calendars, zones and ranges go wrong. In New York clocks went forward on 2024-03-10 and back on 2024-11-03.
var hostileTimes = []time.Time{
	time.Date(-43, 3, 15, 12, 0, 0, 1000, time.UTC), time.Date(0, 2, 29, 23, 59, 59, 999999000, time.UTC), time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC),
	time.Date(1582, 10, 4, 23, 59, 59, 999999000, time.UTC), time.Date(1582, 10, 5, 0, 0, 0, 0, time.UTC), time.Date(1582, 10, 14, 12, 0, 0, 0, time.UTC),
	time.Date(1582, 10, 15, 0, 0, 0, 0, time.UTC), time.Date(1883, 11, 18, 17, 0, 0, 0, time.UTC), time.Date(1900, 2, 28, 23, 59, 59, 0, time.UTC),
	time.UnixMicro(-86400000001), time.UnixMicro(-86400000000), time.UnixMicro(-1001), time.UnixMicro(-1), time.UnixMicro(0), time.UnixMicro(1), time.Date(2000, 2, 29, 0, 0, 0, 0, time.UTC),
	time.Date(2024, 3, 10, 6, 59, 59, 999999000, time.UTC), time.Date(2024, 3, 10, 7, 0, 0, 0, time.UTC), time.Date(2024, 11, 3, 5, 30, 0, 0, time.UTC),
	time.Date(2024, 11, 3, 6, 30, 0, 0, time.UTC), time.Date(2024, 12, 30, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
}

// timesTable makes a table of them: u without a zone, z with one, d their dates, k their number, and a row of nulls.
func timesTable(t *testing.T) *memoryTable {
	var rows strings.Builder
	for i, v := range hostileTimes {
		fmt.Fprintf(&rows, `{"k":%d,"u":%d,"z":%d,"d":%d},`, i, v.UnixMicro(), v.UnixMicro(), epochDay(v.UTC()))
	}
	return newTable(t, "["+rows.String()+`{"k":-1,"u":null,"z":null,"d":null}]`, 7, arrow.Field{Name: "k", Type: arrow.PrimitiveTypes.Int64},
		arrow.Field{Name: "u", Type: &arrow.TimestampType{Unit: arrow.Microsecond}}, arrow.Field{Name: "z", Type: &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}},
		arrow.Field{Name: "d", Type: arrow.FixedWidthTypes.Date32})
}

// TestFunctionsOfTimes holds functions of timestamps and dates against Go's calendar, which is the proleptic Gregorian one as Spark's is.
func TestFunctionsOfTimes(t *testing.T) {
	f := newFixture(t)
	f.tables["times"] = timesTable(t)
	york := zoneOf(t, "America/New_York")
	type row struct {
		expr string
		want func(t time.Time) any
		zone *time.Location
	}
	rows := []row{
		{"CAST(u AS DATE)", func(t time.Time) any { return t.Format(time.DateOnly) }, time.UTC}, {"CAST(z AS DATE)", func(t time.Time) any { return t.Format(time.DateOnly) }, york},
		{"to_date(z)", func(t time.Time) any { return t.Format(time.DateOnly) }, york}, {"CAST(d AS TIMESTAMP_NTZ)", func(t time.Time) any { return t.Format(time.DateOnly) + "T00:00:00" }, time.UTC},
		{"unix_micros(z)", func(t time.Time) any { return t.UnixMicro() }, york}, {"unix_millis(z)", func(t time.Time) any { return t.UnixMilli() }, york},
		{"unix_seconds(z)", func(t time.Time) any { return t.Unix() }, york}, {"unix_timestamp(z)", func(t time.Time) any { return t.Unix() }, york},
		{"timestamp_micros(unix_micros(z))", func(t time.Time) any { return stamp(t.UTC()) + "Z" }, york},
		{"timestamp_millis(unix_millis(z))", func(t time.Time) any { return stamp(time.UnixMilli(t.UnixMilli()).UTC()) + "Z" }, york},
		{"timestamp_seconds(unix_seconds(z))", func(t time.Time) any { return stamp(time.Unix(t.Unix(), 0).UTC()) + "Z" }, york},
		{"unix_date(d)", func(t time.Time) any { return epochDay(t) }, time.UTC}, {"date_from_unix_date(unix_date(d))", func(t time.Time) any { return t.Format(time.DateOnly) }, time.UTC},
		{"datediff(u, DATE '1970-01-01')", func(t time.Time) any { return epochDay(t) }, time.UTC}, {"datediff(z, DATE '1970-01-01')", func(t time.Time) any { return epochDay(t) }, york},
		{"date_add(d, 1)", func(t time.Time) any { return t.AddDate(0, 0, 1).Format(time.DateOnly) }, time.UTC},
		{"last_day(d)", func(t time.Time) any {
			return time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		}, time.UTC},
		{"trunc(d, 'MM')", func(t time.Time) any {
			return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		}, time.UTC},
		{"trunc(d, 'QUARTER')", func(t time.Time) any {
			return time.Date(t.Year(), (t.Month()-1)/3*3+1, 1, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		}, time.UTC},
		{"trunc(d, 'WEEK')", func(t time.Time) any { return startOfWeek(t).Format(time.DateOnly) }, time.UTC},
		{"date_trunc('HOUR', u)", func(t time.Time) any {
			return stamp(time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), 0, 0, 0, time.UTC))
		}, time.UTC},
		{"date_trunc('DAY', z)", func(t time.Time) any {
			return stamp(time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, york).UTC()) + "Z"
		}, york},
		{"date_trunc('WEEK', u)", func(t time.Time) any { return stamp(startOfWeek(t)) }, time.UTC},
		{"u + INTERVAL 1 MONTH", func(t time.Time) any { return stamp(addMonths(t, 1)) }, time.UTC}, {"u - INTERVAL 1 DAY", func(t time.Time) any { return stamp(t.AddDate(0, 0, -1)) }, time.UTC},
		{"add_months(d, -1)", func(t time.Time) any { return addMonths(t, -1).Format(time.DateOnly) }, time.UTC},
		{"z + INTERVAL 1 HOUR", func(t time.Time) any { return stamp(t.Add(time.Hour).UTC()) + "Z" }, york},
		{"next_day(d, 'MO')", func(t time.Time) any { return startOfWeek(t).AddDate(0, 0, 7).Format(time.DateOnly) }, time.UTC},
		{"dayofweek_iso(d)", func(t time.Time) any { return (int(t.Weekday())+6)%7 + 1 }, time.UTC},
		{"date_format(z, 'yyyy-MM-dd HH:mm:ss')", func(t time.Time) any { return t.Format("2006-01-02 15:04:05") }, york},
		{"from_utc_timestamp(u, 'America/New_York')", func(x time.Time) any { return x.In(york).Format("2006-01-02T15:04:05.999999") }, time.UTC},
		{"system.years(u)", func(t time.Time) any { return t.Year() - 1970 }, time.UTC}, {"system.years(z)", func(t time.Time) any { return t.UTC().Year() - 1970 }, york},
		{"system.years(d)", func(t time.Time) any { return t.Year() - 1970 }, time.UTC}, {"system.months(d)", func(t time.Time) any { return (t.Year()-1970)*12 + int(t.Month()) - 1 }, time.UTC},
		{"system.months(z)", func(t time.Time) any { return (t.UTC().Year()-1970)*12 + int(t.UTC().Month()) - 1 }, york},
		{"system.days(z)", func(t time.Time) any { return t.UTC().Format(time.DateOnly) }, york}, {"system.days(d)", func(t time.Time) any { return t.Format(time.DateOnly) }, time.UTC},
		{"system.hours(u)", func(t time.Time) any { return int64(math.Floor(float64(t.Unix()) / 3600)) }, time.UTC},
		{"system.hours(z)", func(t time.Time) any { return int64(math.Floor(float64(t.Unix()) / 3600)) }, york},
		{"u < DATE '1970-01-01'", func(t time.Time) any { return t.Unix() < 0 }, time.UTC}, {"d < TIMESTAMP_NTZ '1970-01-01 00:00:00'", func(t time.Time) any { return epochDay(t) < 0 }, time.UTC},
		{"CAST(CAST(u AS STRING) AS TIMESTAMP_NTZ) = u", func(time.Time) any { return true }, time.UTC}, {"CAST(CAST(d AS STRING) AS DATE) = d", func(time.Time) any { return true }, time.UTC},
	}
	for _, p := range partsOfTimes {
		for column, zone := range map[string]*time.Location{"u": time.UTC, "z": york} {
			rows = append(rows, row{strings.ReplaceAll(p.expr, "$", column), p.want, zone})
		}
	}
	for _, r := range rows {
		got, err := f.texts(york, "SELECT k, "+r.expr+" AS v FROM times")
		if err != nil {
			t.Errorf("%s: %v", r.expr, err)
			continue
		}
		for i, at := range hostileTimes {
			if at.Year() <= 1 && (strings.Contains(r.expr, "YEAR FROM z") || strings.Contains(r.expr, "year(z)") || strings.Contains(r.expr, "%Y") || strings.Contains(r.expr, "yyyy")) {
				continue // the engine tells years before the first by their era
			}
			if want := fmt.Sprint(r.want(at.In(r.zone))); got[strconv.Itoa(i)] != want {
				t.Errorf("%s of %s: %s, want %s", r.expr, at.UTC().Format(time.RFC3339Nano), got[strconv.Itoa(i)], want)
			}
		}
	}
}

// addMonths adds months; a day that the month has not is its last one.
func addMonths(t time.Time, n int) time.Time {
	last := time.Date(t.Year(), t.Month()+time.Month(n)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return time.Date(t.Year(), t.Month()+time.Month(n), min(t.Day(), last), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}
