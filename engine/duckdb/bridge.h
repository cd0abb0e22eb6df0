// Declarations of the C interface that the engine is driven through, and of the table function by which it reads a source. The names and
// signatures are those of DuckDB 1.5's C API; only what is used stands here.
#ifndef SKUA_BRIDGE_H
#define SKUA_BRIDGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

typedef uint64_t idx_t;
typedef int duckdb_state; // 0: success
typedef void *duckdb_database;
typedef void *duckdb_connection;
typedef void *duckdb_config;
typedef void *duckdb_prepared_statement;
typedef void *duckdb_pending_result;
typedef void *duckdb_data_chunk;
typedef void *duckdb_vector;
typedef void *duckdb_logical_type;
typedef void *duckdb_value;
typedef void *duckdb_error_data;
typedef void *duckdb_arrow_options;
typedef void *duckdb_arrow_converted_schema;
typedef void *duckdb_table_function;
typedef void *duckdb_bind_info;
typedef void *duckdb_init_info;
typedef void *duckdb_function_info;
typedef void *duckdb_scalar_function;
typedef void *duckdb_scalar_function_set;
typedef void *duckdb_cast_function;
typedef void *duckdb_selection_vector;
typedef void *duckdb_expression;

typedef struct {
	idx_t column_count, row_count, rows_changed;
	void *columns;
	char *error_message;
	void *internal_data;
} duckdb_result;

// The Arrow C data interface.
struct ArrowSchema {
	const char *format, *name, *metadata;
	int64_t flags, n_children;
	struct ArrowSchema **children, *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};
struct ArrowArray {
	int64_t length, null_count, offset, n_buffers, n_children;
	const void **buffers;
	struct ArrowArray **children, *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};

duckdb_state duckdb_open_ext(const char *path, duckdb_database *out, duckdb_config config, char **error);
void duckdb_close(duckdb_database *database);
duckdb_state duckdb_connect(duckdb_database database, duckdb_connection *out);
void duckdb_disconnect(duckdb_connection *connection);
void duckdb_interrupt(duckdb_connection connection);
duckdb_state duckdb_create_config(duckdb_config *out);
duckdb_state duckdb_set_config(duckdb_config config, const char *name, const char *option);
void duckdb_destroy_config(duckdb_config *config);
duckdb_state duckdb_query(duckdb_connection connection, const char *query, duckdb_result *out);
void duckdb_destroy_result(duckdb_result *result);
const char *duckdb_result_error(duckdb_result *result);
int duckdb_result_error_type(duckdb_result *result);
char *duckdb_value_varchar(duckdb_result *result, idx_t column, idx_t row);
idx_t duckdb_row_count(duckdb_result *result);
duckdb_state duckdb_prepare(duckdb_connection connection, const char *query, duckdb_prepared_statement *out);
void duckdb_destroy_prepare(duckdb_prepared_statement *statement);
const char *duckdb_prepare_error(duckdb_prepared_statement statement);
idx_t duckdb_nparams(duckdb_prepared_statement statement);
int duckdb_param_type(duckdb_prepared_statement statement, idx_t index);
duckdb_logical_type duckdb_param_logical_type(duckdb_prepared_statement statement, idx_t index);
idx_t duckdb_prepared_statement_column_count(duckdb_prepared_statement statement);
const char *duckdb_prepared_statement_column_name(duckdb_prepared_statement statement, idx_t index);
duckdb_logical_type duckdb_prepared_statement_column_logical_type(duckdb_prepared_statement statement, idx_t index);
duckdb_state duckdb_pending_prepared_streaming(duckdb_prepared_statement statement, duckdb_pending_result *out);
void duckdb_destroy_pending(duckdb_pending_result *pending);
const char *duckdb_pending_error(duckdb_pending_result pending);
duckdb_state duckdb_execute_pending(duckdb_pending_result pending, duckdb_result *out);
duckdb_data_chunk duckdb_fetch_chunk(duckdb_result result);
void duckdb_destroy_data_chunk(duckdb_data_chunk *chunk);
idx_t duckdb_data_chunk_get_size(duckdb_data_chunk chunk);
void duckdb_data_chunk_set_size(duckdb_data_chunk chunk, idx_t size);
duckdb_vector duckdb_data_chunk_get_vector(duckdb_data_chunk chunk, idx_t column);
duckdb_logical_type duckdb_vector_get_column_type(duckdb_vector vector);
void *duckdb_vector_get_data(duckdb_vector vector);
uint64_t *duckdb_vector_get_validity(duckdb_vector vector);
void duckdb_vector_ensure_validity_writable(duckdb_vector vector);
void duckdb_vector_reference_vector(duckdb_vector to, duckdb_vector from);
idx_t duckdb_vector_size(void);
duckdb_logical_type duckdb_create_logical_type(int type);
int duckdb_get_type_id(duckdb_logical_type type);
void duckdb_destroy_logical_type(duckdb_logical_type *type);
void duckdb_connection_get_arrow_options(duckdb_connection connection, duckdb_arrow_options *out);
void duckdb_destroy_arrow_options(duckdb_arrow_options *options);
duckdb_error_data duckdb_to_arrow_schema(duckdb_arrow_options options, duckdb_logical_type *types, const char **names, idx_t count,
                                         struct ArrowSchema *out);
