// The function by which the engine tells the types of expressions while it binds a statement.
#ifndef SKUA_FIND_H
#define SKUA_FIND_H

#include "bridge.h"

// text is a value of a column of texts, as the engine lays it out.
typedef union {
	struct {
		uint32_t length;
		char prefix[4];
		const char *text;
	} pointed;
	struct {
		uint32_t length;
		char text[12];
	} inlined;
} skua_text;

// skua_add_find makes the function known under its name. It takes who asks, the number of a part and types, and gives a type.
bool skua_add_find(duckdb_connection connection, const char *name);

#endif
