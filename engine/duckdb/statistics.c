//go:build cgo

// The engine's workers call with states of their own, and combine them.
#include "statistics.h"

#include <math.h>

typedef void *duckdb_aggregate_function;
typedef void *duckdb_aggregate_state;
duckdb_aggregate_function duckdb_create_aggregate_function(void);
void duckdb_destroy_aggregate_function(duckdb_aggregate_function *function);
void duckdb_aggregate_function_set_name(duckdb_aggregate_function function, const char *name);
void duckdb_aggregate_function_add_parameter(duckdb_aggregate_function function, duckdb_logical_type type);
void duckdb_aggregate_function_set_return_type(duckdb_aggregate_function function, duckdb_logical_type type);
void duckdb_aggregate_function_set_functions(duckdb_aggregate_function function, idx_t (*size)(duckdb_function_info),
                                             void (*init)(duckdb_function_info, duckdb_aggregate_state),
                                             void (*update)(duckdb_function_info, duckdb_data_chunk, duckdb_aggregate_state *),
                                             void (*combine)(duckdb_function_info, duckdb_aggregate_state *, duckdb_aggregate_state *, idx_t),
                                             void (*finalize)(duckdb_function_info, duckdb_aggregate_state *, duckdb_vector, idx_t, idx_t));
void duckdb_aggregate_function_set_extra_info(duckdb_aggregate_function function, void *info, void (*destroy)(void *));
void *duckdb_aggregate_function_get_extra_info(duckdb_function_info info);
void duckdb_aggregate_function_set_error(duckdb_function_info info, const char *error);
duckdb_state duckdb_register_aggregate_function(duckdb_connection connection, duckdb_aggregate_function function);

enum { DOUBLE = 11 };

// moments are those of one argument.
typedef struct {
	double n, mean, m2, m3, m4;
} moments;

// pairs are those of two, of which y is the first.
typedef struct {
	double n, y_mean, x_mean, product, y2, x2;
} pairs;

// statistic is an aggregate: what of gives is NULL where known is false.
typedef struct {
	const char *name;
	double (*of_one)(const moments *s, bool *known);
	double (*of_two)(const pairs *s, bool *known);
} statistic;

static idx_t moments_size(duckdb_function_info info) { return sizeof(moments); }
static idx_t pairs_size(duckdb_function_info info) { return sizeof(pairs); }
static void moments_init(duckdb_function_info info, duckdb_aggregate_state state) { *(moments *)state = (moments){0}; }
static void pairs_init(duckdb_function_info info, duckdb_aggregate_state state) { *(pairs *)state = (pairs){0}; }

static bool valid(uint64_t *validity, idx_t row) { return !validity || validity[row / 64] >> row % 64 & 1; }

static void moments_update(duckdb_function_info info, duckdb_data_chunk in, duckdb_aggregate_state *states) {
	duckdb_vector vector = duckdb_data_chunk_get_vector(in, 0);
	double *values = duckdb_vector_get_data(vector);
	uint64_t *validity = duckdb_vector_get_validity(vector);
	for (idx_t i = 0; i < duckdb_data_chunk_get_size(in); i++) {
		if (!valid(validity, i)) {
			continue;
		}
		moments *s = (moments *)states[i];
		s->n += 1;
		double d = values[i] - s->mean, dn = d / s->n;
		s->mean += dn;
		s->m2 += d * (d - dn);
		s->m3 += -3 * dn * s->m2 + d * (d * d - dn * dn);
		s->m4 += -4 * dn * s->m3 - 6 * dn * dn * s->m2 + d * (d * d * d - dn * dn * dn);
	}
}

