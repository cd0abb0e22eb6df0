//go:build cgo

package duckdb

// #include "bridge.h"
import "C"

import (
	"errors"
	"strconv"
	"unsafe"

	"github.com/skua-data/skua/engine/duckdb/dialect"
	"github.com/skua-data/skua/engine/sparktext"
	"github.com/skua-data/skua/fault"
)

// castFunction is one of Spark's casts. Whatever its result is, its first argument is the value, of any type.
type castFunction struct {
	name   string
	takes  []int
	result int
	scale  int // of decimals
	try    bool
	target *castTarget
}

// castTarget is what a cast makes.
type castTarget struct {
	name string // as Spark's errors have it
	from []family
	cast func(c *casting, n *node, out *node, row int) error // nil: a text
}

// casting is a call of a cast.
type casting struct {
	zone             *sparktext.Zone
	try              bool
	precision, scale int
	target           string
}

// errNoValue stands for an error that becomes NULL.
var errNoValue = errors.New("no value")

var castNumbers = []family{textFamily, booleanFamily, wholeFamily, floatFamily, decimalFamily, instantFamily}

// castTargets are the types that values are cast to, by the names of their functions.
var castTargets = map[string]*castTarget{
	"text":     {name: "STRING"},
	"tinyint":  {name: "TINYINT", from: append(castNumbers, intervalFamily), cast: wholeTarget[int8](8)},
	"smallint": {name: "SMALLINT", from: append(castNumbers, intervalFamily), cast: wholeTarget[int16](16)},
	"integer":  {name: "INT", from: append(castNumbers, intervalFamily), cast: wholeTarget[int32](32)},
	"bigint":   {name: "BIGINT", from: append(castNumbers, intervalFamily), cast: wholeTarget[int64](64)},
	"float": {name: "FLOAT", from: castNumbers, cast: func(c *casting, n, out *node, row int) error {
		v, err := toFloat(c, n, row, 32)
		put(out, row, float32(v))
		return err
	}},
	"double": {name: "DOUBLE", from: castNumbers, cast: func(c *casting, n, out *node, row int) error {
		v, err := toFloat(c, n, row, 64)
		put(out, row, v)
		return err
	}},
	"decimal": {name: "DECIMAL", from: append(castNumbers, intervalFamily), cast: func(c *casting, n, out *node, row int) error {
		v, err := toDecimal(c, n, row, c.precision, c.scale)
		put(out, row, v)
		return err
	}},
	"boolean": {name: "BOOLEAN", from: castNumbers[:5], cast: func(c *casting, n, out *node, row int) error {
		v, err := toBoolean(c, n, row)
		put(out, row, v)
		return err
	}},
	"date":        {name: "DATE", from: []family{textFamily, dateFamily, instantFamily, wallFamily}, cast: timeTarget(toDate)},
	"timestamp":   {name: "TIMESTAMP", from: []family{textFamily, wholeFamily, floatFamily, decimalFamily, dateFamily, instantFamily, wallFamily}, cast: timeTarget(toInstant)},
	"timestamp_n": {name: "TIMESTAMP_NTZ", from: []family{textFamily, dateFamily, instantFamily, wallFamily}, cast: timeTarget(toWall)},
	"binary":      {name: "BINARY", from: []family{textFamily, binaryFamily}},
}

func wholeTarget[T int8 | int16 | int32 | int64](bits int) func(*casting, *node, *node, int) error {
	return func(c *casting, n, out *node, row int) error {
		v, err := toWhole(c, n, row, bits)
		put(out, row, T(v))
		return err
	}
}

func timeTarget[T int32 | int64](cast func(*casting, *node, int) (T, error)) func(*casting, *node, *node, int) error {
	return func(c *casting, n, out *node, row int) error {
		v, err := cast(c, n, row)
		put(out, row, v)
		return err
	}
}

// castFunctions are all casts. A function's place in the list is its number.
var castFunctions = func() (out []castFunction) {
	results := map[string]int{"text": typeVarchar, "tinyint": typeTinyint, "smallint": typeSmallint, "integer": typeInteger, "bigint": typeBigint, "float": typeFloat,
		"double": typeDouble, "boolean": typeBoolean, "date": typeDate, "timestamp": typeTimestampTZ, "timestamp_n": typeTimestamp, "binary": typeBlob}
	for _, try := range []bool{false, true} {
		for name, result := range results {
			out = append(out, castFunction{name: dialect.CastFunction(name, try), takes: []int{typeAny, typeVarchar}, result: result, try: try, target: castTargets[name]})
		}
		for scale := range 39 {
			out = append(out, castFunction{name: dialect.CastFunction("decimal_"+strconv.Itoa(scale), try), takes: []int{typeAny, typeInteger}, result: typeDecimal, scale: scale, try: try,
				target: castTargets["decimal"]})
		}
	}
	return append(out, castFunction{name: dialect.NativeCast, takes: []int{typeVarchar, typeVarchar}, result: typeBoolean},
		castFunction{name: dialect.CastFunction("nested", false), takes: []int{typeAny, typeAny}, result: typeBoolean},
		castFunction{name: dialect.CastFunction("nested", true), takes: []int{typeAny, typeAny}, result: typeBoolean, try: true})
}()

