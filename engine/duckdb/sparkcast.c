//go:build cgo

// Spark's casts: scalar functions that are written in Go over the engine's own vectors, whatever the type of their argument is. The engine's workers call at the
// same time.
#include "bridge.h"

#include <string.h>

// Implemented in Go. An error is a string to be freed, NULL: none.
extern char *skuaCast(int code, skua_node *arguments, idx_t count, idx_t rows, skua_node *out);
extern char *skuaCastBind(int code, skua_node *arguments, idx_t count);

// The engine's numbers of types.
enum { VARCHAR = 17, TIMESTAMP_NS = 22, DECIMAL = 19, ENUM = 23, LIST = 24, STRUCT = 25, MAP = 26, ARRAY = 33 };

static void type_node(skua_node *node, duckdb_logical_type type) {
	memset(node, 0, sizeof *node);
	node->logical = type;
	node->type = duckdb_get_type_id(type);
	if (node->type == DECIMAL) {
		node->width = duckdb_decimal_width(type);
		node->scale = duckdb_decimal_scale(type);
	} else if (node->type == ENUM) {
		node->width = duckdb_enum_internal_type(type);
	}
	char *alias = duckdb_logical_type_get_alias(type);
	if (alias) {
		node->zoned = node->type == TIMESTAMP_NS && !strcmp(alias, SKUA_ZONED);
		duckdb_free(alias);
	}
}

// set_vector gives a node the values of a vector; NULL: those of a type alone.
static void set_vector(skua_node *node, duckdb_vector vector) {
	node->vector = vector;
	if (vector) {
		node->data = duckdb_vector_get_data(vector);
		node->valid = duckdb_vector_get_validity(vector);
	}
}

static void fill(skua_node *node, duckdb_logical_type type, duckdb_vector vector) {
	type_node(node, type);
	set_vector(node, vector);
	idx_t count = node->type == LIST || node->type == ARRAY ? 1 : node->type == MAP ? 2 : node->type == STRUCT ? duckdb_struct_type_child_count(type) : 0;
	if (!count) {
		return;
	}
	node->children = calloc(count, sizeof *node->children);
	node->count = count;
	switch (node->type) {
	case LIST:
		fill(&node->children[0], duckdb_list_type_child_type(type), vector ? duckdb_list_vector_get_child(vector) : NULL);
		break;
	case ARRAY:
		node->width = (int)duckdb_array_type_array_size(type);
		fill(&node->children[0], duckdb_array_type_child_type(type), vector ? duckdb_array_vector_get_child(vector) : NULL);
		break;
	case MAP: { // a list of structs of two fields
		duckdb_vector entries = vector ? duckdb_list_vector_get_child(vector) : NULL;
		fill(&node->children[0], duckdb_map_type_key_type(type), entries ? duckdb_struct_vector_get_child(entries, 0) : NULL);
		fill(&node->children[1], duckdb_map_type_value_type(type), entries ? duckdb_struct_vector_get_child(entries, 1) : NULL);
		break;
	}
	default:
		for (idx_t i = 0; i < count; i++) {
			fill(&node->children[i], duckdb_struct_type_child_type(type, i), vector ? duckdb_struct_vector_get_child(vector, i) : NULL);
			node->children[i].name = duckdb_struct_type_child_name(type, i);
		}
	}
}

static void drop(skua_node *node) {
	for (idx_t i = 0; i < node->count; i++) {
		drop(&node->children[i]);
	}
	free(node->children);
	if (node->name) {
		duckdb_free(node->name);
	}
	if (node->logical) {
		duckdb_destroy_logical_type(&node->logical);
	}
}

static bool is_nested(duckdb_vector vector) {
	duckdb_logical_type type = duckdb_vector_get_column_type(vector);
	int number = duckdb_get_type_id(type);
	duckdb_destroy_logical_type(&type);
	return number == LIST || number == STRUCT || number == MAP || number == ARRAY;
}

// flat copies a vector whose parts may be shared or chosen from others, which only a copy makes plain.
static duckdb_vector flat(duckdb_vector vector, idx_t rows) {
	duckdb_logical_type type = duckdb_vector_get_column_type(vector);
	duckdb_vector out = duckdb_create_vector(type, rows ? rows : 1);
	duckdb_selection_vector all = duckdb_create_selection_vector(rows ? rows : 1);
	uint32_t *chosen = duckdb_selection_vector_get_data_ptr(all);
	for (idx_t i = 0; i < rows; i++) {
		chosen[i] = (uint32_t)i;
	}
	duckdb_vector_copy_sel(vector, out, all, rows, 0, 0);
	duckdb_destroy_selection_vector(all);
	duckdb_destroy_logical_type(&type);
	return out;
}