static void moments_combine(duckdb_function_info info, duckdb_aggregate_state *source, duckdb_aggregate_state *target, idx_t count) {
	for (idx_t i = 0; i < count; i++) {
		const moments *r = (moments *)source[i];
		moments *l = (moments *)target[i];
		if (l->n == 0 || r->n == 0) {
			*l = l->n == 0 ? *r : *l;
			continue;
		}
		double n1 = l->n, n2 = r->n, d = r->mean - l->mean, dn = d / (n1 + n2);
		double m4 = l->m4 + r->m4 + dn * dn * dn * d * n1 * n2 * (n1 * n1 - n1 * n2 + n2 * n2) + 6 * dn * dn * (n1 * n1 * r->m2 + n2 * n2 * l->m2) + 4 * dn * (n1 * r->m3 - n2 * l->m3);
		double m3 = l->m3 + r->m3 + dn * dn * d * n1 * n2 * (n1 - n2) + 3 * dn * (n1 * r->m2 - n2 * l->m2);
		double m2 = l->m2 + r->m2 + d * dn * n1 * n2;
		*l = (moments){n1 + n2, l->mean + dn * n2, m2, m3, m4};
	}
}

static void pairs_update(duckdb_function_info info, duckdb_data_chunk in, duckdb_aggregate_state *states) {
	duckdb_vector ys = duckdb_data_chunk_get_vector(in, 0), xs = duckdb_data_chunk_get_vector(in, 1);
	double *y = duckdb_vector_get_data(ys), *x = duckdb_vector_get_data(xs);
	uint64_t *y_valid = duckdb_vector_get_validity(ys), *x_valid = duckdb_vector_get_validity(xs);
	for (idx_t i = 0; i < duckdb_data_chunk_get_size(in); i++) {
		if (!valid(y_valid, i) || !valid(x_valid, i)) {
			continue;
		}
		pairs *s = (pairs *)states[i];
		s->n += 1;
		double dy = y[i] - s->y_mean, dx = x[i] - s->x_mean;
		s->y_mean += dy / s->n;
		s->x_mean += dx / s->n;
		s->product += dy * (x[i] - s->x_mean);
		s->y2 += dy * (y[i] - s->y_mean);
		s->x2 += dx * (x[i] - s->x_mean);
	}
}

static void pairs_combine(duckdb_function_info info, duckdb_aggregate_state *source, duckdb_aggregate_state *target, idx_t count) {
	for (idx_t i = 0; i < count; i++) {
		const pairs *r = (pairs *)source[i];
		pairs *l = (pairs *)target[i];
		if (l->n == 0 || r->n == 0) {
			*l = l->n == 0 ? *r : *l;
			continue;
		}
		double n = l->n + r->n, dy = r->y_mean - l->y_mean, dx = r->x_mean - l->x_mean, weight = l->n * r->n / n;
		*l = (pairs){n, l->y_mean + dy / n * r->n, l->x_mean + dx / n * r->n, l->product + r->product + dy * dx * weight, l->y2 + r->y2 + dy * dy * weight, l->x2 + r->x2 + dx * dx * weight};
	}
}

// divided is a quotient that is NULL for too few rows.
static double divided(double value, double by, bool *known) {
	*known = by > 0;
	return *known ? value / by : 0;
}

static double var_pop(const moments *s, bool *known) { return divided(s->m2, s->n, known); }
static double var_samp(const moments *s, bool *known) { return divided(s->m2, s->n - 1, known); }
static double stddev_pop(const moments *s, bool *known) { return sqrt(var_pop(s, known)); }
static double stddev_samp(const moments *s, bool *known) { return sqrt(var_samp(s, known)); }

static double skewness(const moments *s, bool *known) {
	*known = s->n > 0 && s->m2 != 0;
	return *known ? sqrt(s->n) * s->m3 / sqrt(s->m2 * s->m2 * s->m2) : 0;
}

static double kurtosis(const moments *s, bool *known) {
	*known = s->n > 0 && s->m2 != 0;
	return *known ? s->n * s->m4 / (s->m2 * s->m2) - 3 : 0;
}

static double covar_pop(const pairs *s, bool *known) { return divided(s->product, s->n, known); }
static double covar_samp(const pairs *s, bool *known) { return divided(s->product, s->n - 1, known); }

// corr is infinite where nothing can be divided by, which no correlation is.
static double corr(const pairs *s, bool *known) {
	*known = s->n > 1;
	double by = sqrt(s->y2 * s->x2);
	return !*known ? 0 : by == 0 ? INFINITY : s->product / by;
}

static double regr_slope(const pairs *s, bool *known) {
	*known = s->n > 1 && s->x2 != 0;
	return *known ? s->product / s->x2 : 0;
}

