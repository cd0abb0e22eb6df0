//go:build cgo

package duckdb

import "encoding/json"

// The engine takes a month for thirty days and a day for 24 hours where it compares constants, and reads expressions with equal constants once: d - INTERVAL 3 MONTH and
// d - INTERVAL 90 DAY beside each other would be one. Where a statement has such intervals, those of days and of parts of days are made anew for each row, so that nothing
// takes them for another; the variable skua_apart says so to these macros.
var intervalMacros = func() (out []string) {
	const anew = " + system.main.to_days(CAST(floor(random() * 0) AS INTEGER))"
	for _, name := range apartIntervals {
		out = append(out, "CREATE MACRO "+name+"(n) AS CASE WHEN getvariable('skua_apart') THEN system.main."+name+"(n)"+anew+" ELSE system.main."+name+"(n) END")
	}
	return append(out, "CREATE MACRO skua_interval(t) AS CASE WHEN getvariable('skua_apart') THEN CAST(t AS INTERVAL)"+anew+" ELSE CAST(t AS INTERVAL) END")
}()

// apartIntervals are the functions that the engine writes INTERVAL n UNIT with, but for those of months and years.
var apartIntervals = []string{"to_weeks", "to_days", "to_hours", "to_minutes", "to_seconds", "to_milliseconds", "to_microseconds"}

// duration is an interval as the engine holds it.
type duration struct{ months, days, micros int64 }

// compared gives what intervals are compared by.
func (d duration) compared() duration {
	const day = 86_400_000_000
	d.days += d.micros / day
	d.micros %= day
	d.months += d.days / 30
	d.days %= 30
	return d
}

// mistakesIntervals reports whether a plan has intervals that are equal to the engine and are not the same.
func (n *planNode) mistakesIntervals() (found bool) {
	seen := map[duration]duration{}
	n.expressions(func(e *planExpr) {
		d, ok := e.Value.duration()
		if !ok {
			return
		}
		if other, known := seen[d.compared()]; known && other != d {
			found = true
		}
		seen[d.compared()] = d
	})
	return found
}

// duration reads a constant that is an interval.
func (v planValue) duration() (d duration, ok bool) {
	parts, ok := v.Value.(map[string]any)
	if v.Type.ID != "INTERVAL" || !ok {
		return d, false
	}
	for name, to := range map[string]*int64{"months": &d.months, "days": &d.days, "micros": &d.micros} {
		n, _ := parts[name].(json.Number) // zeros are left out
		*to, _ = n.Int64()
	}
	return d, true
}
