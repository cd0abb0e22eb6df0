//go:build cgo

package duckdb

// #include "bridge.h"
import "C"

import (
	"math/big"
	"strings"
	"unsafe"
)

// The engine's numbers of types that casts know besides those of scalar.go.
const (
	typeUtinyint    = 6
	typeUsmallint   = 7
	typeUinteger    = 8
	typeFloat       = 10
	typeTimestamp   = 12
	typeDate        = 13
	typeTime        = 14
	typeInterval    = 15
	typeDecimal     = 19
	typeTimestampS  = 20
	typeTimestampMS = 21
	typeTimestampNS = 22
	typeEnum        = 23
	typeList        = 24
	typeStruct      = 25
	typeMap         = 26
	typeTimestampTZ = 31
	typeUhugeint    = 32
	typeArray       = 33
	typeNull        = 36
	typeUnjudged    = C.SKUA_UNJUDGED
)

// node is a part of a function's argument: its type and, while it runs, its values.
type node C.skua_node

func (n *node) kind() int { return int(n._type) }

func nodes(first *C.skua_node, count int) []node {
	return unsafe.Slice((*node)(unsafe.Pointer(first)), count)
}

func (n *node) parts() []node { return nodes((*C.skua_node)(n.children), int(n.count)) }

// null reports whether a value is NULL.
func (n *node) null(row int) bool {
	return n.kind() == typeNull || n.valid != nil && unsafe.Slice((*uint64)(n.valid), row/64+1)[row/64]>>(row%64)&1 == 0
}

// setNull makes a value of a result NULL.
func (n *node) setNull(row int) {
	unsafe.Slice((*uint64)(n.valid), row/64+1)[row/64] &^= 1 << (row % 64)
}

// at gives a value that is stored as a T.
func at[T any](n *node, row int) T {
	var t T
	return *(*T)(unsafe.Add(n.data, uintptr(row)*unsafe.Sizeof(t)))
}

// put stores a value.
func put[T any](n *node, row int, v T) {
	*(*T)(unsafe.Add(n.data, uintptr(row)*unsafe.Sizeof(v))) = v
}

// listEntry is where the elements of a list are.
type listEntry struct{ offset, length uint64 }

// elements gives where the elements of a value are among those of all.
func (n *node) elements(row int) (from, to int) {
	if n.kind() == typeArray {
		return row * int(n.width), (row + 1) * int(n.width)
	}
	e := at[listEntry](n, row)
	return int(e.offset), int(e.offset + e.length)
}

// text gives a text or a binary value, which lives as long as the vector does.
func (n *node) text(row int) string {
	p := unsafe.Add(n.data, row*16)
	length := *(*uint32)(p)
	if length <= 12 {
		return unsafe.String((*byte)(unsafe.Add(p, 4)), int(length))
	}
	return unsafe.String(*(**byte)(unsafe.Add(p, 8)), int(length))
}

// wide is a number of 128 bits.
type wide struct {
	low  uint64
	high int64
}

func (w wide) small() bool { return w.high == int64(w.low)>>63 }

func (w wide) big() *big.Int {
	out := big.NewInt(w.high)
	return out.Add(out.Lsh(out, 64), new(big.Int).SetUint64(w.low))
}

// wideOf gives a number that has no more than 128 bits.
func wideOf(n *big.Int) wide {
	low := new(big.Int).And(n, new(big.Int).SetUint64(^uint64(0)))
	return wide{low.Uint64(), new(big.Int).Rsh(n, 64).Int64()}
}

// whole gives the value of a whole number, or the digits of a decimal; large is nil where 64 bits hold it.
func (n *node) whole(row int) (small int64, large *big.Int) {
	var w wide
	switch n.kind() {
	case typeTinyint:
		return int64(at[int8](n, row)), nil
	case typeSmallint:
		return int64(at[int16](n, row)), nil
	case typeInteger:
		return int64(at[int32](n, row)), nil
	case typeBigint:
		return at[int64](n, row), nil
	case typeUtinyint:
		return int64(at[uint8](n, row)), nil
	case typeUsmallint:
		return int64(at[uint16](n, row)), nil
	case typeUinteger:
		return int64(at[uint32](n, row)), nil
	case typeUbigint:
		w = wide{low: at[uint64](n, row)}
	case typeUhugeint:
		w = at[wide](n, row)
		if w.high < 0 {
			out := new(big.Int).SetUint64(uint64(w.high))
			return 0, out.Add(out.Lsh(out, 64), new(big.Int).SetUint64(w.low))
		}
	case typeDecimal:
		switch {
		case n.width <= 4:
			return int64(at[int16](n, row)), nil
		case n.width <= 9:
			return int64(at[int32](n, row)), nil
		case n.width <= 18:
			return at[int64](n, row), nil
		}
		w = at[wide](n, row)
	default:
		w = at[wide](n, row)
	}
	if w.small() {
		return int64(w.low), nil
	}
	return 0, w.big()
}