duckdb_error_data duckdb_data_chunk_to_arrow(duckdb_arrow_options options, duckdb_data_chunk chunk, struct ArrowArray *out);
duckdb_error_data duckdb_schema_from_arrow(duckdb_connection connection, struct ArrowSchema *schema, duckdb_arrow_converted_schema *out);
duckdb_error_data duckdb_data_chunk_from_arrow(duckdb_connection connection, struct ArrowArray *array, duckdb_arrow_converted_schema schema,
                                               duckdb_data_chunk *out);
void duckdb_destroy_arrow_converted_schema(duckdb_arrow_converted_schema *schema);
const char *duckdb_error_data_message(duckdb_error_data error);
bool duckdb_error_data_has_error(duckdb_error_data error);
void duckdb_destroy_error_data(duckdb_error_data *error);
void duckdb_free(void *memory);
const char *duckdb_library_version(void);

duckdb_table_function duckdb_create_table_function(void);
void duckdb_destroy_table_function(duckdb_table_function *function);
void duckdb_table_function_set_name(duckdb_table_function function, const char *name);
void duckdb_table_function_add_parameter(duckdb_table_function function, duckdb_logical_type type);
void duckdb_table_function_set_extra_info(duckdb_table_function function, void *info, void (*destroy)(void *));
void duckdb_table_function_set_bind(duckdb_table_function function, void (*bind)(duckdb_bind_info));
void duckdb_table_function_set_init(duckdb_table_function function, void (*init)(duckdb_init_info));
void duckdb_table_function_set_local_init(duckdb_table_function function, void (*init)(duckdb_init_info));
void duckdb_table_function_set_function(duckdb_table_function function, void (*scan)(duckdb_function_info, duckdb_data_chunk));
void duckdb_table_function_supports_projection_pushdown(duckdb_table_function function, bool pushdown);
duckdb_state duckdb_register_table_function(duckdb_connection connection, duckdb_table_function function);
void *duckdb_bind_get_extra_info(duckdb_bind_info info);
duckdb_value duckdb_bind_get_parameter(duckdb_bind_info info, idx_t index);
void duckdb_bind_add_result_column(duckdb_bind_info info, const char *name, duckdb_logical_type type);
void duckdb_bind_set_bind_data(duckdb_bind_info info, void *data, void (*destroy)(void *));
void duckdb_bind_set_cardinality(duckdb_bind_info info, idx_t rows, bool exact);
void duckdb_bind_set_error(duckdb_bind_info info, const char *error);
int64_t duckdb_get_int64(duckdb_value value);
void duckdb_destroy_value(duckdb_value *value);
void *duckdb_init_get_extra_info(duckdb_init_info info);
void *duckdb_init_get_bind_data(duckdb_init_info info);
void duckdb_init_set_init_data(duckdb_init_info info, void *data, void (*destroy)(void *));
idx_t duckdb_init_get_column_count(duckdb_init_info info);
idx_t duckdb_init_get_column_index(duckdb_init_info info, idx_t index);
void duckdb_init_set_max_threads(duckdb_init_info info, idx_t threads);
void duckdb_init_set_error(duckdb_init_info info, const char *error);
void *duckdb_function_get_bind_data(duckdb_function_info info);
void *duckdb_function_get_init_data(duckdb_function_info info);
void *duckdb_function_get_local_init_data(duckdb_function_info info);
void duckdb_function_set_error(duckdb_function_info info, const char *error);

duckdb_logical_type duckdb_create_struct_type(duckdb_logical_type *types, const char **names, idx_t count);
idx_t duckdb_data_chunk_get_column_count(duckdb_data_chunk chunk);
duckdb_scalar_function duckdb_create_scalar_function(void);
void duckdb_destroy_scalar_function(duckdb_scalar_function *function);
void duckdb_scalar_function_set_name(duckdb_scalar_function function, const char *name);
void duckdb_scalar_function_set_varargs(duckdb_scalar_function function, duckdb_logical_type type);
void duckdb_scalar_function_set_special_handling(duckdb_scalar_function function);
void duckdb_scalar_function_set_volatile(duckdb_scalar_function scalar_function);
void duckdb_scalar_function_add_parameter(duckdb_scalar_function function, duckdb_logical_type type);
void duckdb_scalar_function_set_return_type(duckdb_scalar_function function, duckdb_logical_type type);
void duckdb_scalar_function_set_extra_info(duckdb_scalar_function function, void *info, void (*destroy)(void *));
void duckdb_scalar_function_set_function(duckdb_scalar_function function, void (*call)(duckdb_function_info, duckdb_data_chunk, duckdb_vector));
void *duckdb_scalar_function_get_extra_info(duckdb_function_info info);
void duckdb_scalar_function_set_error(duckdb_function_info info, const char *error);
duckdb_scalar_function_set duckdb_create_scalar_function_set(const char *name);
void duckdb_destroy_scalar_function_set(duckdb_scalar_function_set *set);
duckdb_state duckdb_add_scalar_function_to_set(duckdb_scalar_function_set set, duckdb_scalar_function function);
duckdb_state duckdb_register_scalar_function_set(duckdb_connection connection, duckdb_scalar_function_set set);

