#include "bridge.h"

#include <pthread.h>
#include <string.h>

// The engine evaluates conditions in the order that it finds cheapest, but for expressions that may fail: those stay behind the conditions in front of them, which may keep
// their rows away. Its C API has no way to say so of a function, whose properties are one byte each, side by side: stability, handling of NULL, failing. Where the first two
// lie is seen by setting them.

// SEEN is how much of a function is looked at, which is less than there is of it.
enum { SEEN = 288 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static size_t failing; // the offset, 0: unknown

// changed gives the only byte that a setter makes a 1 of a 0; 0: there is none, or more.
static size_t changed(void (*set)(duckdb_scalar_function)) {
	duckdb_scalar_function function = duckdb_create_scalar_function();
	unsigned char before[SEEN];
	size_t found = 0;
	memcpy(before, function, SEEN);
	set(function);
	for (size_t i = 1; i < SEEN; i++) {
		unsigned char now = ((unsigned char *)function)[i];
		if (now != before[i]) {
			if (found || before[i] != 0 || now != 1) {
				found = 0;
				break;
			}
			found = i;
		}
	}
	duckdb_destroy_scalar_function(&function);
	return found;
}

static void find(void) {
	size_t stability = changed(duckdb_scalar_function_set_volatile), nulls = changed(duckdb_scalar_function_set_special_handling);
	if (stability && nulls == stability + 1) {
		failing = nulls + 1;
	}
}

bool skua_fallible(duckdb_scalar_function function) {
	pthread_once(&once, find);
	if (!failing || ((unsigned char *)function)[failing] > 1) {
		return false;
	}
	((unsigned char *)function)[failing] = 1;
	return true;
}
