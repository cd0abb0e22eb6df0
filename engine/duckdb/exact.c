//go:build cgo

#include "exact.h"

#include <stdio.h>
#include <string.h>

#include "wide.h"

// The engine's numbers of types.
enum { TINYINT = 2, SMALLINT = 3, INTEGER = 4, BIGINT = 5, HUGEINT = 16, DECIMAL = 19, ANY = 34 };

typedef __int128 i128;

// exact says what a function computes.
typedef struct {
	char op; // + - * / %, p for pmod, q for a whole quotient; r, h, c and f round a number to digits: half up, half to even, up and down
	int width, scale;
	u128 limit; // the first number that has too many digits
	bool tried; // NULL stands for what fails
} exact;

// MAX_SCALE is how many digits behind the point Spark first rounds a quotient to.
#define MAX_SCALE 39

static u128 power10(int n) {
	u128 out = 1;
	while (n-- > 0) {
		out *= 10;
	}
	return out;
}

// What goes wrong with a row.
enum problem { FINE, DIVISOR, MODULUS, RANGE };

static const char *const problems[] = {NULL, SKUA_DIVISOR, SKUA_MODULUS,
                                       "[NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION] A result cannot be represented as Decimal(%d, %d)." SKUA_ANSI ", and return NULL instead. SQLSTATE: 22003"};

// operand is a column of whole numbers with a scale.
typedef struct {
	const void *values;
	const uint64_t *valid;
	int bytes, scale;
} operand;

static bool open_operand(duckdb_vector vector, operand *out) {
	duckdb_logical_type type = duckdb_vector_get_column_type(vector);
	int id = duckdb_get_type_id(type);
	*out = (operand){duckdb_vector_get_data(vector), duckdb_vector_get_validity(vector), 0, 0};
	if (id == DECIMAL) {
		out->scale = duckdb_decimal_scale(type);
		id = duckdb_decimal_internal_type(type);
	}
	duckdb_destroy_logical_type(&type);
	out->bytes = id == TINYINT ? 1 : id == SMALLINT ? 2 : id == INTEGER ? 4 : id == BIGINT ? 8 : id == HUGEINT ? 16 : 0;
	return out->bytes != 0;
}

static inline i128 load(const operand *o, idx_t row) {
	i128 out;
	switch (o->bytes) {
	case 1:
		return ((const int8_t *)o->values)[row];
	case 2:
		return ((const int16_t *)o->values)[row];
	case 4:
		return ((const int32_t *)o->values)[row];
	case 8:
		return ((const int64_t *)o->values)[row];
	}
	memcpy(&out, (const char *)o->values + 16 * row, 16);
	return out;
}

static inline u128 magnitude(i128 n) { return n < 0 ? -(u128)n : (u128)n; }

// narrow gives a magnitude that must have fewer digits than the limit.
static inline enum problem narrow(const exact *e, wide n, bool negative, i128 *out) {
	if (!wide_narrow(n) || wide_low(n) >= e->limit) {
		return RANGE;
	}
	*out = negative ? -(i128)wide_low(n) : (i128)wide_low(n);
	return FINE;
}

// rounded takes digits off a magnitude, half up.
static enum problem rounded(const exact *e, wide n, int digits, bool negative, i128 *out) {
	wide by = wide_of(1), rest;
	if (digits <= 0) {
		return wide_scale(&n, -digits) ? narrow(e, n, negative, out) : RANGE;
	}
	if (!wide_scale(&by, digits)) {
		return narrow(e, wide_of(0), false, out);
	}
	n = wide_divide(n, by, &rest);
	if (wide_compare(wide_double(rest, 0), by) >= 0) {
		wide_add(&n, wide_of(1));
	}
	return narrow(e, n, negative, out);
}

// settled is rounded for what has 128 bits.
static inline enum problem settled(const exact *e, i128 n, int digits, i128 *out) {
	if (digits != 0 || magnitude(n) >= e->limit) {
		return rounded(e, wide_of(magnitude(n)), digits, n < 0, out);
	}
	*out = n;
	return FINE;
}

// task is an operator on columns of two scales.
typedef struct {
	exact of;
	int scale1, scale2;
	int up1, up2;      // digits that bring both to one scale
	i128 power1, power2; // the powers of ten; 0: they have more than 37 digits
} task;

// raised multiplies by a power of ten; false: that has more than 128 bits.
static inline bool raised(i128 *n, int digits, i128 power) {
	return !digits || power && !__builtin_mul_overflow(*n, power, n);
}

static enum problem wide_sum(const task *t, i128 a, i128 b, i128 *out) {
	wide x = wide_of(magnitude(a)), y = wide_of(magnitude(b));
	bool negative = a < 0;
	wide_scale(&x, t->up1);
	wide_scale(&y, t->up2);
	if ((a < 0) == (b < 0)) {
		wide_add(&x, y);
	} else if (wide_compare(x, y) >= 0) {
		x = wide_subtract(x, y);
	} else {
		x = wide_subtract(y, x);
		negative = b < 0;
	}
	return rounded(&t->of, x, t->scale1 + t->up1 - t->of.scale, negative, out);
}

