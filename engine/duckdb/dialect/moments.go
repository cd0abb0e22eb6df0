package dialect

import (
	"strings"
	"time"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// moment is a kind of current time.
type moment uint8

const (
	noMoment moment = iota
	momentDate
	momentZoned
	momentLocal
	momentTime
)

// moments are the functions that tell the statement's time.
var moments = map[string]moment{"current_date": momentDate, "curdate": momentDate, "today": momentDate, "current_timestamp": momentZoned, "now": momentZoned,
	"getdate": momentZoned, "localtimestamp": momentLocal, "current_time": momentTime, "localtime": momentTime, "transaction_timestamp": momentZoned,
	"get_current_timestamp": momentZoned, "statement_timestamp": momentZoned}

// bareMoments need no parentheses.
var bareMoments = []string{"current_date", "current_timestamp", "localtimestamp", "current_time", "localtime"}

// moment spells the statement's time.
func (r *rewriter) moment(m moment) string {
	now := r.Clock.In(r.Zone)
	switch m {
	case momentDate:
		return "DATE '" + now.Format(time.DateOnly) + "'"
	case momentLocal:
		return "TIMESTAMP '" + now.Format("2006-01-02 15:04:05.999999") + "'"
	case momentTime:
		return "TIME '" + now.Format("15:04:05.999999") + "'"
	}
	return "TIMESTAMPTZ '" + r.Clock.UTC().Format("2006-01-02 15:04:05.999999+00") + "'"
}

// constantWord writes a word that is a function without parentheses; false: it is a name.
func (r *rewriter) constantWord(t syntax.Token) bool {
	name := strings.ToLower(t.Text)
	for _, bare := range bareMoments {
		if name == bare {
			r.next++
			r.emitAt(r.moment(moments[name]), t.Pos)
			return true
		}
	}
	if value, ok := r.Constants[name]; ok && (strings.HasPrefix(name, "current_") || name == "session_user") {
		r.next++
		r.emitAt(QuoteText(value), t.Pos)
		return true
	}
	return false
}

// constantCall spells a function that is called without arguments and whose value is the statement's.
func (r *rewriter) constantCall(name string) (string, bool) {
	if !r.is("(") || !r.at(r.next+1).Is(")") {
		return "", false
	}
	if m := moments[name]; m != noMoment {
		return r.moment(m), true
	}
	if name == "unix_timestamp" {
		return "CAST(epoch(" + r.moment(momentZoned) + ") AS BIGINT)", true
	}
	value, ok := r.Constants[name]
	return QuoteText(value), ok
}

// units are the words for parts of a time.
var units = map[string]string{"year": "year", "years": "year", "yyyy": "year", "yy": "year", "quarter": "quarter", "quarters": "quarter", "q": "quarter", "month": "month", "months": "month", "mm": "month",
	"mon": "month", "week": "week", "weeks": "week", "day": "day", "days": "day", "dd": "day", "d": "day", "dayofyear": "doy", "doy": "doy", "hour": "hour", "hours": "hour", "hh": "hour",
	"minute": "minute", "minutes": "minute", "mi": "minute", "second": "second", "seconds": "second", "ss": "second", "millisecond": "millisecond",
	"microsecond": "microsecond", "frac_second": "microsecond", "dow": "dow", "dayofweek": "dow", "decade": "decade", "century": "century", "epoch": "epoch", "isodow": "isodow"}

// adders make an interval of a number of units.
var adders = map[string]string{"year": "to_years", "month": "to_months", "week": "to_weeks", "day": "to_days", "hour": "to_hours", "minute": "to_minutes",
	"second": "to_seconds", "millisecond": "to_milliseconds", "microsecond": "to_microseconds", "quarter": "to_quarters"}

// dateAdd writes dateadd(unit, n, t) and Spark's dateadd(date, n).
func dateAdd(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) == 2 {
		args := r.argumentPieces(bounds)
		r.template("CAST(CAST($1 AS DATE) + CAST($2 AS INTEGER) AS DATE)", pos, args...)
		return true
	}
	if len(bounds) != 3 {
		return false
	}
	adder := adders[units[r.bare(bounds[0])]]
	if adder == "" {
		return false
	}
	args := r.argumentPieces(bounds)
	r.template("(($2) + "+adder+"(CAST($1 AS INTEGER)))", pos, args[1], args[2])
	return true
}

// dateDiff writes datediff(end, start) in days, and datediff(unit, start, end).
func dateDiff(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	switch len(bounds) {
	case 2:
		args := r.argumentPieces(bounds)
		r.template("(CAST($1 AS DATE) - CAST($2 AS DATE))", pos, args...)
		return true
	case 3:
		unit := units[r.bare(bounds[0])]
		if unit == "" {
			return false
		}
		args := r.argumentPieces(bounds)
		r.template("date_diff('"+unit+"', $1, $2)", pos, args[1], args[2])
		return true
	}
	return false
}

