package parquet

import (
	"bytes"
	"encoding/binary"

	"github.com/skua-data/skua/fault"
)

// The limits of a footer's structure. The thrift reader trusts the counts it finds and the schema is built by recursion, so that a footer
// of a few bytes could ask for all memory or for a stack no goroutine has; both end the process. checkFooter therefore walks the bytes first.
const (
	schemaDepth = 100 // groups inside groups
	thriftDepth = 32  // structures inside structures; the format's own have fewer than 10

	schemaMost     = 1 << 18 // elements of a schema: a kilobyte of memory each
	structuresMost = 1 << 23 // structures of a footer, which may take a byte each and become some hundred
)

// Wire types of thrift's compact protocol.
const (
	thriftStop = iota
	thriftTrue
	thriftFalse
	thriftByte
	thriftI16
	thriftI32
	thriftI64
	thriftDouble
	thriftBinary
	thriftList
	thriftSet
	thriftMap
	thriftStruct
	thriftUUID
)

// The fields of the format that checkFooter looks into.
const (
	footerSchema       = 2
	elementNumChildren = 5
	elementLogicalType = 10 // the last one of a schema element
)

// knowsLogicalType says whether a member of the union of logical types is known.
func knowsLogicalType(member int16) bool {
	return member >= 1 && member <= 8 || member >= 10 && member <= 18
}

// checkFooter walks the thrift structure of a footer and refuses containers that claim more entries than bytes are left, and schemas that
// are too deep or whose numbers of children do not add up. It gives the footer without logical types that nobody knows: a column of one is
// read as what it is stored as, as the format asks for.
func checkFooter(b []byte) ([]byte, error) {
	w := &thriftWalk{b: b}
	ok := w.structure(0, func(field int16, typ byte, depth int) bool {
		if field != footerSchema || typ != thriftList {
			return w.skip(typ, depth)
		}
		return w.schema(depth)
	})
	if w.elements > schemaMost || w.structures > structuresMost {
		return nil, fault.New(fault.Unsupported, "footers of more than %d schema elements or %d structures are not supported", schemaMost, structuresMost)
	}
	if !ok {
		return nil, fault.New(fault.Corrupt, "malformed footer near byte %d of %d", len(b)-len(w.b), len(b))
	}
	return w.without(b), nil
}

// thriftWalk reads a structure from its begin.
type thriftWalk struct {
	b       []byte // what is left
	head    int    // bytes that were left in front of the last field
	unknown []int  // the same of each logical type that is not known

	structures int    // that were begun
	elements   uint64 // of the schema
}

// without gives b with the number of each unknown logical type's field raised by one, which makes it a field to skip.
func (w *thriftWalk) without(b []byte) []byte {
	if len(w.unknown) == 0 {
		return b
	}
	out := bytes.Clone(b)
	for _, left := range w.unknown {
		at := len(out) - left
		if out[at]>>4 != 0 {
			out[at] += 1 << 4 // the distance to the field before
		} else {
			out[at+1] += 2 // the number itself, in zigzag
		}
	}
	return out
}

// logicalType walks the union of logical types.
func (w *thriftWalk) logicalType(depth int) bool {
	head, known := w.head, false
	ok := w.structure(depth, func(member int16, typ byte, depth int) bool {
		known = known || knowsLogicalType(member)
		return w.skip(typ, depth)
	})
	if !known {
		w.unknown = append(w.unknown, head)
	}
	return ok
}

func (w *thriftWalk) varint() (uint64, bool) {
	v, n := binary.Uvarint(w.b)
	if n <= 0 {
		return 0, false
	}
	w.b = w.b[n:]
	return v, true
}

// number reads a zigzag integer; the format has no use for negative ones.
func (w *thriftWalk) number(to *int64) bool {
	v, ok := w.varint()
	*to = int64(v>>1) ^ -int64(v&1)
	return ok && *to >= 0
}

func (w *thriftWalk) byte() (byte, bool) {
	if len(w.b) == 0 {
		return 0, false
	}
	c := w.b[0]
	w.b = w.b[1:]
	return c, true
}

