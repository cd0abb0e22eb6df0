package dialect

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skua-data/skua/engine/sparktext"
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

// wordValue gives the value of a word that is a function without parentheses, spelled; false: it is a name. The engine itself takes user and current_role
// for functions where no column has their name.
func (r *rewriter) wordValue(word string) (string, bool) {
	name := strings.ToLower(word)
	if slices.Contains(bareMoments, name) {
		return r.moment(moments[name]), true
	}
	value, ok := r.Constants[name]
	return constantText(value), ok && (strings.HasPrefix(name, "current_") || name == "session_user")
}

// constantWord writes such a word.
func (r *rewriter) constantWord(t syntax.Token) bool {
	value, ok := r.wordValue(t.Text)
	if ok {
		r.next++
		r.emitAt(value, t.Pos)
	}
	return ok
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
		return "CAST(" + strconv.FormatInt(r.Clock.Unix(), 10) + " AS BIGINT)", true
	}
	value, ok := r.Constants[name]
	return constantText(value), ok
}

// constantText spells a text that may stand where the engine takes no literal: behind ORDER BY.
func constantText(value string) string { return "CAST(" + QuoteText(value) + " AS VARCHAR)" }

// namedDays are the texts of typed literals that mean a day by today's.
var namedDays = map[string]int{"today": 0, "now": 0, "yesterday": -1, "tomorrow": 1}

// namedTime writes DATE 'today' and its like, and in Spark's dialect what Spark reads and the engine does not: DATE '2024-1'; false: the literal is the engine's.
func (r *rewriter) namedTime(t syntax.Token) bool {
	literal := r.at(r.next + 1)
	if r.at(r.next+2).Kind == syntax.Text {
		return false
	}
	typ := spellType(syntax.TypeName{Name: strings.ToLower(t.Text)}, r.Spark)
	text, ok := r.namedMoment(syntax.TextOf(literal), typ)
	if !ok && r.Spark {
		text, ok = r.readMoment(syntax.TextOf(literal), t)
	}
	if ok && r.failed == nil {
		r.next += 2
		r.emitAt(text, t.Pos)
	}
	return ok
}

// namedMoment spells the day or the time that a name means for a type of the engine.
func (r *rewriter) namedMoment(text, typ string) (string, bool) {
	name := strings.ToLower(sparktext.Trim(text))
	now := r.Clock.In(r.Zone)
	shift, ok := namedDays[name]
	day := now.AddDate(0, 0, shift).Format(time.DateOnly)
	switch {
	case name == "epoch" && r.Spark && typ == "TIMESTAMPTZ":
		return "TIMESTAMPTZ '1970-01-01 00:00:00+00'", true
	case name == "epoch" && r.Spark:
		return typ + " '1970-01-01'", true
	case !ok:
		return "", false
	case typ == "DATE":
		return "DATE '" + day + "'", true
	case name == "now" && typ == "TIMESTAMP":
		return r.moment(momentLocal), true
	case name == "now":
		return r.moment(momentZoned), true
	}
	return typ + " '" + day + " 00:00:00'", true
}

// plainMoment finds the texts of days and times that the engine reads as Spark does.
var plainMoment = regexp.MustCompile(`^(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-[0-9]{2}-[0-9]{2}(?: [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?)?$`)

// readMoment spells a literal of a type that a token names, in one of the forms that Spark alone has; false: it is the engine's.
func (r *rewriter) readMoment(text string, typ syntax.Token) (string, bool) {
	t := syntax.TypeName{Name: strings.ToLower(typ.Text)}
	days, isDate := sparktext.ParseDate(sparktext.Trim(text))
	_, isTime := sparktext.ParseTimestamp(sparktext.Trim(text))
	date := typ.Is("DATE")
	switch {
	case date && !isDate || !date && !isTime:
		r.failed = fault.New(fault.Invalid, "The value of the typed literal %q is invalid: %s.", strings.ToUpper(typ.Text), QuoteText(text)).With("INVALID_TYPED_LITERAL", "42604").
			At(fault.Position{Line: typ.Pos.Line, Column: typ.Pos.Column})
		return "", true
	case plainMoment.MatchString(text) && (!date || len(text) == len(time.DateOnly)):
		return "", false
	case date && days >= firstDay && days <= lastDay:
		return "DATE '" + string(sparktext.AppendDate(nil, days)) + "'", true
	}
	return r.castScalar(t, false, QuoteText(text)), true
}