void *duckdb_vector_get_data(duckdb_vector vector);
uint64_t *duckdb_vector_get_validity(duckdb_vector vector);
void duckdb_vector_ensure_validity_writable(duckdb_vector vector);
void duckdb_vector_assign_string_element_len(duckdb_vector vector, idx_t index, const char *text, idx_t length);
char *duckdb_logical_type_get_alias(duckdb_logical_type type);
void duckdb_logical_type_set_alias(duckdb_logical_type type, const char *alias);
duckdb_logical_type duckdb_create_list_type(duckdb_logical_type type);
duckdb_logical_type duckdb_create_map_type(duckdb_logical_type key, duckdb_logical_type value);
duckdb_logical_type duckdb_list_type_child_type(duckdb_logical_type type);
duckdb_logical_type duckdb_map_type_key_type(duckdb_logical_type type);
duckdb_logical_type duckdb_map_type_value_type(duckdb_logical_type type);
idx_t duckdb_struct_type_child_count(duckdb_logical_type type);
duckdb_logical_type duckdb_struct_type_child_type(duckdb_logical_type type, idx_t index);
duckdb_state duckdb_register_logical_type(duckdb_connection connection, duckdb_logical_type type, void *info);
duckdb_vector duckdb_struct_vector_get_child(duckdb_vector vector, idx_t index);
duckdb_vector duckdb_list_vector_get_child(duckdb_vector vector);
idx_t duckdb_list_vector_get_size(duckdb_vector vector);
duckdb_state duckdb_list_vector_set_size(duckdb_vector vector, idx_t size);
duckdb_state duckdb_list_vector_reserve(duckdb_vector vector, idx_t capacity);
duckdb_cast_function duckdb_create_cast_function(void);
void duckdb_cast_function_set_source_type(duckdb_cast_function function, duckdb_logical_type type);
void duckdb_cast_function_set_target_type(duckdb_cast_function function, duckdb_logical_type type);
void duckdb_cast_function_set_implicit_cast_cost(duckdb_cast_function function, int64_t cost);
void duckdb_cast_function_set_function(duckdb_cast_function function, bool (*cast)(duckdb_function_info, idx_t, duckdb_vector, duckdb_vector));
void duckdb_cast_function_set_error(duckdb_function_info info, const char *error);
void duckdb_cast_function_set_row_error(duckdb_function_info info, const char *error, idx_t row, duckdb_vector output);
duckdb_state duckdb_register_cast_function(duckdb_connection connection, duckdb_cast_function function);
void duckdb_destroy_cast_function(duckdb_cast_function *function);

uint8_t duckdb_decimal_width(duckdb_logical_type type);
uint8_t duckdb_decimal_scale(duckdb_logical_type type);
duckdb_logical_type duckdb_create_decimal_type(uint8_t width, uint8_t scale);
int duckdb_enum_internal_type(duckdb_logical_type type);
char *duckdb_enum_dictionary_value(duckdb_logical_type type, idx_t index);
duckdb_logical_type duckdb_array_type_child_type(duckdb_logical_type type);
idx_t duckdb_array_type_array_size(duckdb_logical_type type);
char *duckdb_struct_type_child_name(duckdb_logical_type type, idx_t index);
duckdb_vector duckdb_array_vector_get_child(duckdb_vector vector);
duckdb_vector duckdb_create_vector(duckdb_logical_type type, idx_t capacity);
void duckdb_destroy_vector(duckdb_vector *vector);
duckdb_selection_vector duckdb_create_selection_vector(idx_t size);
void duckdb_destroy_selection_vector(duckdb_selection_vector selection);
uint32_t *duckdb_selection_vector_get_data_ptr(duckdb_selection_vector selection);
void duckdb_vector_copy_sel(duckdb_vector from, duckdb_vector to, duckdb_selection_vector selection, idx_t count, idx_t from_offset, idx_t to_offset);
void duckdb_scalar_function_set_bind(duckdb_scalar_function function, void (*bind)(duckdb_bind_info));
void *duckdb_scalar_function_bind_get_extra_info(duckdb_bind_info info);
idx_t duckdb_scalar_function_bind_get_argument_count(duckdb_bind_info info);
duckdb_expression duckdb_scalar_function_bind_get_argument(duckdb_bind_info info, idx_t index);
void duckdb_scalar_function_bind_set_error(duckdb_bind_info info, const char *error);
duckdb_logical_type duckdb_expression_return_type(duckdb_expression expression);
void duckdb_destroy_expression(duckdb_expression *expression);
duckdb_state duckdb_register_scalar_function(duckdb_connection connection, duckdb_scalar_function function);