func (w *thriftWalk) advance(n uint64) bool {
	if n > uint64(len(w.b)) {
		return false
	}
	w.b = w.b[n:]
	return true
}

// structure calls visit for each field of a structure; visit consumes the value.
func (w *thriftWalk) structure(depth int, visit func(field int16, typ byte, depth int) bool) bool {
	if w.structures++; depth > thriftDepth || w.structures > structuresMost {
		return false
	}
	var last int16
	for {
		w.head = len(w.b)
		head, ok := w.byte()
		if !ok {
			return false
		}
		typ := head & 0x0f
		if typ == thriftStop {
			return true
		}
		if delta := int16(head >> 4); delta != 0 {
			last += delta
		} else {
			id, ok := w.varint()
			if !ok {
				return false
			}
			last = int16(int64(id>>1) ^ -int64(id&1))
		}
		if last < 0 || !visit(last, typ, depth+1) { // the format's fields have positive numbers
			return false
		}
	}
}

// list reads the head of a list or set whose entries take at least one byte each.
func (w *thriftWalk) list() (typ byte, size uint64, ok bool) {
	head, ok := w.byte()
	if !ok {
		return 0, 0, false
	}
	size = uint64(head >> 4)
	if size == 15 {
		if size, ok = w.varint(); !ok {
			return 0, 0, false
		}
	}
	return head & 0x0f, size, size <= uint64(len(w.b))
}

// skip consumes a value of a type.
func (w *thriftWalk) skip(typ byte, depth int) bool {
	switch typ {
	case thriftTrue, thriftFalse:
		return true
	case thriftByte:
		return w.advance(1)
	case thriftI16, thriftI32, thriftI64:
		_, ok := w.varint()
		return ok
	case thriftDouble:
		return w.advance(8)
	case thriftUUID:
		return w.advance(16)
	case thriftBinary:
		n, ok := w.varint()
		return ok && w.advance(n)
	case thriftList, thriftSet:
		return w.entries(depth)
	case thriftMap:
		return w.pairs(depth)
	case thriftStruct:
		return w.structure(depth, func(_ int16, typ byte, depth int) bool { return w.skip(typ, depth) })
	}
	return false
}

func (w *thriftWalk) entries(depth int) bool {
	typ, size, ok := w.list()
	if !ok || depth > thriftDepth {
		return false
	}
	for ; size > 0; size-- {
		if !w.entry(typ, depth+1) {
			return false
		}
	}
	return true
}

// entry is skip for a value in a container, where a boolean takes a byte.
func (w *thriftWalk) entry(typ byte, depth int) bool {
	if typ == thriftTrue || typ == thriftFalse {
		return w.advance(1)
	}
	return w.skip(typ, depth)
}

func (w *thriftWalk) pairs(depth int) bool {
	size, ok := w.varint()
	if !ok || size > uint64(len(w.b)) || depth > thriftDepth {
		return false
	}
	if size == 0 {
		return true
	}
	types, ok := w.byte()
	for ; ok && size > 0; size-- {
		ok = w.entry(types>>4, depth+1) && w.entry(types&0x0f, depth+1)
	}
	return ok
}

// schema walks the list of schema elements, which is a tree in depth-first order.
func (w *thriftWalk) schema(depth int) bool {
	typ, size, ok := w.list()
	if !ok || typ != thriftStruct {
		return false
	}
	if w.elements = size; size > schemaMost {
		return false
	}
	var open []uint64 // children still to come of each group that is open
	for i := uint64(0); i < size; i++ {
		var children uint64
		if !w.structure(depth+1, func(field int16, typ byte, depth int) bool {
			if field == elementLogicalType && typ == thriftStruct {
				return w.logicalType(depth)
			}
			if field != elementNumChildren || typ != thriftI32 {
				return w.skip(typ, depth)
			}
			v, ok := w.varint()
			children = v >> 1
			return ok && v&1 == 0
		}) {
			return false
		}
		if children > size-i-1 {
			return false
		}
		for len(open) > 0 && open[len(open)-1] == 0 {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			open[len(open)-1]--
		}
		if children > 0 {
			open = append(open, children)
		}
		if len(open) > schemaDepth {
			return false
		}
	}
	return true
}
