//go:build cgo

package duckdb

// numberMacros give what is no number where the engine's own functions fail, and choose by type between texts and bytes.
var numberMacros = []string{
	byType("skua_sub", "p, n, x", "VARCHAR", "skua_substring(x, CAST(p AS BIGINT), CAST(n AS BIGINT))", "BLOB", "skua_part_of_bytes(x, CAST(p AS BIGINT), CAST(n AS BIGINT))"),
	`CREATE MACRO skua_sin(x) AS CASE WHEN isfinite(CAST(x AS DOUBLE)) THEN sin(x) WHEN x IS NOT NULL THEN CAST('NaN' AS DOUBLE) END`,
	`CREATE MACRO skua_cos(x) AS CASE WHEN isfinite(CAST(x AS DOUBLE)) THEN cos(x) WHEN x IS NOT NULL THEN CAST('NaN' AS DOUBLE) END`,
	`CREATE MACRO skua_tan(x) AS CASE WHEN isfinite(CAST(x AS DOUBLE)) THEN tan(x) WHEN x IS NOT NULL THEN CAST('NaN' AS DOUBLE) END`,
	`CREATE MACRO skua_cot(x) AS CASE WHEN x = 0 THEN 1 / CAST(x AS DOUBLE) WHEN isfinite(CAST(x AS DOUBLE)) THEN 1 / tan(x) WHEN x IS NOT NULL THEN CAST('NaN' AS DOUBLE) END`,
	`CREATE MACRO skua_csc(x) AS CASE WHEN isfinite(CAST(x AS DOUBLE)) THEN 1 / sin(x) WHEN x IS NOT NULL THEN CAST('NaN' AS DOUBLE) END`,
	`CREATE MACRO skua_factorial(n) AS CASE WHEN n BETWEEN 0 AND 20 THEN CAST(factorial(CAST(n AS INTEGER)) AS BIGINT) END`,
	`CREATE MACRO skua_bit_at(x, p) AS CAST(skua_bit(CAST(x AS BIGINT), CAST(p AS INTEGER), CASE typeof(x) WHEN 'TINYINT' THEN 8 WHEN 'SMALLINT' THEN 16 WHEN 'BIGINT' THEN 64 ELSE 32 END) AS TINYINT)`,
}