// The type of a variant, besides the engine's numbers.
#define SKUA_VARIANT (-1)

// skua_fallible says of a function that it may fail, so that the conditions in front of it are evaluated first; false: it cannot be said.
bool skua_fallible(duckdb_scalar_function function);

// skua_add_function adds a function of ours to a set: code is its number in Go, types are its parameters' and its result's; with varargs any
// more arguments may follow.
bool skua_add_function(duckdb_database database, duckdb_scalar_function_set set, int code, int *types, idx_t parameters, bool varargs, bool is_volatile);

// skua_register makes the table function skua_scan(id) known to the database behind connection. threads is how many may convert at once.
bool skua_register(duckdb_database database, duckdb_connection connection, idx_t threads);

// How a column of a source comes into the engine: converted by the engine, or written by us.
enum { SKUA_OTHER, SKUA_TEXT, SKUA_DECIMAL16, SKUA_DECIMAL32, SKUA_DECIMAL64 };

// skua_vector_kind says which of them a column of a batch is.
int skua_vector_kind(const struct ArrowSchema *column);

// skua_write_vector writes n values, which live on while the vector does; false: a decimal has more digits than its type.
bool skua_write_vector(int kind, const struct ArrowArray *a, int64_t n, duckdb_vector to);

// skua_statement_schema gives the result's columns, or with parameters its parameters, as an Arrow schema. The error is to be freed.
char *skua_statement_schema(duckdb_connection connection, duckdb_prepared_statement statement, bool parameters, struct ArrowSchema *out);

// skua_chunk_to_arrow converts and destroys a chunk. The error is to be freed.
char *skua_chunk_to_arrow(duckdb_arrow_options options, duckdb_data_chunk chunk, struct ArrowArray *out);

// SKUA_NANOS names the type of timestamps in nanoseconds without a zone, SKUA_ZONED that of those with one. Their values are those of TIMESTAMP_NS, in UTC.
// The engine has no such type with a zone, and its own one without has casts that cannot be replaced.
#define SKUA_NANOS "timestamp_ntz_ns"
#define SKUA_ZONED "timestamptz_ns"

// SKUA_ZONE_KEY is in the metadata of a source's fields of these types, with the zone.
#define SKUA_ZONE_KEY "skua.zone"

// The numbers of these types, besides the engine's.
#define SKUA_ZONED_TYPE (-2)
#define SKUA_NANOS_TYPE (-3)

duckdb_logical_type skua_nanos_type(int number);

// skua_add_casts gives the database behind connection casts of these types.
bool skua_add_casts(duckdb_connection connection);

// skua_declared gives the type of a source's column, by the metadata in its schema, and destroys the given one.
duckdb_logical_type skua_declared(duckdb_logical_type type, const struct ArrowSchema *schema);

// skua_reference gives a column of such a type the values of in, shared where the types are the engine's own.
void skua_reference(duckdb_vector out, duckdb_vector in, idx_t count, const struct ArrowSchema *schema);

// skua_name_zones gives the columns of a schema, made of these types, the zones that the engine does not know of.
void skua_name_zones(duckdb_logical_type *types, struct ArrowSchema *schema);

// The number of a type that is not known while a statement is bound.
#define SKUA_UNJUDGED (-4)

// A part of an argument: its type, and its values where there are any.
typedef struct skua_node {
	int type, width, scale; // the engine's number; of decimals. The width of an enumeration is the type of its numbers, that of an array its length
	bool zoned;             // a timestamp in nanoseconds that is an instant
	char *name;             // of a struct's field
	void *data;
	uint64_t *valid; // NULL: all are
	duckdb_vector vector;
	duckdb_logical_type logical;
	idx_t count;
	struct skua_node *children; // of a map its keys and its values
} skua_node;

// skua_add_cast makes a function known that Go calls by a code. Results that are decimals have 38 digits.
bool skua_add_cast(duckdb_connection connection, const char *name, int code, int *types, idx_t parameters, int result, int scale);

// skua_assign_texts gives a vector texts that lie behind each other.
void skua_assign_texts(duckdb_vector out, const char *bytes, const int64_t *ends, const char *valid, idx_t rows);

#endif
