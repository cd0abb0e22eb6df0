//go:build cgo

// The table function by which the engine reads a source. Threads: binding and opening happen on the thread that prepares or starts a
// statement, scanning on the engine's own workers. A reader is pulled by one worker at a time, under its lock; each worker converts the batch
// it pulled in slices of a vector's length, which share the batch's memory. A batch lives until its worker asks for the next one.
#include "bridge.h"

#include <pthread.h>
#include <string.h>

// Implemented in Go. An error is a string to be freed, NULL: none.
extern char *skuaBind(uint64_t id, struct ArrowSchema *schema, struct ArrowArray *empty, uint64_t *rows, char *exact);
extern char *skuaOpen(uint64_t id, uint64_t *columns, uint64_t count, struct ArrowSchema *schema, uint64_t *reader);
extern char *skuaNext(uint64_t reader, struct ArrowArray *batch);
extern char *skuaWanted(uint64_t reader);
extern void skuaClose(uint64_t reader);

typedef struct {
	duckdb_database database;
	idx_t threads;
} function_info;

typedef struct {
	uint64_t id;
} bind_data;

typedef struct {
	pthread_mutex_t lock;
	bool done;
	uint64_t reader; // 0: none
	idx_t columns, others; // others: those that the engine converts
	int *kinds;            // by column
	duckdb_connection helper;
	duckdb_arrow_converted_schema schema; // of the others
	struct ArrowSchema source;            // of all
} scan_state;

typedef struct {
	struct ArrowArray batch; // release NULL: none
	int64_t offset;
	idx_t columns;
	struct ArrowArray root, *slices, **pointers; // pointers: to those that the engine converts
} worker_state;

static void keep(struct ArrowArray *array) { array->release = NULL; }

static void keep_schema(struct ArrowSchema *schema) { schema->release = NULL; }

static void release_array(struct ArrowArray *array) {
	if (array->release) {
		array->release(array);
	}
	array->release = NULL;
}

static void release_schema(struct ArrowSchema *schema) {
	if (schema->release) {
		schema->release(schema);
	}
	schema->release = NULL;
}

// take gives the message of an error and destroys it; NULL: none.
static char *take(duckdb_error_data error) {
	char *message = NULL;
	if (!error) {
		return NULL;
	}
	if (duckdb_error_data_has_error(error)) {
		message = strdup(duckdb_error_data_message(error));
	}
	duckdb_destroy_error_data(&error);
	return message;
}

// add_columns declares the source's columns with the types that an empty batch converts to.
static char *add_columns(duckdb_bind_info info, duckdb_connection helper, struct ArrowSchema *schema, struct ArrowArray *empty) {
	duckdb_arrow_converted_schema converted = NULL;
	duckdb_data_chunk chunk = NULL;
	char *error = take(duckdb_schema_from_arrow(helper, schema, &converted));
	if (!error) {
		error = take(duckdb_data_chunk_from_arrow(helper, empty, converted, &chunk));
	}
	for (int64_t i = 0; !error && i < schema->n_children; i++) {
		duckdb_logical_type type = skua_declared(duckdb_vector_get_column_type(duckdb_data_chunk_get_vector(chunk, i)), schema->children[i]);
		duckdb_bind_add_result_column(info, schema->children[i]->name, type);
		duckdb_destroy_logical_type(&type);
	}
	if (chunk) {
		duckdb_destroy_data_chunk(&chunk);
	}
	if (converted) {
		duckdb_destroy_arrow_converted_schema(&converted);
	}
	return error;
}

static void scan_bind(duckdb_bind_info info) {
	function_info *f = duckdb_bind_get_extra_info(info);
	struct ArrowSchema schema = {0};
	struct ArrowArray empty = {0};
	duckdb_connection helper = NULL;
	uint64_t rows = 0;
	char exact = 0;
	duckdb_value value = duckdb_bind_get_parameter(info, 0);
	uint64_t id = (uint64_t)duckdb_get_int64(value);
	duckdb_destroy_value(&value);
	char *error = skuaBind(id, &schema, &empty, &rows, &exact);
	if (!error && duckdb_connect(f->database, &helper)) {
		error = strdup("no connection to convert with");
	}
	if (!error) {
		error = add_columns(info, helper, &schema, &empty);
	}
	if (error) {
		duckdb_bind_set_error(info, error);
		free(error);
	} else {
		bind_data *data = malloc(sizeof *data);
		data->id = id;
		duckdb_bind_set_bind_data(info, data, free);
		duckdb_bind_set_cardinality(info, rows, exact);
	}
	if (helper) {
		duckdb_disconnect(&helper);
	}
	release_array(&empty);
	release_schema(&schema);
}

