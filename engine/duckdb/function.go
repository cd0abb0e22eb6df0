//go:build cgo

package duckdb

// #include "bridge.h"
import "C"

import (
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/cdata"

	"github.com/skua-data/skua/fault"
)

// registerScalars makes our functions known to a database.
func (d *database) registerScalars(c *connection) error {
	if err := c.addStatistics(); err != nil {
		return err
	}
	sets := map[string]C.duckdb_scalar_function_set{}
	defer func() {
		for _, set := range sets {
			C.duckdb_destroy_scalar_function_set(&set)
		}
	}()
	for code, f := range scalars {
		set, ok := sets[f.name]
		if !ok {
			name := C.CString(f.name)
			set = C.duckdb_create_scalar_function_set(name)
			C.free(unsafe.Pointer(name))
			sets[f.name] = set
		}
		types := make([]C.int, 0, len(f.parameters)+1)
		for _, t := range f.parameters {
			types = append(types, C.int(t))
		}
		types = append(types, C.int(f.result))
		if !C.skua_add_function(d.handle, set, C.int(code), &types[0], C.idx_t(len(f.parameters)), C.bool(f.varargs), C.bool(f.volatile)) {
			return fault.New(fault.Internal, "open the SQL engine: the function %s is refused", f.name)
		}
	}
	for name, set := range sets {
		if C.duckdb_register_scalar_function_set(c.handle, set) != 0 {
			return fault.New(fault.Internal, "open the SQL engine: the functions %s are refused", name)
		}
	}
	return registerCasts(c)
}

// skuaCall calls a function of ours.
//
//export skuaCall
func skuaCall(code C.int, schema *C.struct_ArrowSchema, arguments *C.struct_ArrowArray, resultSchema *C.struct_ArrowSchema, result *C.struct_ArrowArray) *C.char {
	return guarded(func() error {
		s, err := cdata.ImportCArrowSchema((*cdata.CArrowSchema)(unsafe.Pointer(schema)))
		if err != nil {
			return err
		}
		batch, err := cdata.ImportCRecordBatchWithSchema((*cdata.CArrowArray)(unsafe.Pointer(arguments)), s)
		if err != nil {
			return err
		}
		defer batch.Release()
		out, err := scalars[code].call(batch.Columns(), int(batch.NumRows()))
		if err != nil {
			return err
		}
		defer out.Release()
		column := arrow.NewSchema([]arrow.Field{{Name: "result", Type: out.DataType(), Nullable: true}}, nil)
		given := array.NewRecordBatch(column, []arrow.Array{out}, int64(out.Len()))
		defer given.Release()
		cdata.ExportArrowRecordBatch(given, (*cdata.CArrowArray)(unsafe.Pointer(result)), (*cdata.CArrowSchema)(unsafe.Pointer(resultSchema)))
		return nil
	})
}
