package dialect

import (
	"strings"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// zoneHere is the session's zone in the text of a function.
const zoneHere = "skua_zone()"

// sparkTimes are Spark's functions of days and times.
var sparkTimes = map[string]function{
	"year": templated(1, "skua_year($1)"), "quarter": dayPart("quarter"), "month": templated(1, "skua_month($1)"), "day": templated(1, "skua_day($1)"), "dayofmonth": templated(1, "skua_day($1)"),
	"dayofweek": dayPart("dayofweek"), "weekday": dayPart("weekday"), "weekofyear": dayPart("week"), "dayofyear": dayPart("dayofyear"),
	"hour": clockPart("hour"), "minute": clockPart("minute"), "second": clockPart("second"),
	"dayname":   templated(1, "skua_time_name('day', skua_to_date($1), "+zoneHere+")"),
	"monthname": templated(1, "skua_time_name('month', skua_to_date($1), "+zoneHere+")"),
	"extract":   {special: extractCall}, "date_part": {special: datePartCall}, "datepart": {special: datePartCall},
	"date_format":       templated(2, "skua_date_format($2, $1)"),
	"to_date":           templated(1, "skua_to_date($1)", 2, "skua_read_date(false, $2, $1)"),
	"try_to_date":       templated(1, "skua_try_cast_date($1, "+zoneHere+")", 2, "skua_read_date(true, $2, $1)"),
	"to_timestamp":      templated(1, "skua_instant($1)", 2, "skua_read_instant(false, $2, $1)"),
	"make_time":         {special: makeTimeCall},
	"timestamp_seconds": templated(1, "skua_from_seconds($1)"),
	"date":              templated(1, "skua_to_date($1)"),
	"timestamp":         templated(1, "skua_instant($1)"),
	"timestamp_millis":  templated(1, "skua_instant_of($1, 1000)"), "timestamp_micros": templated(1, "skua_instant_of($1, 1)"),
	"date_from_unix_date": templated(1, "skua_day_of("+wholeOf("$1", "integer")+")"),
	"from_unixtime":       templated(1, "skua_unix_text("+wholeOf("$1", "bigint")+", 'yyyy-MM-dd HH:mm:ss', "+zoneHere+")", 2, "skua_unix_text("+wholeOf("$1", "bigint")+", $2, "+zoneHere+")"),
	"unix_timestamp":      templated(1, "skua_unix('yyyy-MM-dd HH:mm:ss', $1)", 2, "skua_unix($2, $1)"), "to_unix_timestamp": templated(1, "skua_unix('yyyy-MM-dd HH:mm:ss', $1)", 2, "skua_unix($2, $1)"),
	"try_to_timestamp": templated(1, "skua_try_cast_timestamp($1, "+zoneHere+")", 2, "skua_read_instant(true, $2, $1)"),
	"to_timestamp_ltz": templated(1, "skua_instant($1)", 2, "skua_read_instant(false, $2, $1)"),
	"to_timestamp_ntz": templated(1, "skua_cast_timestamp_n($1, "+zoneHere+")", 2, "skua_read_local(false, $2, $1)"),
	"months_between":   templated(2, "skua_months_apart(skua_instant($1), skua_instant($2), true, "+zoneHere+")", 3, "skua_months_apart(skua_instant($1), skua_instant($2), $3, "+zoneHere+")"),
	"add_months":       templated(2, "skua_add_months(skua_to_date($1), "+wholeOf("$2", "integer")+")"), "last_day": templated(1, "skua_last_day(skua_to_date($1))"),
	"next_day": templated(2, "skua_next(skua_to_date($1), $2)"), "trunc": {special: truncDayCall}, "date_trunc": templated(2, "skua_date_trunc($1, $2)"),
	"datediff": sparkDateDiff, "date_diff": sparkDateDiff, "timestampdiff": sparkDateDiff, "dateadd": sparkDateAdd, "timestampadd": sparkDateAdd, "date_add": sparkDateAdd,
	"date_sub": templated(2, "skua_days_on(skua_to_date($1), "+wholeOf("$2", "integer")+", -1)"), "unix_date": templated(1, "CAST(skua_to_date($1) - DATE '1970-01-01' AS INTEGER)"),
	"from_utc_timestamp": templated(2, "skua_from_utc(skua_instant($1), $2)"), "to_utc_timestamp": templated(2, "skua_to_utc(skua_instant($1), $2)"),
	"convert_timezone": templated(2, "skua_between_zones("+zoneHere+", $1, skua_cast_timestamp_n($2, "+zoneHere+"))", 3, "skua_between_zones($1, $2, skua_cast_timestamp_n($3, "+zoneHere+"))"),
	"make_timestamp":   madeTime("skua_made_time", false, zoneHere), "make_timestamp_ltz": madeTime("skua_made_time", false, zoneHere), "make_timestamp_ntz": madeTime("skua_made_wall", false, ""),
	"try_make_timestamp": madeTime("skua_made_time", true, zoneHere), "try_make_timestamp_ltz": madeTime("skua_made_time", true, zoneHere), "try_make_timestamp_ntz": madeTime("skua_made_wall", true, ""),
}

// wholeOf writes the cast of an argument to whole numbers, as Spark has it.
func wholeOf(argument, target string) string {
	return CastFunction(target, false) + "(" + argument + ", " + zoneHere + ")"
}

func dayPart(field string) function { return templated(1, "skua_day_part('"+field+"', $1)") }

func clockPart(field string) function { return templated(1, "skua_clock_part('"+field+"', $1)") }

// madeTime writes a timestamp of its parts. Without a zone it is a wall clock.
func madeTime(name string, try bool, zone string) function {
	fields := name + "(" + wholeOf("$1", "integer") + ", " + wholeOf("$2", "integer") + ", " + wholeOf("$3", "integer") + ", " + wholeOf("$4", "integer") + ", " + wholeOf("$5", "integer") + ", CAST(CAST($6 AS DECIMAL(16,6)) * 1000000 AS BIGINT), "
	end := map[bool]string{false: "false", true: "true"}[try]
	if zone == "" {
		return templated(2, "(skua_to_date($1) + CAST($2 AS TIME))", 6, fields+end+")")
	}
	return templated(2, "skua_instant(skua_to_date($1) + CAST($2 AS TIME))", 3, "skua_cast_timestamp(skua_to_date($1) + CAST($2 AS TIME), $3)", 6, fields+end+", "+zone+")", 7, fields+end+", $7)")
}

// Calls with a unit in front, and those of the same names without one.
var (
	sparkDateDiff = ofUnit(3, "skua_units_between('UNIT', skua_wall($1), skua_wall($2))", unitNames, templated(2, "CAST(skua_to_date($1) - skua_to_date($2) AS INTEGER)"))
	sparkDateAdd  = ofUnit(3, "(skua_moment($2) + UNIT(CAST($1 AS INTEGER)))", adders, templated(2, "skua_days_on(skua_to_date($1), "+wholeOf("$2", "integer")+", 1)"))
)

// fieldNames are the words for fields of a time, by the function that gives one.
var fieldNames = func() map[string]string {
	out := map[string]string{}
	for text, names := range map[string]string{
		"skua_year($1)": "year y years yr yrs", "skua_day_part('yearofweek', $1)": "yearofweek", "skua_day_part('quarter', $1)": "quarter qtr", "skua_month($1)": "month mon mons months",
		"skua_day_part('week', $1)": "week w weeks", "skua_day($1)": "day d days", "skua_day_part('dayofweek', $1)": "dayofweek dow", "skua_day_part('dayofweekiso', $1)": "dayofweek_iso dow_iso",
		"skua_day_part('dayofyear', $1)": "doy", "skua_clock_part('hour', $1)": "hour h hours hr hrs", "skua_clock_part('minute', $1)": "minute m min mins minutes",
		"skua_second_part($1)": "second s sec seconds secs",
	} {
		for _, name := range strings.Fields(names) {
			out[name] = text
		}
	}
	return out
}()

// extractCall writes extract(field FROM x).
func extractCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) != 1 || !r.at(bounds[0][0]+1).Is("FROM") {
		return false
	}
	return r.fieldOf(strings.ToLower(r.at(bounds[0][0]).Text), [2]int{bounds[0][0] + 2, bounds[0][1]}, pos)
}

