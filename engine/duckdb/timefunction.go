//go:build cgo

package duckdb

import (
	"math"
	"slices"
	"strings"

	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/fault"
)

// timeTypes are those that have fields of a time.
var timeTypes = []int{typeOfDate, typeOfTimestamp, typeOfZoned}

// timeFunctions are Spark's functions of days and times. Their last argument is the session's zone.
var timeFunctions = slices.Concat(
	forTimes(func(t int) scalar {
		return rowFunction("skua_field", []int{typeVarchar, t, typeVarchar}, typeInteger, fieldCall)
	}),
	forTimes(func(t int) scalar { return rowFunction("skua_seconds", []int{t, typeVarchar}, typeBigint, secondsCall) }),
	forTimes(func(t int) scalar {
		return rowFunction("skua_time_name", []int{typeVarchar, t, typeVarchar}, typeVarchar, timeNameCall)
	}),
	forTimes(func(t int) scalar {
		return rowFunction("skua_written", []int{t, typeVarchar, typeVarchar}, typeVarchar, writtenCall)
	}),
	forTimes(func(t int) scalar {
		return rowFunction("skua_truncated_time", []int{typeVarchar, t, typeVarchar}, max(t, typeOfTimestamp), truncatedTimeCall)
	}),
	forTimes(func(t int) scalar {
		return rowFunction("skua_months_apart", []int{t, typeOfZoned, typeBoolean, typeVarchar}, typeDouble, monthsBetweenCall)
	}),
	[]scalar{
		rowFunction("skua_read_time", []int{typeVarchar, typeVarchar, typeBoolean, typeVarchar}, typeOfZoned, readTimeCall),
		rowFunction("skua_read_wall", []int{typeVarchar, typeVarchar, typeBoolean}, typeOfTimestamp, readTimeCall),
		rowFunction("skua_next", []int{typeOfDate, typeVarchar}, typeOfDate, nextDayCall),
		rowFunction("skua_add_months", []int{typeOfDate, typeInteger}, typeOfDate, func(r *row) error {
			out := sparktext.AddMonths(r.whole(0), r.whole(1))
			if out != int64(int32(out)) {
				return fault.New(fault.Invalid, "integer overflow").With("ARITHMETIC_OVERFLOW", "22003")
			}
			r.give(out)
			return nil
		}),
		rowFunction("skua_last_day", []int{typeOfDate}, typeOfDate, func(r *row) error {
			r.give(sparktext.LastDay(r.whole(0)))
			return nil
		}),
		rowFunction("skua_truncated_day", []int{typeOfDate, typeVarchar}, typeOfDate, truncatedDayCall),
		rowFunction("skua_from_utc", []int{typeOfZoned, typeVarchar}, typeOfZoned, shiftCall(1)),
		rowFunction("skua_to_utc", []int{typeOfZoned, typeVarchar}, typeOfZoned, shiftCall(-1)),
		rowFunction("skua_between_zones", []int{typeVarchar, typeVarchar, typeOfTimestamp}, typeOfTimestamp, betweenZonesCall),
	})

func forTimes(of func(t int) scalar) (out []scalar) {
	for _, t := range timeTypes {
		out = append(out, of(t))
	}
	return out
}

func fieldCall(r *row) error {
	zone, err := r.zone(2)
	if err != nil {
		return err
	}
	wall, _ := r.wall(1, zone)
	f := sparktext.FieldsOf(wall)
	year, week := f.Week()
	r.give(map[string]int64{"year": f.Year, "quarter": f.Quarter(), "month": f.Month, "day": f.Day, "hour": f.Hour, "minute": f.Minute, "second": f.Second, "dayofyear": f.DayOfYear,
		"dayofweek": (f.Weekday+1)%7 + 1, "weekday": f.Weekday, "dayofweekiso": f.Weekday + 1, "week": week, "yearofweek": year}[r.text(0)])
	return nil
}

// secondsCall gives the microseconds of the minute.
func secondsCall(r *row) error {
	zone, err := r.zone(1)
	if err != nil {
		return err
	}
	wall, _ := r.wall(0, zone)
	f := sparktext.FieldsOf(wall)
	r.give(f.Second*1_000_000 + f.Micro)
	return nil
}

func timeNameCall(r *row) error {
	zone, err := r.zone(2)
	if err != nil {
		return err
	}
	wall, _ := r.wall(1, zone)
	f := sparktext.FieldsOf(wall)
	if r.text(0) == "month" {
		r.give(f.MonthName())
		return nil
	}
	r.give(f.DayName())
	return nil
}

func writtenCall(r *row) error {
	return r.written(func(zone *sparktext.Zone) (wall, offset int64) { return r.wall(0, zone) })
}

// written gives a time by the pattern in the second argument, in the zone of the third; at tells what its clock shows there, and how far that is from UTC.
func (r *row) written(at func(zone *sparktext.Zone) (wall, offset int64)) error {
	zone, err := r.zone(2)
	if err != nil {
		return err
	}
	p, err := of(r, r.text(1), sparktext.ParsePattern)
	if err != nil {
		return err
	}
	wall, offset := at(zone)
	r.give(p.Format(wall, offset, zone))
	return nil
}