// The days of the years that are written with four digits.
const (
	firstDay = -719162
	lastDay  = 2932896
)

// units are the words for parts of a time.
var units = map[string]string{"year": "year", "years": "year", "yyyy": "year", "yy": "year", "quarter": "quarter", "quarters": "quarter", "q": "quarter", "month": "month", "months": "month", "mm": "month",
	"mon": "month", "week": "week", "weeks": "week", "day": "day", "days": "day", "dd": "day", "d": "day", "dayofyear": "doy", "doy": "doy", "hour": "hour", "hours": "hour", "hh": "hour",
	"minute": "minute", "minutes": "minute", "mi": "minute", "second": "second", "seconds": "second", "ss": "second", "millisecond": "millisecond",
	"microsecond": "microsecond", "frac_second": "microsecond", "dow": "dow", "dayofweek": "dow", "decade": "decade", "century": "century", "epoch": "epoch", "isodow": "isodow"}

// unitNames are the units themselves.
var unitNames = func() map[string]string {
	out := map[string]string{}
	for _, unit := range units {
		out[unit] = unit
	}
	return out
}()

// truncated is a number without its digits behind the $2nd.
const truncated = "(trunc(($1) * power(10, $2)) / power(10, $2))"

// adders make an interval of a number of units.
var adders = map[string]string{"year": "to_years", "month": "to_months", "week": "to_weeks", "day": "to_days", "doy": "to_days", "hour": "to_hours", "minute": "to_minutes",
	"second": "to_seconds", "millisecond": "to_milliseconds", "microsecond": "to_microseconds", "quarter": "to_quarters"}

// Calls with a unit in front, and those of the same names without one.
var (
	dateAdd  = ofUnit(3, "(($2) + UNIT(CAST($1 AS INTEGER)))", adders, templated(2, "CAST(CAST($1 AS DATE) + CAST($2 AS INTEGER) AS DATE)"))
	dateDiff = ofUnit(3, "date_diff('UNIT', $1, $2)", unitNames, templated(2, "(CAST($1 AS DATE) - CAST($2 AS DATE))"))
	datePart = ofUnit(2, "date_part('UNIT', $1)", unitNames)
)

// ofUnit writes a call whose first argument is a unit: UNIT in a template, in which $1 is the argument behind it. others are templates for other numbers of arguments.
func ofUnit(arguments int, text string, spelled map[string]string, others ...function) function {
	return function{special: func(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
		if len(bounds) != arguments {
			for _, o := range others {
				for _, t := range o.templates {
					if t.arguments == len(bounds) {
						r.template(t.text, pos, r.argumentPieces(bounds)...)
						return true
					}
				}
			}
			return false
		}
		unit := spelled[units[r.bare(bounds[0])]]
		if unit == "" {
			return false
		}
		args := r.argumentPieces(bounds)
		r.template(strings.ReplaceAll(text, "UNIT", unit), pos, args[1:]...)
		return true
	}}
}

// truncCall writes Spark's trunc(date, 'MM') and trunc of numbers.
func truncCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) != 2 {
		return false
	}
	unit := units[r.bare(bounds[1])]
	args := r.argumentPieces(bounds)
	if unit == "" {
		r.template(truncated, pos, args...)
		return true
	}
	r.template("CAST(date_trunc('"+unit+"', CAST($1 AS DATE)) AS DATE)", pos, args[0])
	return true
}

// byPattern writes a call whose second argument is a pattern: FORMAT in a template, in the engine's spelling. alone is the template without one; empty: there is none.
func byPattern(text, alone string) function {
	return function{special: func(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
		switch {
		case len(bounds) == 1 && alone != "":
			r.template(alone, pos, r.argumentPieces(bounds)...)
			return true
		case len(bounds) != 2:
			return false
		}
		refuse := func(format string, args ...any) bool {
			r.failed = fault.New(fault.Unsupported, format, args...).At(fault.Position{Line: pos.Line, Column: pos.Column})
			return true
		}
		pattern, ok := r.literal(bounds[1])
		if !ok {
			return refuse("a pattern of dates that is no literal is not supported")
		}
		format, ok := strftime(pattern)
		if !ok {
			return refuse("the pattern of dates %q is not supported", pattern)
		}
		args := r.argumentPieces(bounds)
		r.template(strings.ReplaceAll(text, "FORMAT", QuoteText(format)), pos, args[0])
		return true
	}}
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