static void cast_call(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) {
	int code = *(int *)duckdb_scalar_function_get_extra_info(info);
	idx_t count = duckdb_data_chunk_get_column_count(in), rows = duckdb_data_chunk_get_size(in);
	skua_node *arguments = calloc(count + 1, sizeof *arguments), result;
	duckdb_vector *copies = calloc(count + 1, sizeof *copies);
	for (idx_t i = 0; i < count; i++) {
		duckdb_vector vector = duckdb_data_chunk_get_vector(in, i);
		if (is_nested(vector)) {
			vector = copies[i] = flat(vector, rows);
		}
		fill(&arguments[i], duckdb_vector_get_column_type(vector), vector);
	}
	type_node(&result, duckdb_vector_get_column_type(out));
	duckdb_vector_ensure_validity_writable(out);
	set_vector(&result, out);
	char *error = skuaCast(code, arguments, count, rows, &result);
	if (error) {
		duckdb_scalar_function_set_error(info, error);
		free(error);
	}
	for (idx_t i = 0; i < count; i++) {
		drop(&arguments[i]);
		if (copies[i]) {
			duckdb_destroy_vector(&copies[i]);
		}
	}
	drop(&result);
	free(arguments);
	free(copies);
}

static void cast_bind(duckdb_bind_info info) {
	int code = *(int *)duckdb_scalar_function_bind_get_extra_info(info);
	idx_t count = duckdb_scalar_function_bind_get_argument_count(info);
	skua_node *arguments = calloc(count + 1, sizeof *arguments);
	for (idx_t i = 0; i < count; i++) {
		duckdb_expression argument = duckdb_scalar_function_bind_get_argument(info, i);
		duckdb_logical_type type = argument ? duckdb_expression_return_type(argument) : NULL;
		if (type) { // a subquery has none yet: it is judged once it has
			fill(&arguments[i], type, NULL);
		} else {
			arguments[i].type = SKUA_UNJUDGED;
		}
		if (argument) {
			duckdb_destroy_expression(&argument);
		}
	}
	char *error = skuaCastBind(code, arguments, count);
	if (error) {
		duckdb_scalar_function_bind_set_error(info, error);
		free(error);
	}
	for (idx_t i = 0; i < count; i++) {
		drop(&arguments[i]);
	}
	free(arguments);
}

void skua_assign_texts(duckdb_vector out, const char *bytes, const int64_t *ends, const char *valid, idx_t rows) {
	int64_t from = 0;
	for (idx_t i = 0; i < rows; i++) {
		if (valid[i]) {
			duckdb_vector_assign_string_element_len(out, i, bytes + from, ends[i] - from);
		}
		from = ends[i];
	}
}

bool skua_add_cast(duckdb_connection connection, const char *name, int code, int *types, idx_t parameters, int result, int scale) {
	duckdb_scalar_function function = duckdb_create_scalar_function();
	int *info = malloc(sizeof *info);
	*info = code;
	duckdb_scalar_function_set_name(function, name);
	for (idx_t i = 0; i < parameters; i++) {
		duckdb_logical_type type = duckdb_create_logical_type(types[i]);
		duckdb_scalar_function_add_parameter(function, type);
		duckdb_destroy_logical_type(&type);
	}
	duckdb_logical_type type = result == DECIMAL ? duckdb_create_decimal_type(38, scale) : duckdb_create_logical_type(result);
	duckdb_scalar_function_set_return_type(function, type);
	duckdb_destroy_logical_type(&type);
	duckdb_scalar_function_set_special_handling(function);
	duckdb_scalar_function_set_extra_info(function, info, free);
	duckdb_scalar_function_set_bind(function, cast_bind);
	duckdb_scalar_function_set_function(function, cast_call);
	if (result != VARCHAR) { // which everything can be written as
		skua_fallible(function);
	}
	bool ok = !duckdb_register_scalar_function(connection, function);
	duckdb_destroy_scalar_function(&function);
	return ok;
}
