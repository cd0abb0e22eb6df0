//go:build cgo

package duckdb

// #include "exact.h"
import "C"

import (
	"unsafe"

	"github.com/skua-data/skua/engine/duckdb/dialect"
	"github.com/skua-data/skua/fault"
)

// exactOps are the operators in the C functions.
var exactOps = map[string]C.char{"+": '+', "-": '-', "*": '*', "/": '/', "%": '%', "pmod": 'p', "round": 'r', "bround": 'h', "ceil": 'c', "floor": 'f'}

// addChecks makes the functions known that arithmetic needs whatever its types are.
func (c *connection) addChecks() bool { return bool(C.skua_add_checks(c.handle)) }

// provide makes the functions on decimals known that a text calls. There is one for each operator and type of results; those that were called once stay.
func (d *database) provide(functions []dialect.Exact) error {
	if len(functions) == 0 {
		return nil
	}
	d.exact.mu.Lock()
	defer d.exact.mu.Unlock()
	for _, f := range functions {
		if d.exact.known[f.Name] {
			continue
		}
		if err := d.addExact(f); err != nil {
			return err
		}
		if d.exact.known == nil {
			d.exact.known = map[string]bool{}
		}
		d.exact.known[f.Name] = true
	}
	return nil
}

func (d *database) addExact(f dialect.Exact) error {
	c, err := d.connect()
	if err != nil {
		return err
	}
	defer c.close()
	name := C.CString(f.Name)
	defer C.free(unsafe.Pointer(name))
	if !C.skua_add_exact(c.handle, name, exactOps[f.Op], C.int(f.Width), C.int(f.Scale), C.bool(f.Tried)) {
		return fault.New(fault.Internal, "the SQL engine refuses the function %s", f.Name)
	}
	return nil
}
