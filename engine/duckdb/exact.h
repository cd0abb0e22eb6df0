// Exact arithmetic on decimals, with Spark's results.
#ifndef SKUA_EXACT_H
#define SKUA_EXACT_H

#include "bridge.h"

// Errors say their condition and their state.
#define SKUA_ANSI " If necessary set \"spark.sql.ansi.enabled\" to \"false\" to bypass this error"
#define SKUA_DIVISOR "[DIVIDE_BY_ZERO] Division by zero. Use `try_divide` to tolerate divisor being 0 and return NULL instead." SKUA_ANSI ". SQLSTATE: 22012"
#define SKUA_MODULUS "[REMAINDER_BY_ZERO] Remainder by zero. Use `try_mod` to tolerate divisor being 0 and return NULL instead." SKUA_ANSI ". SQLSTATE: 22012"

duckdb_logical_type duckdb_create_decimal_type(uint8_t width, uint8_t scale);
uint8_t duckdb_decimal_scale(duckdb_logical_type type);
int duckdb_decimal_internal_type(duckdb_logical_type type);

// skua_add_exact makes a function of two numbers known that computes with an operator, and has results of so many digits. Without digits the result is
// a bigint. Where it is tried, what fails is NULL.
bool skua_add_exact(duckdb_connection connection, const char *name, char op, int width, int scale, bool tried);

// skua_add_checks makes the functions known that check divisors and shift bits.
bool skua_add_checks(duckdb_connection connection);

#endif