// datePartCall writes date_part('field', x).
func datePartCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) != 2 {
		return false
	}
	name, ok := r.literal(bounds[0])
	if !ok {
		if r.at(bounds[0][0]).Kind != syntax.Word || bounds[0][1]-bounds[0][0] != 1 {
			return r.refused(pos, "date_part takes a literal as its field")
		}
		name = r.at(bounds[0][0]).Text
	}
	return r.fieldOf(strings.ToLower(name), bounds[1], pos)
}

func (r *rewriter) fieldOf(name string, of [2]int, pos syntax.Pos) bool {
	text, ok := fieldNames[name]
	if !ok {
		r.failed = fault.New(fault.Invalid, "Cannot extract `%s`: there is no such field of dates, timestamps and intervals.", strings.ToUpper(name)).With("INVALID_EXTRACT_FIELD", "42601").
			At(fault.Position{Line: pos.Line, Column: pos.Column})
		return true
	}
	done := r.grown(text, pos)
	args := r.argumentPieces([][2]int{of})
	done()
	r.template(text, pos, args...)
	return true
}

// makeTimeCall refuses a time of day of its parts, as Spark does.
func makeTimeCall(r *rewriter, _ [][2]int, pos syntax.Pos) bool {
	r.failed = fault.New(fault.Unsupported, "The data type TIME is not supported.").With("UNSUPPORTED_TIME_TYPE", "0A000").At(fault.Position{Line: pos.Line, Column: pos.Column})
	return true
}

// refused ends the translation: the statement says what is not supported.
func (r *rewriter) refused(pos syntax.Pos, format string, args ...any) bool {
	r.failed = fault.New(fault.Unsupported, format, args...).At(fault.Position{Line: pos.Line, Column: pos.Column})
	return true
}

// truncDayCall writes trunc(day, unit); of numbers it is as in the other dialect.
func truncDayCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) != 2 || r.at(bounds[1][0]).Kind == syntax.Number || r.at(bounds[1][0]).Is("-") {
		return truncCall(r, bounds, pos)
	}
	r.template("skua_truncated_day(skua_to_date($1), $2)", pos, r.argumentPieces(bounds)...)
	return true
}
