package syntax

import (
	"errors"
	"testing"
)

// TestIntervals: literals have Spark's value, name and type, or its error.
func TestIntervals(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"INTERVAL '1-2' YEAR TO MONTH", "INTERVAL '1-2' YEAR TO MONTH"}, {"INTERVAL -'-1-2' YEAR TO MONTH", "INTERVAL '1-2' YEAR TO MONTH"},
		{"INTERVAL '5 1:02:03.5' DAY TO SECOND", "INTERVAL '5 01:02:03.5' DAY TO SECOND"}, {"INTERVAL '2:3.25' MINUTE TO SECOND", "INTERVAL '02:03.25' MINUTE TO SECOND"},
		{"INTERVAL 1 YEAR -2 MONTHS", "INTERVAL '0-10' YEAR TO MONTH"}, {"INTERVAL '- 1 day +2 hours'", "INTERVAL '-0 22' DAY TO HOUR"}, {"INTERVAL 2 WEEKS", "INTERVAL '14' DAY"},
		{"INTERVAL 5 MILLISECONDS", "INTERVAL '00.005' SECOND"}, {"INTERVAL 'interval 1 day'", "INTERVAL '1' DAY"}, {"INTERVAL '-9223372036854775808' MICROSECONDS", "INTERVAL '-9223372036854.775808' SECOND"},
		{"INTERVAL 1 YEAR 2 DAYS", mixedUnits}, {"INTERVAL 1.5 DAYS", "INVALID_INTERVAL_FORMAT.INVALID_FRACTION"}, {"INTERVAL 'x'", "INVALID_TYPED_LITERAL"},
		{"INTERVAL '1-13' YEAR TO MONTH", "INVALID_INTERVAL_FORMAT.INTERVAL_PARSING"}, {"INTERVAL '1-2' MONTH TO YEAR", "INVALID_INTERVAL_FORMAT.UNSUPPORTED_FROM_TO_EXPRESSION"},
		{"INTERVAL 3000000000 YEARS", "INVALID_INTERVAL_FORMAT.ARITHMETIC_EXCEPTION"}, {"INTERVAL", ""}, {"INTERVAL -", ""}, {"INTERVAL (1) DAY", ""}, {"INTERVAL - 3", ""}, {"INTERVAL a DAY", ""},
	} {
		tokens, err := Tokens(c.sql)
		if err != nil {
			t.Fatal(err)
		}
		i, n, err := ReadInterval(tokens)
		got := ""
		var e *Error
		switch {
		case errors.As(err, &e):
			got = e.Condition
		case n > 0:
			got = i.String()
		}
		if got != c.want || n > 0 && n != len(tokens)-1 {
			t.Errorf("%s: %s, want %s (%d of %d tokens)", c.sql, got, c.want, n, len(tokens)-1)
		}
	}
}