// castNames are their names, which the gate lets pass.
var castNames = func() (out []string) {
	for _, f := range castFunctions {
		out = append(out, f.name)
	}
	return out
}()

// registerCasts makes the casts known to a database.
func registerCasts(c *connection) error {
	for code, f := range castFunctions {
		types := make([]C.int, len(f.takes))
		for i, t := range f.takes {
			types[i] = C.int(t)
		}
		name := C.CString(f.name)
		ok := C.skua_add_cast(c.handle, name, C.int(code), &types[0], C.idx_t(len(types)), C.int(f.result), C.int(f.scale))
		C.free(unsafe.Pointer(name))
		if !ok {
			return fault.New(fault.Internal, "open the SQL engine: the function %s is refused", f.name)
		}
	}
	return nil
}

// skuaCast casts the values of a batch.
//
//export skuaCast
func skuaCast(code C.int, arguments *C.skua_node, count, rows C.idx_t, out *C.skua_node) *C.char {
	return guarded(func() error {
		f, in, result := castFunctions[code], nodes(arguments, int(count)), (*node)(unsafe.Pointer(out))
		switch {
		case rows == 0:
			return nil
		case f.name == dialect.NativeCast:
			return eachRow(int(rows), func(row int) { put(result, row, isNative(in[0].text(row), in[1].text(row))) })
		case f.target == nil && mayNest(&in[0], &in[1], f.try) != nil:
			return mayNest(&in[0], &in[1], f.try)
		case f.target == nil:
			return eachRow(int(rows), func(row int) { put(result, row, true) })
		}
		if err := f.target.takes(&in[0]); err != nil {
			return err
		}
		if err := in[0].clear(int(rows)); err != nil {
			return err
		}
		c := &casting{try: f.try, target: f.target.name, scale: f.scale}
		if f.takes[1] == typeInteger {
			c.precision = int(at[int32](&in[1], 0))
		} else if zone, ok := sparktext.ParseZone(in[1].text(0)); ok {
			c.zone = sparktext.ZoneOf(zone)
		} else {
			return fault.New(fault.Internal, "the time zone %s is not known", in[1].text(0))
		}
		if f.target.cast == nil {
			return c.texts(&in[0], result, int(rows))
		}
		return c.values(f.target, &in[0], result, int(rows))
	})
}

func eachRow(rows int, do func(row int)) error {
	for row := range rows {
		do(row)
	}
	return nil
}

func (c *casting) values(target *castTarget, in, out *node, rows int) error {
	for row := range rows {
		if in.null(row) {
			out.setNull(row)
			continue
		}
		if err := target.cast(c, in, out, row); err != nil {
			if !c.try && err != errNoValue {
				return err
			}
			out.setNull(row)
		}
	}
	return nil
}

// texts writes all texts behind each other, and has the engine take them.
func (c *casting) texts(in, out *node, rows int) error {
	ends, valid := make([]int64, rows), make([]byte, rows)
	bytes := make([]byte, 0, 16*rows)
	for row := range rows {
		if in.null(row) {
			out.setNull(row)
		} else {
			valid[row] = 1
			bytes = appendText(bytes, in, row, c.zone)
		}
		ends[row] = int64(len(bytes))
	}
	bytes = append(bytes, 0)
	C.skua_assign_texts(out.vector, (*C.char)(unsafe.Pointer(&bytes[0])), (*C.int64_t)(&ends[0]), (*C.char)(unsafe.Pointer(&valid[0])), C.idx_t(rows))
	return nil
}

// word gives a text, which lives as long as the vector does.
func (c *casting) word(n *node, row int) string {
	if n.kind() == typeVarchar {
		return n.text(row)
	}
	return string(appendWord(nil, n, row))
}

// skuaCastBind judges the types of a cast.
//
//export skuaCastBind
func skuaCastBind(code C.int, arguments *C.skua_node, count C.idx_t) *C.char {
	return guarded(func() error {
		f, in := castFunctions[code], nodes(arguments, int(count))
		switch {
		case f.name == dialect.NativeCast:
			return nil
		case f.target == nil:
			return mayNest(&in[0], &in[1], f.try)
		}
		return f.target.takes(&in[0])
	})
}

func itoa(n int) string { return strconv.Itoa(n) }