static void scan_destroy(void *pointer) {
	scan_state *s = pointer;
	if (s->reader) {
		skuaClose(s->reader);
	}
	if (s->schema) {
		duckdb_destroy_arrow_converted_schema(&s->schema);
	}
	if (s->helper) {
		duckdb_disconnect(&s->helper);
	}
	release_schema(&s->source);
	pthread_mutex_destroy(&s->lock);
	free(s->kinds);
	free(s);
}

// sort_columns says which columns the engine converts, and has it read their types.
static char *sort_columns(scan_state *s, struct ArrowSchema *schema) {
	s->kinds = calloc(s->columns + 1, sizeof *s->kinds);
	struct ArrowSchema others = *schema, **children = calloc(s->columns + 1, sizeof *children);
	for (idx_t i = 0; i < s->columns; i++) {
		s->kinds[i] = skua_vector_kind(schema->children[i]);
		if (s->kinds[i] == SKUA_OTHER) {
			children[s->others++] = schema->children[i];
		}
	}
	others.children = children;
	others.n_children = (int64_t)s->others;
	others.release = keep_schema;
	char *error = s->others ? take(duckdb_schema_from_arrow(s->helper, &others, &s->schema)) : NULL;
	free(children);
	return error;
}

static void scan_init(duckdb_init_info info) {
	function_info *f = duckdb_init_get_extra_info(info);
	bind_data *b = duckdb_init_get_bind_data(info);
	scan_state *s = calloc(1, sizeof *s);
	pthread_mutex_init(&s->lock, NULL);
	s->columns = duckdb_init_get_column_count(info);
	uint64_t *columns = calloc(s->columns + 1, sizeof *columns);
	for (idx_t i = 0; i < s->columns; i++) {
		columns[i] = duckdb_init_get_column_index(info, i);
	}
	char *error = skuaOpen(b->id, columns, s->columns, &s->source, &s->reader);
	free(columns);
	if (!error && duckdb_connect(f->database, &s->helper)) {
		error = strdup("no connection to convert with");
	}
	if (!error) {
		error = sort_columns(s, &s->source);
	}
	duckdb_init_set_init_data(info, s, scan_destroy);
	if (error) {
		duckdb_init_set_error(info, error);
		free(error);
		return;
	}
	duckdb_init_set_max_threads(info, f->threads);
}

static void worker_destroy(void *pointer) {
	worker_state *w = pointer;
	release_array(&w->batch);
	free(w->slices);
	free(w->pointers);
	free(w);
}

static void worker_init(duckdb_init_info info) {
	worker_state *w = calloc(1, sizeof *w);
	w->columns = duckdb_init_get_column_count(info);
	w->slices = calloc(w->columns + 1, sizeof *w->slices);
	w->pointers = calloc(w->columns + 1, sizeof *w->pointers);
	duckdb_init_set_init_data(info, w, worker_destroy);
}

// pull makes w's batch one with rows left; false: there is none, or error is set.
static bool pull(scan_state *s, worker_state *w, char **error) {
	while (!w->batch.release || w->offset >= w->batch.length) {
		release_array(&w->batch);
		w->offset = 0;
		pthread_mutex_lock(&s->lock);
		if (!s->done) {
			*error = skuaNext(s->reader, &w->batch);
			s->done = *error || !w->batch.release;
		}
		pthread_mutex_unlock(&s->lock);
		if (*error || !w->batch.release) {
			return false;
		}
	}
	if (w->offset > 0) { // the engine itself looks at interruptions once in many vectors
		*error = skuaWanted(s->reader);
	}
	return !*error;
}

// slice views n rows of the batch from its offset on. The view owns nothing.
static void slice(scan_state *s, worker_state *w, int64_t n) {
	idx_t others = 0;
	for (idx_t i = 0; i < w->columns; i++) {
		w->slices[i] = *w->batch.children[i];
		w->slices[i].offset += w->offset;
		w->slices[i].length = n;
		if (w->slices[i].null_count != 0) {
			w->slices[i].null_count = -1;
		}
		if (s->kinds[i] == SKUA_OTHER) {
			w->pointers[others++] = &w->slices[i];
		}
	}
	w->root = w->batch;
	w->root.length = n;
	w->root.children = w->pointers;
	w->root.n_children = (int64_t)others;
	w->root.release = keep;
}

