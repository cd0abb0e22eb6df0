//go:build cgo

package duckdb

import "github.com/skua-data/skua/fault"

// textMacros say by its type how an argument of Spark's functions of texts is taken.
var textMacros = []string{
	byType("skua_characters", "x", "VARCHAR", "CAST(length(x) AS INTEGER)", "BLOB", "CAST(octet_length(x) AS INTEGER)"),
	byType("skua_octets", "x", "VARCHAR", "CAST(strlen(x) AS INTEGER)", "BLOB", "CAST(octet_length(x) AS INTEGER)"),
	byType("skua_bytes", "x", "BLOB", "x", "VARCHAR", "encode(x)"),
	`CREATE MACRO skua_count(n) AS CASE WHEN n < 0 THEN 0 ELSE CAST(n AS BIGINT) END`,
	`CREATE MACRO skua_apart(a, b) AS CASE WHEN skua_guard(3, CAST(length(a) AS DOUBLE) * length(b)) = 0 THEN skua_distance(a, b) END`,
	byType("skua_format_number", "d, x", "DOUBLE FLOAT", "skua_grouped_float(x, d)", "BIGINT", "skua_grouped(CAST(x AS VARCHAR), d)", "DECIMAL(38,10)", "skua_grouped(CAST(x AS VARCHAR), d)"),
	byType("skua_number_by_pattern", "p, x", "DOUBLE FLOAT", "skua_patterned_float(x, p)", "BIGINT", "skua_patterned(CAST(x AS VARCHAR), p)", "DECIMAL(38,10)", "skua_patterned(CAST(x AS VARCHAR), p)"),
	padded("left", "l"), padded("right", "r"),
	`CREATE MACRO skua_near(a, b, n) AS CASE WHEN skua_apart(a, b) <= n THEN skua_apart(a, b) ELSE CASE WHEN n IS NOT NULL AND a IS NOT NULL AND b IS NOT NULL THEN -1 END END`,
	`CREATE MACRO skua_kept(x) AS coalesce(x, chr(0) || 'keep')`,
	`CREATE MACRO skua_like_wildcards(p) AS array_to_string(list_transform(string_split(p, '\%'), lambda a: array_to_string(list_transform(string_split(a, '\_'),
		lambda b: skua_like_regex(b)), '_')), '%')`,
	`CREATE MACRO skua_like_broken(p, q) AS CASE WHEN q LIKE '%\_%' THEN ` + badPattern("ESC_IN_THE_MIDDLE", "precede what is no wildcard") + ` WHEN contains(q, '\') THEN ` +
		badPattern("ESC_AT_THE_END", "end with") + ` ELSE p END`,
	`CREATE MACRO skua_like_pattern(p) AS CASE WHEN contains(p, '\') THEN array_to_string(list_transform(string_split(skua_like_broken(p, regexp_replace(p, '\\[\\%_]', '', 'g')), '\\'),
		lambda c: skua_like_wildcards(c)), '\\') ELSE skua_like_regex(p) END`,
	`CREATE MACRO skua_place(list, x) AS CASE WHEN list IS NOT NULL AND x IS NOT NULL THEN coalesce(list_position(string_split(list, ','), x), 0) END`,
}

// choices give the number of an element of a list that is asked for.
var choices = []scalar{rowFunction("skua_chosen", []int{typeBigint, typeInteger}, typeBigint, func(r *row) error {
	n, size := r.whole(0), r.whole(1)
	if n < 1 || n > size {
		return fault.New(fault.Invalid, "The index %d is out of bounds. The array has %d elements. Use the SQL function `get()` to tolerate accessing element at invalid index and return NULL instead.", n, size).
			With("INVALID_ARRAY_INDEX", "22003")
	}
	r.give(n)
	return nil
})}

// padded makes the macro that fills texts and bytes on one side: texts with blanks, bytes with zeros where nothing else is said, and nothing with an empty text.
func padded(side, letter string) string {
	bytes := "skua_padded_bytes('" + side + "', s, skua_length(n), "
	text := letter + "pad(s, skua_length(n), "
	return "CREATE MACRO skua_padded_" + side + "(s VARCHAR, n) AS " + text + "' '), (s BLOB, n) AS " + bytes + `'\x00'::BLOB), ` +
		"(s VARCHAR, n, p VARCHAR) AS CASE WHEN p = '' THEN left(s, skua_count(n)) ELSE " + text + "p) END, (s BLOB, n, p BLOB) AS " + bytes + "p)"
}

// badPattern writes the error of a pattern p of LIKE whose escape character stands where it must not.
func badPattern(condition, what string) string {
	return "error('[INVALID_FORMAT." + condition + "] The format is invalid: ' || p || '. The escape character is not allowed to " + what + ". SQLSTATE: 42601')"
}
