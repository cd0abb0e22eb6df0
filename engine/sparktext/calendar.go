package sparktext

// The days, seconds and microseconds of a day.
const (
	SecondsPerDay = 86_400
	MicrosPerDay  = SecondsPerDay * 1_000_000
)

// FloorDiv divides and rounds down; b is positive.
func FloorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// civil gives the date of a day since 1970-01-01, in the proleptic Gregorian calendar.
func civil(days int64) (year, month, day int64) {
	z := days + 719468
	era := FloorDiv(z, 146097)
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day = doy - (153*mp+2)/5 + 1
	if month = mp + 3; month > 12 {
		month -= 12
	}
	year = yoe + era*400
	if month <= 2 {
		year++
	}
	return year, month, day
}

// daysOf gives the day of a date; false: there is no such date.
func daysOf(year, month, day int64) (int64, bool) {
	if month < 1 || month > 12 || day < 1 || day > monthLength(year, month) {
		return 0, false
	}
	y := year
	if month <= 2 {
		y--
	}
	era := FloorDiv(y, 400)
	yoe := y - era*400
	doy := (153*((month+9)%12)+2)/5 + day - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146097 + doe - 719468, true
}

func monthLength(year, month int64) int64 {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}
