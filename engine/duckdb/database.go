//go:build cgo

package duckdb

// #include "bridge.h"
import "C"

import (
	"runtime/cgo"
	"strings"
	"sync"
	"unsafe"

	_ "github.com/duckdb/duckdb-go-bindings" // links the engine

	"github.com/skua-data/skua/fault"
)

// database is one instance in memory. It is safe for concurrent use; a connection is not.
type database struct {
	handle C.duckdb_database
	exact  struct { // functions on decimals that were made known
		mu    sync.Mutex
		known map[string]bool
	}
}

// openDatabase opens an instance with settings that hold from its first moment. threads is how many workers may convert batches at once.
func openDatabase(settings [][2]string, threads int) (*database, error) {
	var config C.duckdb_config
	if C.duckdb_create_config(&config) != 0 {
		return nil, fault.New(fault.Internal, "open the SQL engine: no configuration")
	}
	defer C.duckdb_destroy_config(&config)
	for _, s := range settings {
		n, v := C.CString(s[0]), C.CString(s[1])
		failed := C.duckdb_set_config(config, n, v) != 0
		C.free(unsafe.Pointer(n))
		C.free(unsafe.Pointer(v))
		if failed {
			return nil, fault.New(fault.Internal, "open the SQL engine: it refuses %s = %s", s[0], s[1])
		}
	}
	path := C.CString(":memory:")
	defer C.free(unsafe.Pointer(path))
	d := &database{}
	var problem *C.char
	if C.duckdb_open_ext(path, &d.handle, config, &problem) != 0 {
		defer C.duckdb_free(unsafe.Pointer(problem))
		return nil, fault.New(fault.Internal, "open the SQL engine: %s", C.GoString(problem))
	}
	c, err := d.connect()
	if err != nil {
		d.close()
		return nil, err
	}
	defer c.close()
	if !C.skua_register(d.handle, c.handle, C.idx_t(threads)) {
		d.close()
		return nil, fault.New(fault.Internal, "open the SQL engine: the table function is refused")
	}
	if !C.skua_add_casts(c.handle) {
		d.close()
		return nil, fault.New(fault.Internal, "open the SQL engine: its casts are refused")
	}
	if !c.addFind() || !c.addChecks() {
		d.close()
		return nil, fault.New(fault.Internal, "open the SQL engine: the functions of types and of arithmetic are refused")
	}
	if err := d.registerScalars(c); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// close ends the instance. All connections are closed before.
func (d *database) close() { C.duckdb_close(&d.handle) }

// connection runs one statement at a time. interrupt alone may come from elsewhere.
type connection struct {
	handle    C.duckdb_connection
	statement cgo.Handle // of the context of what it runs; 0: none
}

func (d *database) connect() (*connection, error) {
	c := &connection{}
	if C.duckdb_connect(d.handle, &c.handle) != 0 {
		return nil, fault.New(fault.Internal, "connect to the SQL engine")
	}
	return c, nil
}

func (c *connection) close() {
	C.duckdb_disconnect(&c.handle)
	if c.statement != 0 {
		c.statement.Delete()
	}
}

// interrupt ends the running statement soon. It must not be called after close.
func (c *connection) interrupt() { C.duckdb_interrupt(c.handle) }

// exec runs statements of ours.
func (c *connection) exec(sql string) error {
	_, err := c.text(sql)
	return err
}

// text gives the first value of a query of ours.
func (c *connection) text(sql string) (string, error) {
	rows, err := c.column(sql)
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return rows[0], nil
}

// column gives the first column of a query of ours as texts.
func (c *connection) column(sql string) ([]string, error) { return c.columnAt(sql, 0) }

// columnAt gives a column of a query of ours as texts.
func (c *connection) columnAt(sql string, number int) ([]string, error) {
	if strings.ContainsRune(sql, 0) {
		return nil, fault.New(fault.Invalid, "the statement holds a NUL character")
	}
	text := C.CString(sql)
	defer C.free(unsafe.Pointer(text))
	var result C.duckdb_result
	failed := C.duckdb_query(c.handle, text, &result) != 0
	defer C.duckdb_destroy_result(&result)
	if failed {
		return nil, engineError(C.GoString(C.duckdb_result_error(&result)), int(C.duckdb_result_error_type(&result)))
	}
	out := make([]string, int(C.duckdb_row_count(&result)))
	for i := range out {
		value := C.duckdb_value_varchar(&result, C.idx_t(number), C.idx_t(i))
		out[i] = C.GoString(value)
		C.duckdb_free(unsafe.Pointer(value))
	}
	return out, nil
}

// libraryVersion is the version of the engine that is linked.
func libraryVersion() string { return C.GoString(C.duckdb_library_version()) }
