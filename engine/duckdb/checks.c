//go:build cgo

// Functions that check divisors, and what Java has of whole numbers: shifts, remainders, casts.
#include "exact.h"

#include <math.h>

enum { TINYINT = 2, SMALLINT = 3, INTEGER = 4, BIGINT = 5, FLOAT = 10, DOUBLE = 11 };

static bool valid(const uint64_t *mask, idx_t row) { return !mask || mask[row / 64] >> row % 64 & 1; }

#define ANY_ZERO(name, type)                                                  \
	static bool name(const void *values, const uint64_t *mask, idx_t count) { \
		const type *v = values;                                               \
		bool found = false;                                                   \
		for (idx_t i = 0; i < count; i++) {                                   \
			found |= v[i] == 0 && valid(mask, i);                             \
		}                                                                     \
		return found;                                                         \
	}

ANY_ZERO(zero_tinyint, int8_t)
ANY_ZERO(zero_smallint, int16_t)
ANY_ZERO(zero_integer, int32_t)
ANY_ZERO(zero_bigint, int64_t)
ANY_ZERO(zero_float, float)
ANY_ZERO(zero_double, double)

// check is for one type of numbers.
typedef struct {
	bool (*zero)(const void *, const uint64_t *, idx_t);
	const char *error;
} check;

static void checked(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) {
	const check *c = duckdb_scalar_function_get_extra_info(info);
	duckdb_vector values = duckdb_data_chunk_get_vector(in, 0);
	if (c->zero(duckdb_vector_get_data(values), duckdb_vector_get_validity(values), duckdb_data_chunk_get_size(in))) {
		duckdb_scalar_function_set_error(info, c->error);
		return;
	}
	duckdb_vector_reference_vector(out, values);
}

#define SHIFT(name, type, unsigned_type, expression)                                            \
	static void name(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) {       \
		duckdb_vector left = duckdb_data_chunk_get_vector(in, 0);                                 \
		duckdb_vector right = duckdb_data_chunk_get_vector(in, 1);                                \
		const type *values = duckdb_vector_get_data(left);                                        \
		const int32_t *bits = duckdb_vector_get_data(right);                                      \
		const uint64_t *m1 = duckdb_vector_get_validity(left), *m2 = duckdb_vector_get_validity(right); \
		type *results = duckdb_vector_get_data(out);                                              \
		for (idx_t i = 0; i < duckdb_data_chunk_get_size(in); i++) {                              \
			type v = values[i];                                                                   \
			unsigned_type u = (unsigned_type)v;                                                   \
			int by = bits[i] & (int)(8 * sizeof v - 1);                                           \
			(void)v;                                                                              \
			(void)u;                                                                              \
			results[i] = (type)(expression);                                                      \
			if (!valid(m1, i) || !valid(m2, i)) {                                                 \
				duckdb_vector_ensure_validity_writable(out);                                      \
				duckdb_vector_get_validity(out)[i / 64] &= ~(UINT64_C(1) << i % 64);              \
			}                                                                                     \
		}                                                                                         \
	}

SHIFT(left_integer, int32_t, uint32_t, u << by)
SHIFT(left_bigint, int64_t, uint64_t, u << by)
SHIFT(right_integer, int32_t, uint32_t, v >> by)
SHIFT(right_bigint, int64_t, uint64_t, v >> by)
SHIFT(unsigned_integer, int32_t, uint32_t, u >> by)
SHIFT(unsigned_bigint, int64_t, uint64_t, u >> by)

#define EACH(name, type, body)                                                                \
	static void name(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) {       \
		duckdb_vector left = duckdb_data_chunk_get_vector(in, 0);                                 \
		duckdb_vector right = duckdb_data_chunk_get_vector(in, duckdb_data_chunk_get_column_count(in) - 1); \
		const uint64_t *m1 = duckdb_vector_get_validity(left), *m2 = duckdb_vector_get_validity(right); \
		for (idx_t i = 0; i < duckdb_data_chunk_get_size(in); i++) {                              \
			if (!valid(m1, i) || !valid(m2, i)) {                                                 \
				duckdb_vector_ensure_validity_writable(out);                                      \
				duckdb_vector_get_validity(out)[i / 64] &= ~(UINT64_C(1) << i % 64);              \
				continue;                                                                         \
			}                                                                                     \
			type a = ((type *)duckdb_vector_get_data(left))[i], b = ((type *)duckdb_vector_get_data(right))[i]; \
			body                                                                                  \
		}                                                                                         \
	}

#define PMOD(name, type, modulo)                                                              \
	EACH(name, type, {                                                                            \
		if (b == 0) {                                                                             \
			duckdb_scalar_function_set_error(info, SKUA_MODULUS);                                 \
			return;                                                                               \
		}                                                                                         \
		type r = modulo(a, b);                                                                    \
		((type *)duckdb_vector_get_data(out))[i] = r < 0 ? modulo(r + b, b) : r;                  \
	})

#define WHOLE_MODULO(a, b) ((b) == -1 ? 0 : (a) % (b))

PMOD(pmod_tinyint, int8_t, WHOLE_MODULO)
PMOD(pmod_smallint, int16_t, WHOLE_MODULO)
PMOD(pmod_integer, int32_t, WHOLE_MODULO)
PMOD(pmod_bigint, int64_t, WHOLE_MODULO)
PMOD(pmod_float, float, fmodf)
PMOD(pmod_double, double, fmod)

// A remainder of NULL stands for one by 0.
#define TRIED_MODULO(name, type, modulo)                                                      \
	EACH(name, type, {                                                                            \
		if (b == 0) {                                                                             \
			duckdb_vector_ensure_validity_writable(out);                                          \
			duckdb_vector_get_validity(out)[i / 64] &= ~(UINT64_C(1) << i % 64);                  \
			continue;                                                                             \
		}                                                                                         \
		((type *)duckdb_vector_get_data(out))[i] = (type)modulo(a, b);                            \
	})

