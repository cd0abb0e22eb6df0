//go:build cgo

// Casts of timestamps in nanoseconds that take the place of the engine's own. Those cut what is before 1970 towards zero, fail on the first day
// that 64 bits hold, and take the last value for infinity.
#include "bridge.h"

#include <stdio.h>
#include <string.h>

#define NANOS_OF_DAY INT64_C(86400000000000)

// The engine's numbers of types.
enum { TIMESTAMP = 12, DATE = 13, TIME = 14, VARCHAR = 17, TIMESTAMP_S = 20, TIMESTAMP_MS = 21, TIMESTAMP_NS = 22, LIST = 24, STRUCT = 25, MAP = 26, TIMESTAMP_TZ = 31, NANOS = SKUA_NANOS_TYPE, ZONED = SKUA_ZONED_TYPE };

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

static int64_t floor_mod(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }

// to_micros and its like are for one value each.
static void to_micros(int64_t ns, void *out, idx_t row) { ((int64_t *)out)[row] = floor_div(ns, 1000); }

static void to_millis(int64_t ns, void *out, idx_t row) { ((int64_t *)out)[row] = floor_div(ns, 1000000); }

static void to_seconds(int64_t ns, void *out, idx_t row) { ((int64_t *)out)[row] = floor_div(ns, 1000000000); }

static void to_date(int64_t ns, void *out, idx_t row) { ((int32_t *)out)[row] = (int32_t)floor_div(ns, NANOS_OF_DAY); }

static void to_time(int64_t ns, void *out, idx_t row) { ((int64_t *)out)[row] = floor_mod(floor_div(ns, 1000), NANOS_OF_DAY / 1000); }

// each casts every value that is not NULL.
static bool each(idx_t count, duckdb_vector in, duckdb_vector out, void (*cast)(int64_t, void *, idx_t)) {
	int64_t *values = duckdb_vector_get_data(in);
	uint64_t *valid = duckdb_vector_get_validity(in), *mark = NULL;
	void *results = duckdb_vector_get_data(out);
	for (idx_t i = 0; i < count; i++) {
		if (!valid || valid[i / 64] >> i % 64 & 1) {
			cast(values[i], results, i);
			continue;
		}
		if (!mark) {
			duckdb_vector_ensure_validity_writable(out);
			mark = duckdb_vector_get_validity(out);
		}
		mark[i / 64] &= ~(UINT64_C(1) << i % 64);
	}
	return true;
}

// text writes one value, and gives its length. The calendar is the proleptic Gregorian one.
static int text(int64_t ns, char *out, size_t size) {
	int64_t days = floor_div(ns, NANOS_OF_DAY), rest = floor_mod(ns, NANOS_OF_DAY);
	int64_t z = days + 719468, era = floor_div(z, 146097), doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365, doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
	int day = (int)(doy - (153 * mp + 2) / 5 + 1), month = (int)(mp < 10 ? mp + 3 : mp - 9), year = (int)(yoe + era * 400 + (month <= 2));
	int second = (int)(rest / 1000000000), fraction = (int)(rest % 1000000000);
	int n = snprintf(out, size, "%04d-%02d-%02d %02d:%02d:%02d", year, month, day, second / 3600, second / 60 % 60, second % 60);
	if (fraction) {
		n += snprintf(out + n, size - n, ".%09d", fraction);
		while (out[n - 1] == '0') {
			n--;
		}
	}
	return n;
}

static bool cast_micros(duckdb_function_info info, idx_t count, duckdb_vector in, duckdb_vector out) { return each(count, in, out, to_micros); }

static bool cast_millis(duckdb_function_info info, idx_t count, duckdb_vector in, duckdb_vector out) { return each(count, in, out, to_millis); }

static bool cast_seconds(duckdb_function_info info, idx_t count, duckdb_vector in, duckdb_vector out) { return each(count, in, out, to_seconds); }

static bool cast_date(duckdb_function_info info, idx_t count, duckdb_vector in, duckdb_vector out) { return each(count, in, out, to_date); }

static bool cast_time(duckdb_function_info info, idx_t count, duckdb_vector in, duckdb_vector out) { return each(count, in, out, to_time); }

static void same(int64_t ns, void *out, idx_t row) { ((int64_t *)out)[row] = ns; }

static bool cast_same(duckdb_function_info info, idx_t count, duckdb_vector in, duckdb_vector out) { return each(count, in, out, same); }

