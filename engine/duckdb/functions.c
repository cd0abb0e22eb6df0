//go:build cgo

// Scalar functions that are written in Go. Arguments and results cross as Arrow arrays. The engine's workers call at the same time.
#include "bridge.h"

#include <string.h>

// Implemented in Go. An error is a string to be freed, NULL: none.
extern char *skuaCall(int code, struct ArrowSchema *schema, struct ArrowArray *arguments, struct ArrowSchema *resultSchema, struct ArrowArray *result);

typedef struct {
	duckdb_database database;
	int code;
} scalar_info;

static char *message(duckdb_error_data error) {
	char *text = NULL;
	if (!error) {
		return NULL;
	}
	if (duckdb_error_data_has_error(error)) {
		text = strdup(duckdb_error_data_message(error));
	}
	duckdb_destroy_error_data(&error);
	return text;
}

// arguments_of exports the arguments with their types.
static char *arguments_of(duckdb_connection helper, duckdb_data_chunk in, struct ArrowSchema *schema, struct ArrowArray *array) {
	idx_t count = duckdb_data_chunk_get_column_count(in);
	duckdb_logical_type *types = calloc(count + 1, sizeof *types);
	const char **names = calloc(count + 1, sizeof *names);
	for (idx_t i = 0; i < count; i++) {
		types[i] = duckdb_vector_get_column_type(duckdb_data_chunk_get_vector(in, i));
		names[i] = "";
	}
	duckdb_arrow_options options = NULL;
	duckdb_connection_get_arrow_options(helper, &options);
	char *error = message(duckdb_to_arrow_schema(options, types, names, count, schema));
	if (!error) {
		skua_name_zones(types, schema);
		error = message(duckdb_data_chunk_to_arrow(options, in, array));
	}
	duckdb_destroy_arrow_options(&options);
	for (idx_t i = 0; i < count; i++) {
		duckdb_destroy_logical_type(&types[i]);
	}
	free(types);
	free(names);
	return error;
}

// give puts an array of one column into the output.
static char *give(duckdb_connection helper, struct ArrowSchema *schema, struct ArrowArray *array, duckdb_vector out) {
	duckdb_arrow_converted_schema converted = NULL;
	duckdb_data_chunk chunk = NULL;
	char *error = message(duckdb_schema_from_arrow(helper, schema, &converted));
	if (!error) {
		error = message(duckdb_data_chunk_from_arrow(helper, array, converted, &chunk));
	}
	if (!error) {
		duckdb_vector_reference_vector(out, duckdb_data_chunk_get_vector(chunk, 0));
	}
	if (chunk) {
		duckdb_destroy_data_chunk(&chunk);
	}
	if (converted) {
		duckdb_destroy_arrow_converted_schema(&converted);
	}
	return error;
}

static void call(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) {
	scalar_info *f = duckdb_scalar_function_get_extra_info(info);
	struct ArrowSchema schema = {0}, result_schema = {0};
	struct ArrowArray array = {0}, result = {0};
	duckdb_connection helper = NULL;
	char *error = duckdb_connect(f->database, &helper) ? strdup("no connection to convert with") : NULL;
	if (!error) {
		error = arguments_of(helper, in, &schema, &array);
	}
	if (!error) {
		error = skuaCall(f->code, &schema, &array, &result_schema, &result);
	}
	if (!error) {
		error = give(helper, &result_schema, &result, out);
	}
	if (error) {
		duckdb_scalar_function_set_error(info, error);
		free(error);
	}
	if (helper) {
		duckdb_disconnect(&helper);
	}
	struct ArrowArray *arrays[] = {&array, &result};
	struct ArrowSchema *schemas[] = {&schema, &result_schema};
	for (int i = 0; i < 2; i++) {
		if (arrays[i]->release) {
			arrays[i]->release(arrays[i]);
		}
		if (schemas[i]->release) {
			schemas[i]->release(schemas[i]);
		}
	}
}

static duckdb_logical_type type_of(int number) {
	if (number == SKUA_VARIANT) {
		duckdb_logical_type blob = duckdb_create_logical_type(18), parts[] = {blob, blob};
		const char *names[] = {"skua_metadata", "skua_value"};
		duckdb_logical_type out = duckdb_create_struct_type(parts, names, 2);
		duckdb_destroy_logical_type(&blob);
		return out;
	}
	return number < 0 ? skua_nanos_type(number) : duckdb_create_logical_type(number);
}

bool skua_add_function(duckdb_database database, duckdb_scalar_function_set set, int code, int *types, idx_t parameters, bool varargs, bool is_volatile) {
	duckdb_scalar_function function = duckdb_create_scalar_function();
	scalar_info *info = malloc(sizeof *info);
	info->database = database;
	info->code = code;
	duckdb_scalar_function_set_name(function, "skua");
	for (idx_t i = 0; i <= parameters; i++) {
		duckdb_logical_type type = type_of(types[i]);
		if (i < parameters) {
			duckdb_scalar_function_add_parameter(function, type);
		} else {
			duckdb_scalar_function_set_return_type(function, type);
		}
		duckdb_destroy_logical_type(&type);
	}
	if (varargs) {
		duckdb_logical_type any = duckdb_create_logical_type(34);
		duckdb_scalar_function_set_varargs(function, any);
		duckdb_destroy_logical_type(&any);
	}
	if (is_volatile) {
		duckdb_scalar_function_set_volatile(function);
	}
	duckdb_scalar_function_set_special_handling(function);
	duckdb_scalar_function_set_extra_info(function, info, free);
	duckdb_scalar_function_set_function(function, call);
	skua_fallible(function);
	bool ok = !duckdb_add_scalar_function_to_set(set, function);
	duckdb_destroy_scalar_function(&function);
	return ok;
}
