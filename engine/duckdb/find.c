//go:build cgo

#include "find.h"

#include <string.h>

// Implemented in Go. The answer is to be freed.
extern char *skuaFind(uint64_t handle, int32_t number, char *types, uint32_t length);

enum { INTEGER = 4, UBIGINT = 9, VARCHAR = 17 };

static void find(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) {
	uint64_t *handles = duckdb_vector_get_data(duckdb_data_chunk_get_vector(in, 0));
	int32_t *numbers = duckdb_vector_get_data(duckdb_data_chunk_get_vector(in, 1));
	skua_text *types = duckdb_vector_get_data(duckdb_data_chunk_get_vector(in, 2));
	for (idx_t i = 0; i < duckdb_data_chunk_get_size(in); i++) {
		uint32_t length = types[i].inlined.length;
		const char *text = length <= sizeof types[i].inlined.text ? types[i].inlined.text : types[i].pointed.text;
		char *answer = skuaFind(handles[i], numbers[i], (char *)text, length);
		duckdb_vector_assign_string_element_len(out, i, answer, strlen(answer));
		free(answer);
	}
}

bool skua_add_find(duckdb_connection connection, const char *name) {
	static const int types[] = {UBIGINT, INTEGER, VARCHAR, VARCHAR};
	duckdb_scalar_function_set set = duckdb_create_scalar_function_set(name);
	duckdb_scalar_function function = duckdb_create_scalar_function();
	duckdb_scalar_function_set_name(function, name);
	for (int i = 0; i < 4; i++) {
		duckdb_logical_type type = duckdb_create_logical_type(types[i]);
		if (i < 3) {
			duckdb_scalar_function_add_parameter(function, type);
		} else {
			duckdb_scalar_function_set_return_type(function, type);
		}
		duckdb_destroy_logical_type(&type);
	}
	duckdb_scalar_function_set_function(function, find);
	bool ok = !duckdb_add_scalar_function_to_set(set, function) && !duckdb_register_scalar_function_set(connection, set);
	duckdb_destroy_scalar_function(&function);
	duckdb_destroy_scalar_function_set(&set);
	return ok;
}