static bool cast_text(duckdb_function_info info, idx_t count, duckdb_vector in, duckdb_vector out) {
	int64_t *values = duckdb_vector_get_data(in);
	uint64_t *valid = duckdb_vector_get_validity(in);
	char buffer[64];
	duckdb_vector_ensure_validity_writable(out);
	uint64_t *mark = duckdb_vector_get_validity(out);
	for (idx_t i = 0; i < count; i++) {
		if (valid && !(valid[i / 64] >> i % 64 & 1)) {
			mark[i / 64] &= ~(UINT64_C(1) << i % 64);
			continue;
		}
		duckdb_vector_assign_string_element_len(out, i, buffer, text(values[i], buffer, sizeof buffer));
	}
	return true;
}

// copy_validity gives out the nulls of in.
static void copy_validity(duckdb_vector out, duckdb_vector in, idx_t count) {
	uint64_t *valid = duckdb_vector_get_validity(in);
	if (valid) {
		duckdb_vector_ensure_validity_writable(out);
		memcpy(duckdb_vector_get_validity(out), valid, (count + 63) / 64 * sizeof *valid);
	}
}

// refuse fails for the first value that is not NULL: what the session's zone decides is not decided here.
static bool refuse(duckdb_function_info info, idx_t count, duckdb_vector in, duckdb_vector out) {
	uint64_t *valid = duckdb_vector_get_validity(in);
	duckdb_vector_ensure_validity_writable(out);
	uint64_t *mark = duckdb_vector_get_validity(out);
	for (idx_t i = 0; i < count; i++) {
		if (!valid || valid[i / 64] >> i % 64 & 1) {
			duckdb_cast_function_set_error(info, "a timestamp with nanoseconds is not taken for one with another zone, a date or a text: "
			                                     "CAST(… AS TIMESTAMP_LTZ) of one with a zone, or CAST(… AS TIMESTAMP_NTZ) of one without, has microseconds, and is");
			return false;
		}
		mark[i / 64] &= ~(UINT64_C(1) << i % 64);
	}
	return true;
}

// MICROS_RANGE is how many microseconds, and DAYS_RANGE how many days, there are in nanoseconds of 64 bits, before 1970 and after.
#define MICROS_RANGE INT64_C(9223372036854775)
#define DAYS_RANGE INT64_C(106751)

// beyond fails one value of a cast to nanoseconds, or makes it NULL.
static bool beyond(duckdb_function_info info, idx_t row, duckdb_vector out) {
	const char *text = "a time before 1677-09-22 or after 2262-04-11 has no nanoseconds: write CAST(… AS TIMESTAMP_NTZ) around what has them";
	duckdb_cast_function_set_row_error(info, text, row, out);
	return false;
}

// to_nanos casts microseconds or, where days says so, days.
static bool to_nanos(duckdb_function_info info, idx_t count, duckdb_vector in, duckdb_vector out, bool days) {
	const void *values = duckdb_vector_get_data(in);
	int64_t *results = duckdb_vector_get_data(out);
	uint64_t *valid = duckdb_vector_get_validity(in);
	int64_t range = days ? DAYS_RANGE : MICROS_RANGE, unit = days ? NANOS_OF_DAY : 1000;
	bool ok = true;
	copy_validity(out, in, count);
	for (idx_t i = 0; i < count; i++) {
		if (valid && !(valid[i / 64] >> i % 64 & 1)) {
			continue;
		}
		int64_t value = days ? ((const int32_t *)values)[i] : ((const int64_t *)values)[i];
		if (value < -range || value > range) {
			ok = beyond(info, i, out);
			continue;
		}
		results[i] = value * unit;
	}
	return ok;
}

static bool from_micros(duckdb_function_info info, idx_t count, duckdb_vector in, duckdb_vector out) { return to_nanos(info, count, in, out, false); }

static bool from_days(duckdb_function_info info, idx_t count, duckdb_vector in, duckdb_vector out) { return to_nanos(info, count, in, out, true); }

duckdb_logical_type skua_nanos_type(int number) {
	duckdb_logical_type out = duckdb_create_logical_type(TIMESTAMP_NS);
	duckdb_logical_type_set_alias(out, number == ZONED ? SKUA_ZONED : SKUA_NANOS);
	return out;
}

static duckdb_logical_type type_of(int number) { return number < 0 ? skua_nanos_type(number) : duckdb_create_logical_type(number); }