static double regr_intercept(const pairs *s, bool *known) { return s->y_mean - regr_slope(s, known) * s->x_mean; }

// regr_r2 takes its arguments the other way round than the rest does, as Spark does.
static double regr_r2(const pairs *s, bool *known) {
	*known = s->n > 1 && s->y2 != 0;
	double r = s->product / sqrt(s->y2 * s->x2);
	return !*known ? 0 : s->x2 == 0 ? 1 : r * r;
}

static double some(const pairs *s, double value, bool *known) {
	*known = s->n > 0;
	return value;
}

static double regr_avgx(const pairs *s, bool *known) { return some(s, s->x_mean, known); }
static double regr_avgy(const pairs *s, bool *known) { return some(s, s->y_mean, known); }
static double regr_sxx(const pairs *s, bool *known) { return some(s, s->x2, known); }
static double regr_syy(const pairs *s, bool *known) { return some(s, s->y2, known); }
static double regr_sxy(const pairs *s, bool *known) { return some(s, s->product, known); }

static const statistic statistics[] = {
	{"skua_var_pop", var_pop}, {"skua_var_samp", var_samp}, {"skua_stddev_pop", stddev_pop}, {"skua_stddev_samp", stddev_samp}, {"skua_skewness", skewness}, {"skua_kurtosis", kurtosis},
	{"skua_covar_pop", NULL, covar_pop}, {"skua_covar_samp", NULL, covar_samp}, {"skua_corr", NULL, corr}, {"skua_regr_slope", NULL, regr_slope},
	{"skua_regr_intercept", NULL, regr_intercept}, {"skua_regr_r2", NULL, regr_r2}, {"skua_regr_avgx", NULL, regr_avgx}, {"skua_regr_avgy", NULL, regr_avgy},
	{"skua_regr_sxx", NULL, regr_sxx}, {"skua_regr_syy", NULL, regr_syy}, {"skua_regr_sxy", NULL, regr_sxy},
};

static void finalize(duckdb_function_info info, duckdb_aggregate_state *source, duckdb_vector result, idx_t count, idx_t offset) {
	const statistic *f = duckdb_aggregate_function_get_extra_info(info);
	double *out = duckdb_vector_get_data(result);
	duckdb_vector_ensure_validity_writable(result);
	uint64_t *validity = duckdb_vector_get_validity(result);
	for (idx_t i = 0; i < count; i++) {
		bool known = false;
		double value = f->of_one ? f->of_one((moments *)source[i], &known) : f->of_two((pairs *)source[i], &known);
		if (f->of_two == corr && isinf(value)) {
			duckdb_aggregate_function_set_error(info, "Division by zero");
			return;
		}
		idx_t row = offset + i;
		out[row] = value;
		if (!known) {
			validity[row / 64] &= ~(1ULL << row % 64);
		}
	}
}

static bool add(duckdb_connection connection, const statistic *f) {
	duckdb_aggregate_function function = duckdb_create_aggregate_function();
	duckdb_logical_type type = duckdb_create_logical_type(DOUBLE);
	duckdb_aggregate_function_set_name(function, f->name);
	duckdb_aggregate_function_add_parameter(function, type);
	if (f->of_two) {
		duckdb_aggregate_function_add_parameter(function, type);
		duckdb_aggregate_function_set_functions(function, pairs_size, pairs_init, pairs_update, pairs_combine, finalize);
	} else {
		duckdb_aggregate_function_set_functions(function, moments_size, moments_init, moments_update, moments_combine, finalize);
	}
	duckdb_aggregate_function_set_return_type(function, type);
	duckdb_destroy_logical_type(&type);
	duckdb_aggregate_function_set_extra_info(function, (void *)f, NULL);
	bool ok = duckdb_register_aggregate_function(connection, function) == 0;
	duckdb_destroy_aggregate_function(&function);
	return ok;
}

const char *skua_add_statistics(duckdb_connection connection) {
	for (size_t i = 0; i < sizeof statistics / sizeof *statistics; i++) {
		if (!add(connection, &statistics[i])) {
			return statistics[i].name;
		}
	}
	return NULL;
}
