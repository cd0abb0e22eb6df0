//go:build cgo

package duckdb

// #include "statistics.h"
import "C"

import "github.com/skua-data/skua/fault"

// addStatistics makes the aggregates of moments known.
func (c *connection) addStatistics() error {
	if name := C.skua_add_statistics(c.handle); name != nil {
		return fault.New(fault.Internal, "open the SQL engine: the aggregate %s is refused", C.GoString(name))
	}
	return nil
}