static inline enum problem sum(const task *t, i128 a, i128 b, i128 *out) {
	i128 x = a, y = b, z;
	if (raised(&x, t->up1, t->power1) && raised(&y, t->up2, t->power2) && !__builtin_add_overflow(x, y, &z)) {
		return settled(&t->of, z, t->scale1 + t->up1 - t->of.scale, out);
	}
	return wide_sum(t, a, b, out);
}

static inline enum problem product(const task *t, i128 a, i128 b, i128 *out) {
	int digits = t->scale1 + t->scale2 - t->of.scale;
	i128 z;
	if (!__builtin_mul_overflow(a, b, &z)) {
		return settled(&t->of, z, digits, out);
	}
	return rounded(&t->of, wide_product(magnitude(a), magnitude(b)), digits, (a < 0) != (b < 0), out);
}

// up reports whether a rest rounds a quotient up. Spark rounds twice: first to MAX_SCALE digits.
static inline bool up(const task *t, u128 rest, u128 by) {
	if (rest >= by - rest) {
		return true;
	}
	int digits = MAX_SCALE - t->of.scale;
	return digits < 38 && by - 2 * rest <= by / power10(digits);
}

static inline enum problem quotient(const task *t, i128 a, i128 b, i128 *out) {
	bool negative = (a < 0) != (b < 0);
	u128 by = magnitude(b), n;
	if (!b) {
		return DIVISOR;
	}
	i128 x = a;
	if (raised(&x, t->up1, t->power1)) {
		u128 m = magnitude(x), rest;
		if (m >> 64 == 0 && by >> 64 == 0) {
			n = (uint64_t)m / (uint64_t)by;
			rest = (uint64_t)m % (uint64_t)by;
		} else {
			n = m / by;
			rest = m % by;
		}
		n += rest && up(t, rest, by);
		return narrow(&t->of, wide_of(n), negative, out);
	}
	wide m = wide_of(magnitude(a)), rest;
	if (!wide_scale(&m, t->up1)) {
		return RANGE;
	}
	m = wide_divide(m, wide_of(by), &rest);
	if (wide_low(rest) && up(t, wide_low(rest), by)) {
		wide_add(&m, wide_of(1));
	}
	return narrow(&t->of, m, negative, out);
}

// divided gives the whole quotient and the rest of two magnitudes brought to one scale.
static wide divided(const task *t, i128 a, i128 b, wide *rest) {
	wide x = wide_of(magnitude(a)), y = wide_of(magnitude(b));
	wide_scale(&x, t->up1);
	wide_scale(&y, t->up2);
	return wide_divide(x, y, rest);
}

static inline enum problem remainder_of(const task *t, i128 a, i128 b, i128 *out) {
	i128 x = a, y = b;
	enum problem p = FINE;
	if (!b) {
		return MODULUS;
	}
	if (raised(&x, t->up1, t->power1) && raised(&y, t->up2, t->power2)) {
		*out = x % y;
		if (t->of.op == 'p' && *out < 0 && y > 0) {
			*out += y;
		}
	} else {
		wide rest, by = wide_of(magnitude(b));
		divided(t, a, b, &rest);
		bool negative = a < 0;
		wide_scale(&by, t->up2);
		if (t->of.op == 'p' && negative && b > 0 && wide_compare(rest, wide_of(0))) {
			rest = wide_subtract(by, rest);
			negative = false;
		}
		p = narrow(&t->of, rest, negative, out);
	}
	return p == FINE ? settled(&t->of, *out, 0, out) : p;
}

static inline enum problem whole_quotient(const task *t, i128 a, i128 b, i128 *out) {
	wide rest;
	if (!b) {
		return DIVISOR;
	}
	int64_t low = (int64_t)divided(t, a, b, &rest).limb[0]; // what is beyond 64 bits is lost, as in Spark
	*out = (a < 0) != (b < 0) ? -(i128)low : (i128)low;
	return FINE;
}

// MAX_DROPPED is how many digits are more than any number has.
#define MAX_DROPPED 77

// to_digits rounds a number to b digits behind the point, before it where b is negative.
static inline enum problem to_digits(const task *t, i128 a, i128 b, i128 *out) {
	int digits = b >= t->scale1 ? t->scale1 : b < -MAX_DROPPED ? -MAX_DROPPED : (int)b, drop = t->scale1 - digits;
	bool negative = a < 0;
	wide n = wide_of(magnitude(a)), by = wide_of(1), rest = wide_of(0);
	if (drop >= MAX_DROPPED) {
		n = wide_of(0);
	} else if (drop > 0) {
		wide_scale(&by, drop);
		n = wide_divide(n, by, &rest);
		int half = wide_compare(wide_double(rest, 0), by);
		bool some = wide_compare(rest, wide_of(0)) != 0;
		bool away = t->of.op == 'r' ? half >= 0 : t->of.op == 'h' ? half > 0 || half == 0 && (n.limb[0] & 1) : t->of.op == 'c' ? some && !negative : some && negative;
		if (away) {
			wide_add(&n, wide_of(1));
		}
	}
	return wide_scale(&n, t->of.scale - digits) ? narrow(&t->of, n, negative, out) : RANGE;
}

