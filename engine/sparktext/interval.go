package sparktext

import "strconv"

// AppendInterval writes a span of time as Spark does: one of months as INTERVAL '1-2' YEAR TO MONTH, another one as INTERVAL '1 02:03:04.5' DAY TO SECOND.
func AppendInterval(b []byte, months, days, micros int64) []byte {
	b = append(b, "INTERVAL '"...)
	if months != 0 && days == 0 && micros == 0 {
		if months < 0 {
			b = append(b, '-')
			months = -months
		}
		b = strconv.AppendInt(b, months/12, 10)
		b = strconv.AppendInt(append(b, '-'), months%12, 10)
		return append(b, "' YEAR TO MONTH"...)
	}
	total := days*MicrosPerDay + micros
	if total < 0 {
		b = append(b, '-')
		total = -total
	}
	b = strconv.AppendInt(b, total/MicrosPerDay, 10)
	b = AppendClock(append(b, ' '), total%MicrosPerDay, 1_000_000)
	return append(b, "' DAY TO SECOND"...)
}