// readTimeCall reads a text by a pattern; what cannot be read is NULL where the third argument says so.
func readTimeCall(r *row) error {
	p, err := of(r, r.text(1), sparktext.ParseReading)
	if err != nil {
		return err
	}
	var zone *sparktext.Zone
	if len(r.columns) > 3 {
		if zone, err = r.zone(3); err != nil {
			return err
		}
	}
	v, err := p.Parse(r.text(0), zone)
	switch {
	case err == nil:
		r.give(v)
	case !r.truth(2):
		return err
	}
	return nil
}

// weekdays are the texts of next_day, Monday first.
var weekdays = [][]string{{"MO", "MON", "MONDAY"}, {"TU", "TUE", "TUESDAY"}, {"WE", "WED", "WEDNESDAY"}, {"TH", "THU", "THURSDAY"}, {"FR", "FRI", "FRIDAY"}, {"SA", "SAT", "SATURDAY"},
	{"SU", "SUN", "SUNDAY"}}

func nextDayCall(r *row) error {
	name := strings.ToUpper(r.text(1))
	day := slices.IndexFunc(weekdays, func(names []string) bool { return slices.Contains(names, name) })
	if day < 0 {
		return fault.New(fault.Invalid, "Illegal input for day of week: %s.", r.text(1)).With("ILLEGAL_DAY_OF_WEEK", "22009")
	}
	f := sparktext.FieldsOf(r.whole(0) * sparktext.MicrosPerDay)
	r.give(r.whole(0) + (int64(day)-f.Weekday+6)%7 + 1)
	return nil
}

// truncatedDay gives the first day of the unit that a day is in; false: days are not cut to it.
func truncatedDay(unit string, days int64) (int64, bool) {
	f := sparktext.FieldsOf(days * sparktext.MicrosPerDay)
	year, month := f.Year, f.Month
	switch strings.ToUpper(unit) {
	case "WEEK":
		return days - f.Weekday, true
	case "MONTH", "MON", "MM":
	case "QUARTER":
		month = (f.Quarter()-1)*3 + 1
	case "YEAR", "YYYY", "YY":
		month = 1
	default:
		return 0, false
	}
	out, _ := sparktext.DaysOf(year, month, 1)
	return out, true
}

func truncatedDayCall(r *row) error {
	if v, ok := truncatedDay(r.text(1), r.whole(0)); ok {
		r.give(v)
	}
	return nil
}

// clockUnits are the microseconds of parts of a day.
var clockUnits = map[string]int64{"MICROSECOND": 1, "MILLISECOND": 1000, "SECOND": 1_000_000, "MINUTE": 60_000_000, "HOUR": 3_600_000_000, "DAY": sparktext.MicrosPerDay, "DD": sparktext.MicrosPerDay}

func truncatedTimeCall(r *row) error {
	zone, err := r.zone(2)
	if err != nil {
		return err
	}
	wall, _ := r.wall(1, zone)
	unit := strings.ToUpper(r.text(0))
	if size, ok := clockUnits[unit]; ok {
		wall = sparktext.FloorDiv(wall, size) * size
	} else if days, ok := truncatedDay(unit, sparktext.FloorDiv(wall, sparktext.MicrosPerDay)); ok {
		wall = days * sparktext.MicrosPerDay
	} else {
		return nil
	}
	if _, instant := r.instant(); instant {
		wall = zone.InstantOf(wall)
	}
	r.give(wall)
	return nil
}

// instant reports whether the result has a zone.
func (r *row) instant() (string, bool) {
	name := r.out.Type().String()
	return name, strings.Contains(name, "tz=")
}

// monthsBetweenCall counts months, and the rest as parts of one of 31 days.
func monthsBetweenCall(r *row) error {
	zone, err := r.zone(3)
	if err != nil {
		return err
	}
	a, _ := r.wall(0, zone)
	b, _ := r.wall(1, zone)
	f, g := sparktext.FieldsOf(a), sparktext.FieldsOf(b)
	months := (f.Year-g.Year)*12 + f.Month - g.Month
	last := func(f sparktext.Fields) bool {
		days := sparktext.FloorDiv(f.Wall, sparktext.MicrosPerDay)
		return sparktext.LastDay(days) == days
	}
	if f.Day == g.Day || last(f) && last(g) {
		r.give(float64(months))
		return nil
	}
	seconds := func(f sparktext.Fields) int64 {
		return f.Day*sparktext.SecondsPerDay + f.Hour*3600 + f.Minute*60 + f.Second
	}
	out := float64(months) + float64(seconds(f)-seconds(g))/(31*sparktext.SecondsPerDay)
	if r.truth(2) {
		out = math.Round(out*1e8) / 1e8
	}
	r.give(out)
	return nil
}

// shiftCall shows an instant in another zone, or reads it in one.
func shiftCall(sign int64) func(r *row) error {
	return func(r *row) error {
		zone, err := r.zone(1)
		if err != nil {
			return err
		}
		v := r.whole(0)
		if sign > 0 {
			r.give(v + zone.Offset(sparktext.FloorDiv(v, 1_000_000))*1_000_000)
			return nil
		}
		r.give(zone.InstantOf(v))
		return nil
	}
}

func betweenZonesCall(r *row) error {
	from, err := r.zone(0)
	if err != nil {
		return err
	}
	to, err := r.zone(1)
	if err != nil {
		return err
	}
	v := from.InstantOf(r.whole(2))
	r.give(v + to.Offset(sparktext.FloorDiv(v, 1_000_000))*1_000_000)
	return nil
}