static inline enum problem compute(const task *t, i128 a, i128 b, i128 *out) {
	switch (t->of.op) {
	case '+':
		return sum(t, a, b, out);
	case '-':
		return sum(t, a, -b, out);
	case '*':
		return product(t, a, b, out);
	case '/':
		return quotient(t, a, b, out);
	case 'r':
	case 'h':
	case 'c':
	case 'f':
		return to_digits(t, a, b, out);
	case 'q':
		return whole_quotient(t, a, b, out);
	}
	return remainder_of(t, a, b, out);
}

static inline void store(void *out, int bytes, idx_t row, i128 n) {
	switch (bytes) {
	case 2:
		((int16_t *)out)[row] = (int16_t)n;
		break;
	case 4:
		((int32_t *)out)[row] = (int32_t)n;
		break;
	case 8:
		((int64_t *)out)[row] = (int64_t)n;
		break;
	default:
		memcpy((char *)out + 16 * row, &n, 16);
	}
}

static task task_of(const exact *e, int scale1, int scale2) {
	task t = {*e, scale1, scale2, 0, 0, 0, 0};
	if (e->op == '/') {
		t.up1 = e->scale + scale2 - scale1;
	} else if (e->op != '*') {
		t.up1 = scale2 > scale1 ? scale2 - scale1 : 0;
		t.up2 = scale1 > scale2 ? scale1 - scale2 : 0;
	}
	t.power1 = t.up1 < 38 ? (i128)power10(t.up1) : 0;
	t.power2 = t.up2 < 38 ? (i128)power10(t.up2) : 0;
	return t;
}

static bool valid(const uint64_t *mask, idx_t row) { return !mask || mask[row / 64] >> row % 64 & 1; }

static void call(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) {
	const exact *e = duckdb_scalar_function_get_extra_info(info);
	operand a, b;
	if (!open_operand(duckdb_data_chunk_get_vector(in, 0), &a) || !open_operand(duckdb_data_chunk_get_vector(in, 1), &b)) {
		duckdb_scalar_function_set_error(info, "exact arithmetic is for whole numbers and decimals");
		return;
	}
	task t = task_of(e, a.scale, b.scale);
	int bytes = !e->width || e->width > 9 && e->width <= 18 ? 8 : e->width > 18 ? 16 : e->width > 4 ? 4 : 2;
	void *results = duckdb_vector_get_data(out);
	uint64_t *mark = NULL;
	idx_t count = duckdb_data_chunk_get_size(in);
	for (idx_t i = 0; i < count; i++) {
		i128 n = 0;
		bool null = !valid(a.valid, i) || !valid(b.valid, i);
		enum problem p = null ? FINE : compute(&t, load(&a, i), load(&b, i), &n);
		if (null || p != FINE && e->tried) {
			if (!mark) {
				duckdb_vector_ensure_validity_writable(out);
				mark = duckdb_vector_get_validity(out);
			}
			mark[i / 64] &= ~(UINT64_C(1) << i % 64);
			continue;
		}
		if (p != FINE) {
			char text[256];
			snprintf(text, sizeof text, problems[p], e->width, e->scale);
			duckdb_scalar_function_set_error(info, text);
			return;
		}
		store(results, bytes, i, n);
	}
}

bool skua_add_exact(duckdb_connection connection, const char *name, char op, int width, int scale, bool tried) {
	duckdb_scalar_function_set set = duckdb_create_scalar_function_set(name);
	duckdb_scalar_function function = duckdb_create_scalar_function();
	duckdb_logical_type any = duckdb_create_logical_type(ANY), result = width ? duckdb_create_decimal_type((uint8_t)width, (uint8_t)scale) : duckdb_create_logical_type(BIGINT);
	exact *e = malloc(sizeof *e);
	*e = (exact){op, width, scale, power10(width), tried};
	duckdb_scalar_function_set_name(function, name);
	duckdb_scalar_function_add_parameter(function, any);
	duckdb_scalar_function_add_parameter(function, any);
	duckdb_scalar_function_set_return_type(function, result);
	duckdb_scalar_function_set_extra_info(function, e, free);
	duckdb_scalar_function_set_function(function, call);
	duckdb_scalar_function_set_special_handling(function); // else the engine takes a result of NULL's type for the one of NULL
	if (!tried) {
		skua_fallible(function);
	}
	bool ok = !duckdb_add_scalar_function_to_set(set, function) && !duckdb_register_scalar_function_set(connection, set);
	duckdb_destroy_logical_type(&any);
	duckdb_destroy_logical_type(&result);
	duckdb_destroy_scalar_function(&function);
	duckdb_destroy_scalar_function_set(&set);
	return ok;
}