static const struct {
	int from, to, cost; // of casting where nobody asks for it; -1: that is not done
	bool (*function)(duckdb_function_info, idx_t, duckdb_vector, duckdb_vector);
} casts[] = {
	{TIMESTAMP_NS, TIMESTAMP, 120, cast_micros},
	{TIMESTAMP_NS, TIMESTAMP_MS, -1, cast_millis},
	{TIMESTAMP_NS, TIMESTAMP_S, -1, cast_seconds},
	{TIMESTAMP_NS, DATE, -1, cast_date},
	{TIMESTAMP_NS, TIME, -1, cast_time},
	{TIMESTAMP_NS, VARCHAR, 149, cast_text},
	{TIMESTAMP_NS, NANOS, 1, cast_same},
	{TIMESTAMP_NS, ZONED, -1, refuse},
	{TIMESTAMP, TIMESTAMP_NS, -1, from_micros},
	{DATE, TIMESTAMP_NS, -1, from_days},
	{NANOS, TIMESTAMP, 120, cast_micros},
	{NANOS, TIMESTAMP_MS, -1, cast_millis},
	{NANOS, TIMESTAMP_S, -1, cast_seconds},
	{NANOS, TIMESTAMP_NS, 130, cast_same},
	{NANOS, DATE, -1, cast_date},
	{NANOS, TIME, -1, cast_time},
	{NANOS, VARCHAR, 149, cast_text},
	{NANOS, TIMESTAMP_TZ, -1, refuse},
	{NANOS, ZONED, -1, refuse},
	{TIMESTAMP, NANOS, -1, from_micros},
	{DATE, NANOS, -1, from_days},
	{TIMESTAMP_TZ, NANOS, -1, refuse},
	{ZONED, TIMESTAMP_TZ, 120, cast_micros},
	{ZONED, TIMESTAMP, -1, refuse},
	{ZONED, TIMESTAMP_MS, -1, refuse},
	{ZONED, TIMESTAMP_S, -1, refuse},
	{ZONED, TIMESTAMP_NS, -1, refuse},
	{ZONED, NANOS, -1, refuse},
	{ZONED, DATE, -1, refuse},
	{ZONED, TIME, -1, refuse},
	{ZONED, VARCHAR, -1, refuse},
	{TIMESTAMP_TZ, ZONED, -1, from_micros},
	{TIMESTAMP, ZONED, -1, refuse},
	{DATE, ZONED, -1, refuse},
};

bool skua_add_casts(duckdb_connection connection) {
	bool ok = true;
	for (size_t i = 0; i < sizeof casts / sizeof *casts && ok; i++) {
		duckdb_cast_function cast = duckdb_create_cast_function();
		duckdb_logical_type source = type_of(casts[i].from), target = type_of(casts[i].to);
		duckdb_cast_function_set_source_type(cast, source);
		duckdb_cast_function_set_target_type(cast, target);
		duckdb_cast_function_set_implicit_cast_cost(cast, casts[i].cost);
		duckdb_cast_function_set_function(cast, casts[i].function);
		ok = !duckdb_register_cast_function(connection, cast);
		duckdb_destroy_logical_type(&source);
		duckdb_destroy_logical_type(&target);
		duckdb_destroy_cast_function(&cast);
	}
	for (int number = NANOS; number <= ZONED && ok; number++) {
		duckdb_logical_type type = skua_nanos_type(number);
		ok = !duckdb_register_logical_type(connection, type, NULL);
		duckdb_destroy_logical_type(&type);
	}
	return ok;
}

// nanos_of tells a field that is a timestamp with nanoseconds: NANOS or ZONED; 0: it is another one. They have the key alone in their metadata, with a zone or
// without.
static int nanos_of(const struct ArrowSchema *schema) {
	const int32_t length = sizeof SKUA_ZONE_KEY - 1;
	int32_t head[2], zone;
	if (!schema->metadata) {
		return 0;
	}
	memcpy(head, schema->metadata, sizeof *head);
	if (head[0] != 1) { // none has no more bytes than its number
		return 0;
	}
	memcpy(head, schema->metadata, sizeof head);
	if (head[1] != length || memcmp(schema->metadata + sizeof head, SKUA_ZONE_KEY, length)) {
		return 0;
	}
	memcpy(&zone, schema->metadata + sizeof head + length, sizeof zone);
	return zone ? ZONED : NANOS;
}

// marked reports whether a field is one, or has one inside.
static bool marked(const struct ArrowSchema *schema) {
	bool found = nanos_of(schema) != 0;
	for (int64_t i = 0; i < schema->n_children && !found; i++) {
		found = marked(schema->children[i]);
	}
	return found;
}

