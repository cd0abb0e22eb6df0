//go:build cgo

package duckdb

// Parts of the macros for collections. Arguments are bound to a struct once, as lists may be large and their text long.
const (
	nullList = `s.l IS NULL OR s.r IS NULL`
	// taggedList is the sorted list of the values of two lists, those of the first behind those of the second.
	taggedList = `list_sort(list_concat(list_transform(s.r, lambda x: struct_pack(v := x, s := 0, i := CAST(0 AS BIGINT))), list_transform(s.l, lambda x, i: struct_pack(v := x, s := 1, i := i))))`
)

// chosen writes a macro that gives some values of the first list in their order: those of the tagged list that meet a condition.
func chosen(condition string) string {
	return `list_transform([` + taggedList + `], lambda t: list_transform(list_sort(list_transform(list_filter(t, lambda e, i: e.s = 1 AND ` + condition + `),
		lambda e: struct_pack(i := e.i, v := e.v))), lambda e: e.v))[1]`
}

// raised writes an error with Spark's name.
func raised(condition, state, message string) string {
	return `error('[` + condition + `] ` + message + ` SQLSTATE: ` + state + `')`
}

// collectionMacros are Spark's functions of lists and maps.
var collectionMacros = []string{
	`CREATE MACRO skua_many(n) AS CASE WHEN n > 10000000 THEN ` + raised("COLLECTION_SIZE_LIMIT_EXCEEDED.PARAMETER", "54000", "A list of more than 10000000 elements is not made.") + ` ELSE skua_elements(n) END`,
	`CREATE MACRO skua_except(l, r) AS list_transform([struct_pack(l := l, r := r)], lambda s: CASE WHEN ` + nullList + ` THEN NULL ELSE ` +
		chosen(`(i = 1 OR t[i - 1].v IS DISTINCT FROM e.v)`) + ` END)[1]`,
	`CREATE MACRO skua_intersect(l, r) AS list_transform([struct_pack(l := l, r := r)], lambda s: CASE WHEN ` + nullList + ` THEN NULL ELSE ` +
		chosen(`i > 1 AND t[i - 1].s = 0 AND t[i - 1].v IS NOT DISTINCT FROM e.v`) + ` END)[1]`,
	`CREATE MACRO skua_distinct(l) AS list_transform([l], lambda d: skua_except(d, list_slice(d, 1, 0)))[1]`,
	`CREATE MACRO skua_union(l, r) AS skua_distinct(list_transform([struct_pack(l := l, r := r)], lambda s: CASE WHEN ` + nullList + ` THEN NULL ELSE list_concat(s.l, s.r) END)[1])`,
	`CREATE MACRO skua_overlap(l, r) AS list_transform([struct_pack(l := l, r := r)], lambda s: CASE WHEN ` + nullList + ` THEN NULL WHEN list_has_any(s.l, s.r) THEN true
		WHEN len(s.l) > 0 AND len(s.r) > 0 AND list_count(s.l) + list_count(s.r) < len(s.l) + len(s.r) THEN NULL ELSE false END)[1]`,
	`CREATE MACRO skua_contains(l, v) AS list_transform([struct_pack(l := l, v := v)], lambda s: list_contains(s.l, s.v) OR CASE WHEN list_count(s.l) < len(s.l) OR s.v IS NULL THEN NULL ELSE false END)[1]`,
	`CREATE MACRO skua_position(l, v) AS list_transform([struct_pack(l := l, v := v)], lambda s: CASE WHEN s.l IS NULL OR s.v IS NULL THEN NULL ELSE CAST(coalesce(list_position(s.l, s.v), 0) AS BIGINT) END)[1]`,
	`CREATE MACRO skua_remove(l, v) AS list_transform([struct_pack(l := l, v := v)], lambda s: CASE WHEN s.v IS NULL THEN NULL ELSE list_filter(s.l, lambda x: x IS DISTINCT FROM s.v) END)[1]`,
	`CREATE MACRO skua_append(l, v) AS list_transform([struct_pack(l := l, v := v)], lambda s: CASE WHEN s.l IS NULL THEN NULL ELSE list_append(s.l, s.v) END)[1]`,
	`CREATE MACRO skua_prepend(l, v) AS list_transform([struct_pack(l := l, v := v)], lambda s: CASE WHEN s.l IS NULL THEN NULL ELSE list_prepend(s.v, s.l) END)[1]`,
	`CREATE MACRO skua_inserted(l, n, v) AS list_transform([struct_pack(l := l, v := v, n := CAST(n AS BIGINT))], lambda s: CASE WHEN s.l IS NULL OR s.n IS NULL THEN NULL
		WHEN s.n = 0 THEN ` + raised("INVALID_INDEX_OF_ZERO", "22003", "The index 0 is invalid. An index shall be either < 0 or > 0 (the first element has index 1).") + `
		WHEN skua_many(greatest(abs(s.n), len(s.l) + 1)) > 0 THEN NULL
		WHEN s.n > 0 THEN list_append(list_resize(s.l, s.n - 1), s.v) || CASE WHEN s.n > len(s.l) THEN list_slice(s.l, 1, 0) ELSE list_slice(s.l, s.n, len(s.l)) END
		WHEN -s.n > len(s.l) THEN list_prepend(s.v, list_resize(list_slice(s.l, 1, 0), -s.n - 1 - len(s.l)) || s.l)
		ELSE list_append(list_slice(s.l, 1, len(s.l) + s.n + 1), s.v) || list_slice(s.l, len(s.l) + s.n + 2, len(s.l)) END)[1]`,
	`CREATE MACRO skua_repeated(v, n) AS list_transform([struct_pack(v := v, n := CAST(n AS BIGINT))], lambda s: CASE WHEN s.n IS NULL THEN NULL
		ELSE list_transform(range(0, s.n + skua_many(greatest(s.n, 0))), lambda x: s.v) END)[1]`,
	`CREATE MACRO skua_sliced(l, n, m) AS list_transform([struct_pack(l := l, n := CAST(n AS BIGINT), m := CAST(m AS BIGINT))], lambda s: CASE WHEN s.l IS NULL OR s.n IS NULL OR s.m IS NULL THEN NULL
		WHEN s.n = 0 THEN ` + raised("INVALID_PARAMETER_VALUE.START", "22023", "The value of parameter(s) start in slice is invalid: Expects a positive or a negative value for start, but got 0.") + `
		WHEN s.m < 0 THEN ` + raised("INVALID_PARAMETER_VALUE.LENGTH", "22023", "The value of parameter(s) length in slice is invalid: Expects length greater than or equal to 0.") + `
		WHEN -s.n > len(s.l) THEN list_slice(s.l, 1, 0) WHEN s.n < 0 THEN list_slice(s.l, len(s.l) + s.n + 1, len(s.l) + s.n + s.m) ELSE list_slice(s.l, s.n, s.n + s.m - 1) END)[1]`,
	`CREATE MACRO skua_flattened(l) AS list_transform([l], lambda s: CASE WHEN list_count(s) < len(s) THEN NULL ELSE flatten(s) END)[1]`,
	`CREATE MACRO skua_all(l) AS list_transform([l], lambda s: CASE WHEN list_contains(s, false) THEN false WHEN list_count(s) < len(s) THEN NULL WHEN s IS NOT NULL THEN true END)[1]`,
	`CREATE MACRO skua_any(l) AS list_transform([l], lambda s: CASE WHEN list_contains(s, true) THEN true WHEN list_count(s) < len(s) THEN NULL WHEN s IS NOT NULL THEN false END)[1]`,
	`CREATE MACRO skua_entries(l) AS list_transform([l], lambda s: CASE WHEN list_count(s) < len(s) THEN NULL ELSE skua_map_made(list_transform(s, lambda e: struct_extract_at(e, 1)), list_transform(s, lambda e: struct_extract_at(e, 2))) END)[1]`,
	`CREATE MACRO skua_map_made(k, v) AS list_transform([struct_pack(k := k, v := v)], lambda s: CASE WHEN s.k IS NULL OR s.v IS NULL THEN NULL
		WHEN len(s.k) <> len(s.v) THEN ` + raised("_LEGACY_ERROR_TEMP_2128", "XX000", "The key array and value array of MapData must have the same length.") + `
		WHEN list_count(s.k) < len(s.k) THEN ` + raised("NULL_MAP_KEY", "2200E", "Cannot use null as map key.") + `
		WHEN list_unique(s.k) < len(s.k) THEN ` + raised("DUPLICATED_MAP_KEY", "23505", "Duplicate map key was found.") + ` ELSE map(s.k, s.v) END)[1]`,
	`CREATE MACRO skua_zipped(l, r) AS list_transform([struct_pack(l := l, r := r)], lambda s: CASE WHEN ` + nullList + ` THEN NULL ELSE list_zip(s.l, s.r) END)[1]`,
	`CREATE MACRO skua_insertion(n) AS skua_many(CAST(n AS HUGEINT) * n)`,
	`CREATE MACRO skua_whole_sequence(a, b, c) AS list_transform([struct_pack(a := CAST(a AS BIGINT), b := CAST(b AS BIGINT), c := CAST(c AS BIGINT))], lambda s: CASE WHEN s.a IS NULL OR s.b IS NULL OR s.c IS NULL THEN NULL
		WHEN s.a = s.b AND s.c = 0 THEN [s.a] WHEN s.c = 0 OR s.c > 0 AND s.a > s.b OR s.c < 0 AND s.a < s.b THEN error('Illegal sequence boundaries: ' || s.a || ' to ' || s.b || ' by ' || s.c)
		ELSE generate_series(s.a + skua_many((CAST(s.b AS HUGEINT) - s.a) // s.c), s.b, s.c) END)[1],
		(a, b) AS list_transform([struct_pack(a := CAST(a AS BIGINT), b := CAST(b AS BIGINT))], lambda s: CASE WHEN s.a IS NULL OR s.b IS NULL THEN NULL
		ELSE generate_series(s.a + skua_many(CAST(s.b AS HUGEINT) - s.a), s.b, CASE WHEN s.a > s.b THEN -1 ELSE 1 END) END)[1]`,
	`CREATE MACRO skua_time_sequence(a, b, c) AS list_transform([struct_pack(a := a, b := b, c := c, n := (epoch(b) - epoch(a)) / nullif(epoch(c), 0))], lambda s: CASE WHEN s.a IS NULL OR s.b IS NULL OR s.c IS NULL THEN NULL
		WHEN s.n < 0 OR s.n IS NULL AND s.a <> s.b THEN error('Illegal sequence boundaries: ' || s.a || ' to ' || s.b || ' by ' || s.c) WHEN s.n IS NULL THEN [s.a]
		ELSE list_filter(list_transform(range(0, 2 + skua_many(s.n) + CAST(s.n * 1.1 AS BIGINT)), lambda i: s.a + s.c * i), lambda x: CASE WHEN epoch(s.c) > 0 THEN x <= s.b ELSE x >= s.b END) END)[1]`,
	`CREATE MACRO skua_compared(n) AS list_transform([n], lambda c: CASE WHEN c IS NULL THEN ` + raised("COMPARATOR_RETURNS_NULL", "22004", "The comparator has returned a NULL for a comparison.") + ` ELSE c END)[1]`,
	`CREATE MACRO skua_folded(b, z) AS list_transform([b], lambda c: CASE WHEN typeof(c) = typeof(z) OR typeof(c) = '"NULL"' OR typeof(c) LIKE '%INT' AND typeof(z) LIKE '%INT' OR typeof(c) LIKE '%INTEGER' AND typeof(z) LIKE '%INT'
		OR typeof(c) LIKE '%INT' AND typeof(z) LIKE '%INTEGER' THEN CASE WHEN skua_guard(4, skua_weight(c)) = 0 THEN c END ELSE ` + raised("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "42K09", "Cannot resolve the aggregate due to data type mismatch: what is merged has another type than the start.") + ` END)[1]`,
	`CREATE MACRO skua_text_map(x, p, k) AS list_transform([struct_pack(l := str_split_regex(x, p), k := k)], lambda s: skua_entries(list_transform(s.l, lambda e: struct_pack(k := str_split_regex(e, s.k)[1],
		v := CASE WHEN regexp_matches(e, s.k) THEN substr(e, length(str_split_regex(e, s.k)[1]) + length(regexp_extract(e, s.k)) + 1) END))))[1]`,
	`CREATE MACRO skua_day_sequence(a, b, c) AS list_transform([struct_pack(a := a, b := b, c := c)], lambda d: CASE WHEN CAST(CAST(d.a + d.c AS DATE) AS TIMESTAMP) <> d.a + d.c OR d.a + d.c = d.a
		THEN ` + raised("_LEGACY_ERROR_TEMP_3242", "XX000", "A sequence of days has a step of whole days.") + ` ELSE skua_time_sequence(d.a, d.b, d.c) END)[1]`,
}
