//go:build cgo

package duckdb

// macros are the functions that the engine lacks or has with another meaning. Overloads by type stand for Iceberg's transforms; their times are
// in UTC.
var macros = []string{
	`SET errors_as_json = true`,
	`CREATE MACRO skua_substring(s, p, n) AS CASE WHEN n < 0 THEN '' WHEN p > 0 THEN substr(s, p, n) WHEN p = 0 THEN substr(s, 1, n)
		WHEN -p > length(s) THEN substr(s, 1, CAST(greatest(n + p + length(s), 0) AS BIGINT)) ELSE substr(s, CAST(length(s) + p + 1 AS BIGINT), n) END,
		(s, p) AS CASE WHEN p = 0 THEN s WHEN p > 0 THEN substr(s, p) WHEN -p > length(s) THEN s ELSE substr(s, CAST(length(s) + p + 1 AS BIGINT)) END`,
	`CREATE MACRO skua_locate(part, s, p) AS CASE WHEN p < 1 THEN 0 WHEN instr(substr(s, CAST(p AS BIGINT)), part) = 0 THEN 0 ELSE instr(substr(s, CAST(p AS BIGINT)), part) + p - 1 END`,
	`CREATE MACRO skua_substring_index(s, d, n) AS CASE WHEN n > 0 THEN array_to_string(list_slice(string_split(s, d), 1, n), d)
		WHEN n < 0 THEN array_to_string(list_slice(string_split(s, d), CAST(n AS BIGINT), -1), d) ELSE '' END`,
	`CREATE MACRO skua_initcap(s) AS array_to_string(list_transform(string_split(lower(s), ' '), lambda w: upper(left(w, 1)) || substr(w, 2)), ' ')`,
	`CREATE MACRO skua_months_between(a, b) AS (year(a) - year(b)) * 12 + month(a) - month(b) + CASE WHEN day(a) = day(b) OR (last_day(a) = CAST(a AS DATE) AND last_day(b) = CAST(b AS DATE)) THEN 0
		ELSE round((epoch(CAST(a AS TIMESTAMP) - date_trunc('month', CAST(a AS TIMESTAMP))) - epoch(CAST(b AS TIMESTAMP) - date_trunc('month', CAST(b AS TIMESTAMP)))) / 2678400, 8) END`,
	`CREATE MACRO skua_next_day(d, w) AS CAST(CAST(d AS DATE) + CAST((list_position(['su', 'mo', 'tu', 'we', 'th', 'fr', 'sa'], lower(left(w, 2))) - 1 - dayofweek(CAST(d AS DATE)) + 6) % 7 + 1 AS INTEGER) AS DATE)`,
	`CREATE MACRO skua_to_timestamp(x DOUBLE) AS to_timestamp(x), (x BIGINT) AS to_timestamp(x), (x VARCHAR) AS CAST(x AS TIMESTAMPTZ), (x DATE) AS CAST(x AS TIMESTAMPTZ), (x TIMESTAMPTZ) AS x`,
	`CREATE MACRO skua_guard(kind, n) AS skua_made(kind, CASE WHEN n > 1000000000000000 THEN 1000000000000000 ELSE CAST(n AS BIGINT) END, CAST(getvariable('skua_statement') AS UBIGINT), CAST(getvariable('skua_joined') AS BIGINT))`,
	`CREATE MACRO skua_length(n) AS CAST(n + skua_guard(0, n) AS INTEGER)`,
	`CREATE MACRO skua_repeat(s, n) AS repeat(s, CAST(n + skua_guard(0, len(s) * CAST(n AS HUGEINT)) AS BIGINT))`,
	`CREATE MACRO skua_elements(n) AS skua_guard(1, abs(n))`,
	`CREATE MACRO skua_replace(s, a, b) AS CASE WHEN skua_guard(2, CAST(strlen(s) AS DOUBLE) / greatest(strlen(a), 1) * strlen(b)) = 0 THEN replace(s, a, b) END`,
	`CREATE MACRO skua_like_regex(p) AS replace(replace(regexp_escape(p), '\%', '.*'), '_', '.')`,
	`CREATE MACRO skua_levenshtein(a, b) AS CASE WHEN skua_guard(3, CAST(strlen(a) AS DOUBLE) * strlen(b)) = 0 THEN levenshtein(a, b) END`,
	`CREATE MACRO skua_damerau_levenshtein(a, b) AS CASE WHEN skua_guard(3, CAST(strlen(a) AS DOUBLE) * strlen(b)) = 0 THEN damerau_levenshtein(a, b) END`,
	`CREATE MACRO skua_jaro_similarity(a, b) AS CASE WHEN skua_guard(3, CAST(strlen(a) AS DOUBLE) * strlen(b)) = 0 THEN jaro_similarity(a, b) END`,
	`CREATE MACRO skua_jaro_winkler_similarity(a, b) AS CASE WHEN skua_guard(3, CAST(strlen(a) AS DOUBLE) * strlen(b)) = 0 THEN jaro_winkler_similarity(a, b) END`,
	`CREATE MACRO skua_range(n BIGINT) AS range(n + skua_elements(n)), (a BIGINT, b BIGINT) AS range(a + skua_elements(CAST(b AS HUGEINT) - a), b),
		(a BIGINT, b BIGINT, c BIGINT) AS range(a + skua_elements((CAST(b AS HUGEINT) - a) / c), b, c),
		(a TIMESTAMP, b TIMESTAMP, c INTERVAL) AS range(a + to_days(CAST(skua_elements((epoch(b) - epoch(a)) / epoch(c)) AS INTEGER)), b, c)`,
	`CREATE MACRO skua_series(n BIGINT) AS generate_series(n + skua_elements(n)), (a BIGINT, b BIGINT) AS generate_series(a + skua_elements(CAST(b AS HUGEINT) - a), b),
		(a BIGINT, b BIGINT, c BIGINT) AS generate_series(a + skua_elements((CAST(b AS HUGEINT) - a) / c), b, c),
		(a TIMESTAMP, b TIMESTAMP, c INTERVAL) AS generate_series(a + to_days(CAST(skua_elements((epoch(b) - epoch(a)) / epoch(c)) AS INTEGER)), b, c)`,
	`CREATE MACRO skua_rows(n) AS CASE WHEN n IS NULL THEN error('` + rowsNull + `') WHEN n < 0 THEN error('` + rowsNegative + `') WHEN typeof(n) LIKE '%INT%' AND typeof(n) NOT LIKE '%]' THEN n ELSE error('` + rowsType + `' || typeof(n)) END`,
	`CREATE MACRO skua_map(k, v) AS map(k, v)`,
	`CREATE MACRO skua_years(x DATE) AS CAST(year(x) - 1970 AS INTEGER), (x TIMESTAMP) AS CAST(year(x) - 1970 AS INTEGER), (x TIMESTAMPTZ) AS CAST(year(timezone('UTC', x)) - 1970 AS INTEGER)`,
	`CREATE MACRO skua_months(x DATE) AS CAST((year(x) - 1970) * 12 + month(x) - 1 AS INTEGER), (x TIMESTAMP) AS CAST((year(x) - 1970) * 12 + month(x) - 1 AS INTEGER),
		(x TIMESTAMPTZ) AS CAST((year(timezone('UTC', x)) - 1970) * 12 + month(timezone('UTC', x)) - 1 AS INTEGER)`,
	`CREATE MACRO skua_days(x DATE) AS x, (x TIMESTAMP) AS CAST(x AS DATE), (x TIMESTAMPTZ) AS CAST(timezone('UTC', x) AS DATE)`,
	`CREATE MACRO skua_hours(x TIMESTAMP) AS CAST((epoch_us(x) - (epoch_us(x) % 3600000000 + 3600000000) % 3600000000) // 3600000000 AS INTEGER),
		(x TIMESTAMPTZ) AS CAST((epoch_us(x) - (epoch_us(x) % 3600000000 + 3600000000) % 3600000000) // 3600000000 AS INTEGER)`,
	`CREATE MACRO skua_truncate(w, x) AS cast_to_type(skua_truncated(w, x), x)`,
	`CREATE MACRO skua_to_json(x STRUCT(skua_metadata BLOB, skua_value BLOB)) AS skua_variant_json(x, current_setting('TimeZone')), (x) AS to_json(x)`,
	`CREATE MACRO skua_variant_get(v, path, t, p, s) AS skua_variant_part(v, path, t, p, s, current_setting('TimeZone'))`,
	`CREATE MACRO skua_try_variant_get(v, path, t, p, s) AS skua_try_variant_part(v, path, t, p, s, current_setting('TimeZone'))`,
}

// What skua_rows says to a number of rows that is none.
const (
	rowsNull     = "skua: the number of rows is NULL"
	rowsNegative = "skua: the number of rows is negative"
	rowsType     = "skua: the number of rows is of type "
)

// macroNames are the functions that macros and we ourselves make, which the gate lets pass.
var macroNames = []string{"skua_interval", "skua_substring", "skua_locate", "skua_substring_index", "skua_initcap", "skua_months_between", "skua_next_day", "skua_to_timestamp", "skua_map",
	"skua_years", "skua_months", "skua_days", "skua_hours", "skua_guard", "skua_length", "skua_repeat", "skua_elements", "skua_range", "skua_series", "skua_replace", "skua_rows",
	"skua_like_regex", "skua_levenshtein", "skua_damerau_levenshtein", "skua_jaro_similarity", "skua_jaro_winkler_similarity",
	"skua_truncate", "skua_bucket", "skua_xxhash64", "skua_hash", "skua_crc32", "skua_variant_get", "skua_try_variant_get", "skua_to_json", "skua_schema_of_variant", "skua_is_variant_null"}