duckdb_logical_type skua_declared(duckdb_logical_type type, const struct ArrowSchema *schema) {
	duckdb_logical_type out, parts[2];
	idx_t count;
	if (nanos_of(schema)) {
		duckdb_destroy_logical_type(&type);
		return skua_nanos_type(nanos_of(schema));
	}
	if (!marked(schema)) {
		return type;
	}
	switch (duckdb_get_type_id(type)) {
	case LIST:
		parts[0] = skua_declared(duckdb_list_type_child_type(type), schema->children[0]);
		out = duckdb_create_list_type(parts[0]);
		duckdb_destroy_logical_type(&parts[0]);
		break;
	case MAP:
		parts[0] = skua_declared(duckdb_map_type_key_type(type), schema->children[0]->children[0]);
		parts[1] = skua_declared(duckdb_map_type_value_type(type), schema->children[0]->children[1]);
		out = duckdb_create_map_type(parts[0], parts[1]);
		duckdb_destroy_logical_type(&parts[0]);
		duckdb_destroy_logical_type(&parts[1]);
		break;
	case STRUCT: {
		count = duckdb_struct_type_child_count(type);
		duckdb_logical_type *fields = calloc(count + 1, sizeof *fields);
		const char **names = calloc(count + 1, sizeof *names);
		for (idx_t i = 0; i < count; i++) {
			fields[i] = skua_declared(duckdb_struct_type_child_type(type, i), schema->children[i]);
			names[i] = schema->children[i]->name;
		}
		out = duckdb_create_struct_type(fields, names, count);
		for (idx_t i = 0; i < count; i++) {
			duckdb_destroy_logical_type(&fields[i]);
		}
		free(fields);
		free(names);
		break;
	}
	default:
		return type;
	}
	duckdb_destroy_logical_type(&type);
	return out;
}

void skua_reference(duckdb_vector out, duckdb_vector in, idx_t count, const struct ArrowSchema *schema) {
	if (!marked(schema)) {
		duckdb_vector_reference_vector(out, in);
		return;
	}
	copy_validity(out, in, count);
	if (nanos_of(schema)) {
		memcpy(duckdb_vector_get_data(out), duckdb_vector_get_data(in), count * sizeof(int64_t));
		return;
	}
	if (schema->format[1] == 's') { // +s is a struct, +l a list, +m a map, which is a list of structs
		for (int64_t i = 0; i < schema->n_children; i++) {
			skua_reference(duckdb_struct_vector_get_child(out, i), duckdb_struct_vector_get_child(in, i), count, schema->children[i]);
		}
		return;
	}
	idx_t size = duckdb_list_vector_get_size(in);
	memcpy(duckdb_vector_get_data(out), duckdb_vector_get_data(in), count * 2 * sizeof(uint64_t));
	duckdb_list_vector_reserve(out, size);
	duckdb_list_vector_set_size(out, size);
	skua_reference(duckdb_list_vector_get_child(out), duckdb_list_vector_get_child(in), size, schema->children[0]);
}

static void name_zone(duckdb_logical_type type, struct ArrowSchema *schema);

static void name_zone_of(duckdb_logical_type type, struct ArrowSchema *schema) {
	name_zone(type, schema);
	duckdb_destroy_logical_type(&type);
}

static void name_zone(duckdb_logical_type type, struct ArrowSchema *schema) {
	char *alias;
	switch (duckdb_get_type_id(type)) {
	case TIMESTAMP_NS:
		alias = duckdb_logical_type_get_alias(type);
		if (alias && !strcmp(alias, SKUA_ZONED)) {
			schema->format = "tsn:UTC";
		}
		if (alias) {
			duckdb_free(alias);
		}
		break;
	case LIST:
		name_zone_of(duckdb_list_type_child_type(type), schema->children[0]);
		break;
	case MAP:
		name_zone_of(duckdb_map_type_key_type(type), schema->children[0]->children[0]);
		name_zone_of(duckdb_map_type_value_type(type), schema->children[0]->children[1]);
		break;
	case STRUCT:
		for (idx_t i = 0; i < duckdb_struct_type_child_count(type); i++) {
			name_zone_of(duckdb_struct_type_child_type(type, i), schema->children[i]);
		}
		break;
	}
}

void skua_name_zones(duckdb_logical_type *types, struct ArrowSchema *schema) {
	for (int64_t i = 0; i < schema->n_children; i++) {
		name_zone(types[i], schema->children[i]);
	}
}