TRIED_MODULO(tried_tinyint, int8_t, WHOLE_MODULO)
TRIED_MODULO(tried_smallint, int16_t, WHOLE_MODULO)
TRIED_MODULO(tried_integer, int32_t, WHOLE_MODULO)
TRIED_MODULO(tried_bigint, int64_t, WHOLE_MODULO)
TRIED_MODULO(tried_float, float, fmodf)
TRIED_MODULO(tried_double, double, fmod)

// to_long has the nearest bigint of what is beyond them, and 0 of NaN, as Java has.
EACH(to_long, double, {
	(void)b;
	((int64_t *)duckdb_vector_get_data(out))[i] = a != a ? 0 : a >= 9223372036854775807.0 ? INT64_MAX : a <= -9223372036854775808.0 ? INT64_MIN : (int64_t)a;
})

static bool add(duckdb_scalar_function_set set, int type, int second, int result, void (*run)(duckdb_function_info, duckdb_data_chunk, duckdb_vector), check *extra) {
	duckdb_scalar_function function = duckdb_create_scalar_function();
	duckdb_logical_type first = duckdb_create_logical_type(type);
	duckdb_scalar_function_set_name(function, "skua");
	duckdb_scalar_function_add_parameter(function, first);
	if (second) {
		duckdb_logical_type other = duckdb_create_logical_type(second);
		duckdb_scalar_function_add_parameter(function, other);
		duckdb_destroy_logical_type(&other);
	}
	if (result != type) {
		duckdb_destroy_logical_type(&first);
		first = duckdb_create_logical_type(result);
	}
	duckdb_scalar_function_set_return_type(function, first);
	if (extra) {
		duckdb_scalar_function_set_extra_info(function, extra, NULL);
	}
	duckdb_scalar_function_set_function(function, run);
	skua_fallible(function);
	bool ok = !duckdb_add_scalar_function_to_set(set, function);
	duckdb_destroy_logical_type(&first);
	duckdb_destroy_scalar_function(&function);
	return ok;
}

static const int types[] = {TINYINT, SMALLINT, INTEGER, BIGINT, FLOAT, DOUBLE};

static bool add_check(duckdb_connection connection, const char *name, check *checks) {
	duckdb_scalar_function_set set = duckdb_create_scalar_function_set(name);
	bool ok = true;
	for (int i = 0; i < 6; i++) {
		ok = ok && add(set, types[i], 0, types[i], checked, &checks[i]);
	}
	ok = ok && !duckdb_register_scalar_function_set(connection, set);
	duckdb_destroy_scalar_function_set(&set);
	return ok;
}

static bool add_shift(duckdb_connection connection, const char *name, void (*narrow)(duckdb_function_info, duckdb_data_chunk, duckdb_vector),
                      void (*wide)(duckdb_function_info, duckdb_data_chunk, duckdb_vector)) {
	duckdb_scalar_function_set set = duckdb_create_scalar_function_set(name);
	bool ok = add(set, INTEGER, INTEGER, INTEGER, narrow, NULL) && add(set, BIGINT, INTEGER, BIGINT, wide, NULL) && !duckdb_register_scalar_function_set(connection, set);
	duckdb_destroy_scalar_function_set(&set);
	return ok;
}

static bool add_pmod(duckdb_connection connection) {
	static void (*const runs[])(duckdb_function_info, duckdb_data_chunk, duckdb_vector) = {pmod_tinyint, pmod_smallint, pmod_integer, pmod_bigint, pmod_float, pmod_double};
	static void (*const tried[])(duckdb_function_info, duckdb_data_chunk, duckdb_vector) = {tried_tinyint, tried_smallint, tried_integer, tried_bigint, tried_float, tried_double};
	duckdb_scalar_function_set set = duckdb_create_scalar_function_set("skua_pmod"), or_null = duckdb_create_scalar_function_set("skua_try_modulo"), whole = duckdb_create_scalar_function_set("skua_to_long");
	bool ok = add(whole, DOUBLE, 0, BIGINT, to_long, NULL) && !duckdb_register_scalar_function_set(connection, whole);
	for (int i = 0; i < 6; i++) {
		ok = ok && add(set, types[i], types[i], types[i], runs[i], NULL) && add(or_null, types[i], types[i], types[i], tried[i], NULL);
	}
	ok = ok && !duckdb_register_scalar_function_set(connection, set) && !duckdb_register_scalar_function_set(connection, or_null);
	duckdb_destroy_scalar_function_set(&or_null);
	duckdb_destroy_scalar_function_set(&set);
	duckdb_destroy_scalar_function_set(&whole);
	return ok;
}

#define CHECKS(error) {{zero_tinyint, error}, {zero_smallint, error}, {zero_integer, error}, {zero_bigint, error}, {zero_float, error}, {zero_double, error}}

bool skua_add_checks(duckdb_connection connection) {
	static check divisors[] = CHECKS(SKUA_DIVISOR), moduli[] = CHECKS(SKUA_MODULUS);
	return add_pmod(connection) && add_check(connection, "skua_divisor", divisors) && add_check(connection, "skua_modulus", moduli) && add_shift(connection, "skua_shift_left", left_integer, left_bigint) &&
	       add_shift(connection, "skua_shift_right", right_integer, right_bigint) && add_shift(connection, "skua_shift_right_unsigned", unsigned_integer, unsigned_bigint) &&
	       skua_add_exact(connection, "skua_quotient", 'q', 0, 0, false);
}