static void scan_next(duckdb_function_info info, duckdb_data_chunk out) {
	scan_state *s = duckdb_function_get_init_data(info);
	worker_state *w = duckdb_function_get_local_init_data(info);
	char *error = NULL;
	duckdb_data_chunk chunk = NULL;
	if (!pull(s, w, &error)) {
		if (error) {
			duckdb_function_set_error(info, error);
			free(error);
		}
		duckdb_data_chunk_set_size(out, 0);
		return;
	}
	int64_t n = w->batch.length - w->offset, most = (int64_t)duckdb_vector_size();
	if (n > most) {
		n = most;
	}
	slice(s, w, n);
	if (s->others && (error = take(duckdb_data_chunk_from_arrow(s->helper, &w->root, s->schema, &chunk)))) {
		duckdb_function_set_error(info, error);
		free(error);
		return;
	}
	idx_t other = 0;
	for (idx_t i = 0; i < w->columns; i++) {
		duckdb_vector to = duckdb_data_chunk_get_vector(out, i);
		if (s->kinds[i] == SKUA_OTHER) {
			skua_reference(to, duckdb_data_chunk_get_vector(chunk, other++), n, s->source.children[i]);
		} else if (!skua_write_vector(s->kinds[i], &w->slices[i], n, to)) {
			error = "a value of a decimal column has more digits than its type";
		}
	}
	if (chunk) {
		duckdb_destroy_data_chunk(&chunk);
	}
	if (error) {
		duckdb_function_set_error(info, error);
		return;
	}
	duckdb_data_chunk_set_size(out, n);
	w->offset += n;
}

bool skua_register(duckdb_database database, duckdb_connection connection, idx_t threads) {
	duckdb_table_function function = duckdb_create_table_function();
	duckdb_logical_type bigint = duckdb_create_logical_type(5);
	function_info *info = malloc(sizeof *info);
	info->database = database;
	info->threads = threads;
	duckdb_table_function_set_name(function, "skua_scan");
	duckdb_table_function_add_parameter(function, bigint);
	duckdb_table_function_set_extra_info(function, info, free);
	duckdb_table_function_set_bind(function, scan_bind);
	duckdb_table_function_set_init(function, scan_init);
	duckdb_table_function_set_local_init(function, worker_init);
	duckdb_table_function_set_function(function, scan_next);
	duckdb_table_function_supports_projection_pushdown(function, true);
	bool ok = !duckdb_register_table_function(connection, function);
	duckdb_destroy_logical_type(&bigint);
	duckdb_destroy_table_function(&function);
	return ok;
}

char *skua_statement_schema(duckdb_connection connection, duckdb_prepared_statement statement, bool parameters, struct ArrowSchema *out) {
	idx_t count = parameters ? duckdb_nparams(statement) : duckdb_prepared_statement_column_count(statement);
	duckdb_logical_type *types = calloc(count + 1, sizeof *types);
	const char **names = calloc(count + 1, sizeof *names);
	for (idx_t i = 0; i < count; i++) {
		if (parameters) {
			types[i] = duckdb_param_type(statement, i + 1) ? duckdb_param_logical_type(statement, i + 1) : duckdb_create_logical_type(36);
			names[i] = "";
		} else {
			types[i] = duckdb_prepared_statement_column_logical_type(statement, i);
			names[i] = duckdb_prepared_statement_column_name(statement, i);
		}
	}
	duckdb_arrow_options options = NULL;
	duckdb_connection_get_arrow_options(connection, &options);
	char *error = take(duckdb_to_arrow_schema(options, types, names, count, out));
	if (!error) {
		skua_name_zones(types, out);
	}
	duckdb_destroy_arrow_options(&options);
	for (idx_t i = 0; i < count; i++) {
		duckdb_destroy_logical_type(&types[i]);
		if (!parameters) {
			duckdb_free((void *)names[i]);
		}
	}
	free(types);
	free(names);
	return error;
}

char *skua_chunk_to_arrow(duckdb_arrow_options options, duckdb_data_chunk chunk, struct ArrowArray *out) {
	char *error = take(duckdb_data_chunk_to_arrow(options, chunk, out));
	duckdb_destroy_data_chunk(&chunk);
	return error;
}