// timestampDiff writes timestampdiff(unit, start, end), which counts whole units.
func timestampDiff(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) != 3 {
		return false
	}
	unit := units[r.bare(bounds[0])]
	if unit == "" {
		return false
	}
	args := r.argumentPieces(bounds)
	r.template("date_sub('"+unit+"', $1, $2)", pos, args[1], args[2])
	return true
}

// datePart writes date_part(unit, t), whose unit may be a bare word.
func datePart(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) != 2 {
		return false
	}
	unit := units[r.bare(bounds[0])]
	if unit == "" {
		return false
	}
	args := r.argumentPieces(bounds)
	r.template("date_part('"+unit+"', $1)", pos, args[1])
	return true
}

// truncCall writes Spark's trunc(date, 'MM') and trunc of numbers.
func truncCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) != 2 {
		return false
	}
	unit := units[r.bare(bounds[1])]
	args := r.argumentPieces(bounds)
	if unit == "" {
		r.template("(trunc(($1) * power(10, $2)) / power(10, $2))", pos, args...)
		return true
	}
	r.template("CAST(date_trunc('"+unit+"', CAST($1 AS DATE)) AS DATE)", pos, args[0])
	return true
}

// dateTrunc writes date_trunc, which Spark gives a timestamp always.
func dateTrunc(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) != 2 {
		return false
	}
	unit := units[r.bare(bounds[0])]
	if unit == "" {
		return false
	}
	args := r.argumentPieces(bounds)
	r.template("date_trunc('"+unit+"', $1)", pos, args[1])
	return true
}

// dateFormat writes date_format(t, 'pattern').
func dateFormat(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	return r.formatted(bounds, pos, "strftime(CAST($1 AS TIMESTAMP), "+"FORMAT)")
}

// toDate writes to_date(text[, 'pattern']).
func toDate(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) == 1 {
		args := r.argumentPieces(bounds)
		r.template("CAST($1 AS DATE)", pos, args...)
		return true
	}
	return r.formatted(bounds, pos, "CAST(strptime($1, FORMAT) AS DATE)")
}

// toTimestamp writes to_timestamp(text[, 'pattern']); of a number it is the seconds since the epoch.
func toTimestamp(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) == 1 {
		args := r.argumentPieces(bounds)
		r.template("skua_to_timestamp($1)", pos, args...)
		return true
	}
	return r.formatted(bounds, pos, "CAST(strptime($1, FORMAT) AS TIMESTAMPTZ)")
}

// formatted writes a template with a literal pattern in the engine's spelling.
func (r *rewriter) formatted(bounds [][2]int, pos syntax.Pos, text string) bool {
	if len(bounds) != 2 {
		return false
	}
	pattern, ok := r.literal(bounds[1])
	if !ok {
		r.failed = fault.New(fault.Unsupported, "a pattern of dates that is no literal is not supported").At(fault.Position{Line: pos.Line, Column: pos.Column})
		return true
	}
	format, ok := strftime(pattern)
	if !ok {
		r.failed = fault.New(fault.Unsupported, "the pattern of dates %q is not supported", pattern).At(fault.Position{Line: pos.Line, Column: pos.Column})
		return true
	}
	args := r.argumentPieces(bounds)
	r.template(strings.ReplaceAll(text, "FORMAT", QuoteText(format)), pos, args[0])
	return true
}

// formats are the letters of Java's patterns and how strftime spells them, longer ones first.
var formats = []struct{ letters, format string }{{"yyyy", "%Y"}, {"yy", "%y"}, {"y", "%Y"}, {"MMMM", "%B"}, {"MMM", "%b"}, {"MM", "%m"}, {"M", "%-m"},
	{"dd", "%d"}, {"d", "%-d"}, {"DDD", "%j"}, {"D", "%-j"}, {"EEEE", "%A"}, {"EEE", "%a"}, {"EE", "%a"}, {"E", "%a"}, {"HH", "%H"}, {"H", "%-H"}, {"hh", "%I"}, {"h", "%-I"},
	{"mm", "%M"}, {"m", "%-M"}, {"ss", "%S"}, {"s", "%-S"}, {"SSSSSS", "%f"}, {"SSS", "%g"}, {"a", "%p"}}

// strftime spells a pattern of Java for the engine; false: it has a letter that there is no format for.
func strftime(pattern string) (string, bool) {
	var b strings.Builder
next:
	for i := 0; i < len(pattern); {
		c := pattern[i]
		if c == '\'' {
			end := strings.IndexByte(pattern[i+1:], '\'')
			if end < 0 {
				return "", false
			}
			b.WriteString(strings.ReplaceAll(pattern[i+1:i+1+end], "%", "%%"))
			i += end + 2
			continue
		}
		for _, f := range formats {
			if strings.HasPrefix(pattern[i:], f.letters) && !strings.HasPrefix(pattern[i+len(f.letters):], f.letters[:1]) {
				b.WriteString(f.format)
				i += len(f.letters)
				continue next
			}
		}
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' {
			return "", false
		}
		if c == '%' {
			b.WriteByte('%')
		}
		b.WriteByte(c)
		i++
	}
	return b.String(), true
}
