package sparktext

// Fields are those of a wall clock.
type Fields struct {
	Wall, Year, Month, Day, DayOfYear int64
	Weekday                           int64 // Monday is 0
	Hour, Minute, Second, Micro       int64
}

// FieldsOf gives the fields of a wall clock's microseconds since 1970.
func FieldsOf(wall int64) Fields {
	days := FloorDiv(wall, MicrosPerDay)
	f := Fields{Wall: wall}
	f.Year, f.Month, f.Day = civil(days)
	first, _ := daysOf(f.Year, 1, 1)
	f.DayOfYear = days - first + 1
	f.Weekday = ((days+3)%7 + 7) % 7
	rest := wall - days*MicrosPerDay
	f.Micro = rest % 1_000_000
	rest /= 1_000_000
	f.Hour, f.Minute, f.Second = rest/3600, rest/60%60, rest%60
	return f
}

// Quarter gives the quarter, from 1.
func (f *Fields) Quarter() int64 { return (f.Month-1)/3 + 1 }

// Week gives ISO's week and the year that it is one of.
func (f *Fields) Week() (year, week int64) {
	days := FloorDiv(f.Wall, MicrosPerDay)
	thursday := days - f.Weekday + 3
	year, _, _ = civil(thursday)
	first, _ := daysOf(year, 1, 1)
	return year, (thursday-first)/7 + 1
}

// DaysOf gives the day of a date; false: there is no such date.
func DaysOf(year, month, day int64) (int64, bool) { return daysOf(year, month, day) }

// AddMonths adds months to a day; a day that the month lacks is its last.
func AddMonths(days, months int64) int64 {
	year, month, day := civil(days)
	n := year*12 + month - 1 + months
	year = FloorDiv(n, 12)
	month = n - year*12 + 1
	out, _ := daysOf(year, month, min(day, monthLength(year, month)))
	return out
}

// LastDay gives the last day of the month of a day.
func LastDay(days int64) int64 {
	year, month, _ := civil(days)
	out, _ := daysOf(year, month, monthLength(year, month))
	return out
}

// MonthName and DayName give the short names.
func (f *Fields) MonthName() string { return monthNames[f.Month][:3] }

// DayName gives the short name of the day of the week.
func (f *Fields) DayName() string { return dayNames[f.Weekday][:3] }
