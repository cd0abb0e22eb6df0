//go:build cgo

package duckdb

// #include "bridge.h"
import "C"

import (
	"context"
	"fmt"
	"runtime/cgo"
	"runtime/debug"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/cdata"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// guarded runs a callback of the engine: an error or a panic becomes the text that fails the statement.
func guarded(run func() error) (problem *C.char) {
	defer func() {
		if r := recover(); r != nil {
			problem = C.CString(fmt.Sprintf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	if err := run(); err != nil {
		return C.CString(err.Error())
	}
	return nil
}

// skuaBind gives the columns of a source, an empty batch of them, and the number of its rows.
//
//export skuaBind
func skuaBind(id C.uint64_t, schema *C.struct_ArrowSchema, empty *C.struct_ArrowArray, rows *C.uint64_t, exact *C.char) *C.char {
	return guarded(func() error {
		o := cgo.Handle(id).Value().(*occurrence)
		columns := o.columns()
		cdata.ExportArrowSchema(columns, (*cdata.CArrowSchema)(unsafe.Pointer(schema)))
		batch := emptyBatch(columns)
		defer batch.Release()
		cdata.ExportArrowRecordBatch(batch, (*cdata.CArrowArray)(unsafe.Pointer(empty)), nil)
		n, known := o.rows()
		*rows = C.uint64_t(n)
		if known {
			*exact = 1
		}
		return nil
	})
}

func emptyBatch(schema *arrow.Schema) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	return b.NewRecordBatch()
}

// skuaOpen opens a source with some of its columns.
//
//export skuaOpen
func skuaOpen(id C.uint64_t, columns *C.uint64_t, count C.uint64_t, schema *C.struct_ArrowSchema, reader *C.uint64_t) *C.char {
	return guarded(func() error {
		o := cgo.Handle(id).Value().(*occurrence)
		wanted := make([]int, int(count))
		for i, c := range unsafe.Slice(columns, int(count)) {
			wanted[i] = int(c)
		}
		r, err := o.openReader(wanted)
		if err != nil {
			return o.run.fail(err)
		}
		cdata.ExportArrowSchema(r.schema, (*cdata.CArrowSchema)(unsafe.Pointer(schema)))
		*reader = C.uint64_t(cgo.NewHandle(r))
		return nil
	})
}

// skuaNext gives the next batch of a reader; none at the end.
//
//export skuaNext
func skuaNext(id C.uint64_t, out *C.struct_ArrowArray) *C.char {
	return guarded(func() error {
		r := cgo.Handle(id).Value().(*reader)
		batch, err := r.next()
		if err != nil || batch == nil {
			return r.of.run.fail(err)
		}
		defer batch.Release()
		cdata.ExportArrowRecordBatch(batch, (*cdata.CArrowArray)(unsafe.Pointer(out)), nil)
		return nil
	})
}

// skuaWanted fails once nobody waits for a reader's rows any more.
//
//export skuaWanted
func skuaWanted(id C.uint64_t) *C.char {
	return guarded(func() error {
		run := cgo.Handle(id).Value().(*reader).of.run
		return run.fail(context.Cause(run.ctx))
	})
}

// skuaClose closes a reader.
//
//export skuaClose
func skuaClose(id C.uint64_t) {
	defer func() { _ = recover() }()
	h := cgo.Handle(id)
	h.Value().(*reader).close()
	h.Delete()
}
