//go:build cgo

package duckdb

import (
	"regexp"
	"strings"
)

// timeMacros say by its type how an argument of Spark's functions of times is taken: texts are cast, and the session's zone is told.
var timeMacros = []string{
	byType("skua_to_date", "x", "DATE", "x", "VARCHAR TIMESTAMP TIMESTAMPTZ", "skua_cast_date(x, ZONE)"),
	byType("skua_instant", "x", "TIMESTAMPTZ", "x", "VARCHAR DATE TIMESTAMP BIGINT DOUBLE", "skua_cast_timestamp(x, ZONE)"),
	byType("skua_moment", "x", "TIMESTAMP TIMESTAMPTZ", "x", "VARCHAR DATE", "skua_cast_timestamp(x, ZONE)"),
	byType("skua_wall", "x", "TIMESTAMP", "x", "DATE TIMESTAMPTZ", "skua_cast_timestamp_n(x, ZONE)", "VARCHAR", "skua_cast_timestamp_n(skua_cast_timestamp(x, ZONE), ZONE)"),
	// What is no text is cast, whatever the pattern.
	byType("skua_read_instant", "t, p, x", "VARCHAR", "skua_read_time(x, p, t, ZONE)", "DATE TIMESTAMP TIMESTAMPTZ", "CASE WHEN p IS NOT NULL THEN skua_instant(x) END"),
	byType("skua_read_local", "t, p, x", "VARCHAR", "skua_read_wall(x, p, t)", "DATE TIMESTAMP TIMESTAMPTZ", "CASE WHEN p IS NOT NULL THEN skua_cast_timestamp_n(x, ZONE) END"),
	byType("skua_read_date", "t, p, x", "VARCHAR", "skua_cast_date(skua_read_time(x, p, t, ZONE), ZONE)", "DATE TIMESTAMP TIMESTAMPTZ", "CASE WHEN p IS NOT NULL THEN skua_to_date(x) END",
		"BIGINT DOUBLE", "skua_cast_date(skua_read_time(skua_cast_text(x, ZONE), p, t, ZONE), ZONE)"),
	byType("skua_day_part", "f, x", "VARCHAR", "skua_field(f, skua_cast_date(x, ZONE), ZONE)", "INTERVAL", "CAST(date_part(f, x) AS INTEGER)", "DATE TIMESTAMP TIMESTAMPTZ", "skua_field(f, x, ZONE)"),
	byType("skua_clock_part", "f, x", "VARCHAR", "skua_field(f, skua_cast_timestamp(x, ZONE), ZONE)", "INTERVAL", "CAST(date_part(f, x) AS TINYINT)", "DATE TIMESTAMP TIMESTAMPTZ", "skua_field(f, x, ZONE)"),
	byType("skua_second_part", "x", "INTERVAL", secondsText("date_part('microsecond', x)"), "VARCHAR", secondsText("skua_seconds(skua_cast_timestamp(x, ZONE), ZONE)"),
		"DATE TIMESTAMP TIMESTAMPTZ", secondsText("skua_seconds(x, ZONE)")),
	byType("skua_date_format", "p, x", "VARCHAR", "skua_written(skua_cast_timestamp(x, ZONE), p, ZONE)", "DATE TIMESTAMP TIMESTAMPTZ", "skua_written(x, p, ZONE)"),
	byType("skua_unix", "p, x", "VARCHAR", "skua_floor(epoch_us(skua_read_time(x, p, false, ZONE)), 1000000)", "TIMESTAMPTZ", "(epoch_us(x) // 1000000)",
		"DATE TIMESTAMP", "(epoch_us(skua_cast_timestamp(x, ZONE)) // 1000000)"),
	byType("skua_date_trunc", "f, x", "TIMESTAMPTZ", "skua_truncated_time(f, x, ZONE)", "VARCHAR DATE TIMESTAMP", "skua_truncated_time(f, skua_cast_timestamp(x, ZONE), ZONE)"),
	// Filters over days and wall clocks are pushed down by these fields: they are the engine's own.
	plainPart("year", "INTEGER"), plainPart("month", "TINYINT"), plainPart("day", "INTEGER"),
	byType("skua_from_seconds", "x", "BIGINT", "skua_instant_of(x, 1000000)", "FLOAT DOUBLE", "skua_instant_of_float(x)", "DECIMAL(38,10)", "skua_instant_of_decimal(CAST(x AS VARCHAR))"),
	`CREATE MACRO skua_zone() AS current_setting('TimeZone')`,
	`CREATE MACRO skua_text(x) AS skua_cast_text(x, current_setting('TimeZone'))`,
}

// plainPart is a field that the engine has; that of an interval may have a type of its own.
func plainPart(field, ofInterval string) string {
	return byType("skua_"+field, "x", "DATE TIMESTAMP", "CAST("+field+"(x) AS INTEGER)", "INTERVAL", "CAST("+field+"(x) AS "+ofInterval+")", "VARCHAR", "skua_field('"+field+"', skua_cast_date(x, ZONE), ZONE)",
		"TIMESTAMPTZ", "skua_field('"+field+"', x, ZONE)")
}

// secondsText writes microseconds as seconds.
func secondsText(text string) string {
	return "CAST(CAST(" + text + " AS DECIMAL(18,0)) * 0.000001 AS DECIMAL(8,6))"
}

// byType makes a macro whose last parameter decides by its type: types with a text for them, in which ZONE is the session's zone.
func byType(name, parameters string, bodies ...string) string {
	var overloads []string
	for i := 0; i < len(bodies); i += 2 {
		body := strings.ReplaceAll(bodies[i+1], "ZONE", "current_setting('TimeZone')")
		for _, typ := range strings.Fields(bodies[i]) {
			overloads = append(overloads, "("+parameters+" "+typ+") AS "+body)
		}
	}
	return "CREATE MACRO " + name + strings.Join(overloads, ", ")
}

var macroName = regexp.MustCompile(`^CREATE MACRO (\w+)\(`)

// namesOf are the names of macros and of functions of ours.
func namesOf(macros []string, functions []scalar) (out []string) {
	for _, m := range macros {
		out = append(out, macroName.FindStringSubmatch(m)[1])
	}
	for _, f := range functions {
		out = append(out, f.name)
	}
	return out
}