// interval is a span of time as the engine keeps it.
type interval struct {
	months, days int32
	micros       int64
}

// word gives a value of an enumeration.
func (n *node) word(row int) string {
	number := uint32(0)
	switch int(n.width) {
	case typeUtinyint:
		number = uint32(at[uint8](n, row))
	case typeUsmallint:
		number = uint32(at[uint16](n, row))
	default:
		number = at[uint32](n, row)
	}
	value := C.duckdb_enum_dictionary_value(n.logical, C.idx_t(number))
	defer C.duckdb_free(unsafe.Pointer(value))
	return C.GoString(value)
}

// family is what casts ask of a type.
type family uint8

const (
	noFamily family = iota
	nullFamily
	textFamily
	binaryFamily
	booleanFamily
	wholeFamily
	floatFamily
	decimalFamily
	dateFamily
	instantFamily
	wallFamily
	clockFamily
	intervalFamily
	listFamily
	mapFamily
	structFamily
)

var families = map[int]family{typeNull: nullFamily, typeVarchar: textFamily, typeEnum: textFamily, typeUUID: textFamily, typeBlob: binaryFamily, typeBoolean: booleanFamily,
	typeTinyint: wholeFamily, typeSmallint: wholeFamily, typeInteger: wholeFamily, typeBigint: wholeFamily, typeUtinyint: wholeFamily, typeUsmallint: wholeFamily,
	typeUinteger: wholeFamily, typeUbigint: wholeFamily, typeHugeint: wholeFamily, typeUhugeint: wholeFamily, typeFloat: floatFamily, typeDouble: floatFamily,
	typeDecimal: decimalFamily, typeDate: dateFamily, typeTimestampTZ: instantFamily, typeTimestamp: wallFamily, typeTimestampS: wallFamily, typeTimestampMS: wallFamily,
	typeTimestampNS: wallFamily, typeTime: clockFamily, typeInterval: intervalFamily, typeList: listFamily, typeArray: listFamily, typeMap: mapFamily, typeStruct: structFamily}

func (n *node) family() family {
	f := families[n.kind()]
	if f == wallFamily && bool(n.zoned) {
		return instantFamily
	}
	return f
}

// unjudged reports whether the type is not known yet: of a subquery, or of a macro's parameter.
func (n *node) unjudged() bool { return n.kind() == typeUnjudged || n.kind() == typeInvalid }

// perSecond is how many units of a timestamp or a time of day are a second.
func (n *node) perSecond() int64 {
	switch n.kind() {
	case typeTimestampS:
		return 1
	case typeTimestampMS:
		return 1_000
	case typeTimestampNS:
		return 1_000_000_000
	}
	return 1_000_000
}

// plainTypes are Spark's names of types.
var plainTypes = map[int]string{typeNull: "VOID", typeVarchar: "STRING", typeEnum: "STRING", typeUUID: "STRING", typeBlob: "BINARY", typeBoolean: "BOOLEAN", typeTinyint: "TINYINT",
	typeSmallint: "SMALLINT", typeInteger: "INT", typeBigint: "BIGINT", typeUtinyint: "SMALLINT", typeUsmallint: "INT", typeUinteger: "BIGINT", typeUbigint: "DECIMAL(20,0)",
	typeHugeint: "BIGINT", typeUhugeint: "BIGINT", typeFloat: "FLOAT", typeDouble: "DOUBLE", typeDate: "DATE", typeTimestampTZ: "TIMESTAMP", typeTimestamp: "TIMESTAMP_NTZ",
	typeTimestampS: "TIMESTAMP_NTZ", typeTimestampMS: "TIMESTAMP_NTZ", typeTimestampNS: "TIMESTAMP_NTZ", typeTime: "TIME(6)", typeInterval: "INTERVAL"}

// sparkType spells the type as Spark's errors do.
func (n *node) sparkType() string {
	parts := n.parts()
	switch n.family() {
	case decimalFamily:
		return "DECIMAL(" + itoa(int(n.width)) + "," + itoa(int(n.scale)) + ")"
	case listFamily:
		return "ARRAY<" + parts[0].sparkType() + ">"
	case mapFamily:
		return "MAP<" + parts[0].sparkType() + ", " + parts[1].sparkType() + ">"
	case structFamily:
		fields := make([]string, len(parts))
		for i := range parts {
			fields[i] = C.GoString(parts[i].name) + ": " + parts[i].sparkType()
		}
		return "STRUCT<" + strings.Join(fields, ", ") + ">"
	case instantFamily:
		return "TIMESTAMP"
	}
	return plainTypes[n.kind()]
}
