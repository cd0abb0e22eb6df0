//go:build cgo

package duckdb

import "github.com/skua-data/skua/engine/sparktext"

// betweenFunctions count the units between two wall clocks.
var betweenFunctions = []scalar{rowFunction("skua_units_between", []int{typeVarchar, typeOfTimestamp, typeOfTimestamp}, typeBigint, func(r *row) error {
	r.give(unitsBetween(r.text(0), r.whole(1), r.whole(2)))
	return nil
})}

// monthUnits are the months of units that are made of them.
var monthUnits = map[string]int64{"month": 1, "quarter": 3, "year": 12}

// unitMicros are the microseconds of the other units.
var unitMicros = map[string]int64{"microsecond": 1, "millisecond": 1000, "second": 1_000_000, "minute": 60_000_000, "hour": 3_600_000_000, "day": sparktext.MicrosPerDay, "week": 7 * sparktext.MicrosPerDay}

// unitsBetween counts whole units from one wall clock to another. A month is over when the other one's day and time are reached.
func unitsBetween(unit string, from, to int64) int64 {
	size, ok := monthUnits[unit]
	if !ok {
		return (to - from) / unitMicros[unit]
	}
	f, t := sparktext.FieldsOf(from), sparktext.FieldsOf(to)
	months := (t.Year-f.Year)*12 + t.Month - f.Month
	within := func(x sparktext.Fields) int64 {
		return x.Day*sparktext.MicrosPerDay + (x.Hour*3600+x.Minute*60+x.Second)*1_000_000 + x.Micro
	}
	switch rest := within(t) - within(f); {
	case months > 0 && rest < 0:
		months--
	case months < 0 && rest > 0:
		months++
	}
	return months / size
}
