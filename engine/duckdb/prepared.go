//go:build cgo

package duckdb

// #include "bridge.h"
import "C"

import (
	"strings"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/cdata"

	"github.com/skua-data/skua/fault"
)

// prepared is a statement that the engine has bound. Its connection runs nothing else meanwhile.
type prepared struct {
	connection *connection
	handle     C.duckdb_prepared_statement
}

func (c *connection) prepare(sql string) (*prepared, error) {
	if strings.ContainsRune(sql, 0) {
		return nil, fault.New(fault.Invalid, "the statement holds a NUL character")
	}
	text := C.CString(sql)
	defer C.free(unsafe.Pointer(text))
	p := &prepared{connection: c}
	if C.duckdb_prepare(c.handle, text, &p.handle) != 0 {
		defer p.close()
		return nil, engineError(C.GoString(C.duckdb_prepare_error(p.handle)), 0)
	}
	return p, nil
}

func (p *prepared) close() { C.duckdb_destroy_prepare(&p.handle) }

// columns gives the result's columns as the engine exports them; types has the engine's number of each column's type.
func (p *prepared) columns() (columns *arrow.Schema, types []int, err error) {
	if columns, err = p.schema(false); err != nil {
		return nil, nil, err
	}
	for i := range columns.NumFields() {
		types = append(types, p.columnType(C.idx_t(i)))
	}
	return columns, types, nil
}

// columnType gives the engine's number of a column's type.
func (p *prepared) columnType(i C.idx_t) int {
	t := C.duckdb_prepared_statement_column_logical_type(p.handle, i)
	defer C.duckdb_destroy_logical_type(&t)
	return int(C.duckdb_get_type_id(t))
}

// undecided tells of a column whose type hangs on a parameter without one.
func (p *prepared) undecided() bool {
	for i := range C.duckdb_prepared_statement_column_count(p.handle) {
		if p.columnType(i) == typeInvalid {
			return true
		}
	}
	return false
}

// parameters gives the parameters, those without a type as null.
func (p *prepared) parameters() (*arrow.Schema, error) { return p.schema(true) }

func (p *prepared) schema(parameters bool) (*arrow.Schema, error) {
	schema := (*C.struct_ArrowSchema)(C.calloc(1, C.sizeof_struct_ArrowSchema))
	defer C.free(unsafe.Pointer(schema))
	if problem := C.skua_statement_schema(p.connection.handle, p.handle, C.bool(parameters), schema); problem != nil {
		return nil, taken(problem)
	}
	out, err := cdata.ImportCArrowSchema((*cdata.CArrowSchema)(unsafe.Pointer(schema)))
	if err != nil {
		return nil, fault.New(fault.Internal, "read the columns of the SQL engine: %w", err)
	}
	return out, nil
}

// chunks is a running statement. It is for one goroutine, which closes it.
type chunks struct {
	result  C.duckdb_result
	options C.duckdb_arrow_options
	schema  *arrow.Schema
}

// run starts the statement and returns when its first rows are there.
func (p *prepared) run(schema *arrow.Schema) (*chunks, error) {
	var pending C.duckdb_pending_result
	defer C.duckdb_destroy_pending(&pending)
	if C.duckdb_pending_prepared_streaming(p.handle, &pending) != 0 {
		return nil, engineError(C.GoString(C.duckdb_pending_error(pending)), 0)
	}
	out := &chunks{schema: schema}
	if C.duckdb_execute_pending(pending, &out.result) != 0 {
		defer C.duckdb_destroy_result(&out.result)
		return nil, engineError(C.GoString(C.duckdb_result_error(&out.result)), int(C.duckdb_result_error_type(&out.result)))
	}
	C.duckdb_connection_get_arrow_options(p.connection.handle, &out.options)
	return out, nil
}

// next gives the next rows, nil at the end. The caller releases them.
func (c *chunks) next() (arrow.RecordBatch, error) {
	chunk := C.duckdb_fetch_chunk(c.result)
	if chunk == nil {
		if problem := C.duckdb_result_error(&c.result); problem != nil && *problem != 0 {
			return nil, engineError(C.GoString(problem), int(C.duckdb_result_error_type(&c.result)))
		}
		return nil, nil
	}
	array := (*C.struct_ArrowArray)(C.calloc(1, C.sizeof_struct_ArrowArray))
	defer C.free(unsafe.Pointer(array))
	if problem := C.skua_chunk_to_arrow(c.options, chunk, array); problem != nil {
		return nil, taken(problem)
	}
	out, err := cdata.ImportCRecordBatchWithSchema((*cdata.CArrowArray)(unsafe.Pointer(array)), c.schema)
	if err != nil {
		return nil, fault.New(fault.Internal, "read rows of the SQL engine: %w", err)
	}
	return out, nil
}

// close ends the statement.
func (c *chunks) close() {
	C.duckdb_destroy_arrow_options(&c.options)
	C.duckdb_destroy_result(&c.result)
}

// taken makes an error of a message and frees it.
func taken(problem *C.char) error {
	defer C.free(unsafe.Pointer(problem))
	return engineError(C.GoString(problem), 0)
}
