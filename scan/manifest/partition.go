package manifest

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"unicode"

	"github.com/skua-data/skua/fault"
)

// Date is a value that its writer calls a date: days since 1970.
type Date int32

// Decimal is a value that its writer calls a decimal.
type Decimal struct {
	Unscaled []byte // big-endian, two's complement
	Scale    int
}

// partitionField is a field of the partition as it is written; its id is noID where nothing tells which one it is.
type partitionField struct {
	id  int
	typ *node
}

// partitionFields finds the fields of partitions: by id, without one by name, and where no name is known either and there are as many as the spec has,
// by place.
func partitionFields(record *node, spec []Field) []partitionField {
	out := make([]partitionField, len(record.fields))
	ids, found := !repeats(record), false
	for i, f := range record.fields {
		out[i] = partitionField{id: noID, typ: f.typ}
		if ids && f.id > 0 {
			out[i].id, found = f.id, true
			continue
		}
		for _, s := range spec {
			if f.name == s.Name || f.name == avroName(s.Name) {
				out[i].id, found = s.ID, true
			}
		}
	}
	if !found && len(out) == len(spec) {
		for i, s := range spec {
			out[i].id = s.ID
		}
	}
	return out
}

// avroName spells a name as writers do whose names Avro could not have: a digit in front behind a line, other signs by their number.
func avroName(name string) string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case r == '_', unicode.IsLetter(r), unicode.IsDigit(r) && i > 0:
			b.WriteRune(r)
		case unicode.IsDigit(r):
			b.WriteByte('_')
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "_x%X", r)
		}
	}
	return b.String()
}

// Partition decodes the partition of an entry: values by partition field id, nil for null. Values are bool, int64, Date, float32, float64, string, []byte,
// and Decimal; none of them lies in the reader's memory.
func (r *Reader) Partition(raw []byte) (map[int]any, error) {
	d := &decoder{data: raw}
	out := make(map[int]any, len(r.layout.partition))
	for _, f := range r.layout.partition {
		if f.id == noID {
			d.skip(f.typ)
			continue
		}
		out[f.id] = d.scalar(f.typ)
	}
	return out, d.err
}

// scalar reads a partition value.
func (d *decoder) scalar(n *node) any {
	typ, ok := d.value(n)
	if !ok || d.err != nil {
		return nil
	}
	switch typ.kind {
	case kindBoolean:
		b := d.take(1)
		return d.err == nil && b[0] != 0
	case kindInt, kindLong:
		v := d.long()
		if typ.logical == "date" && v == int64(int32(v)) {
			return Date(v)
		}
		return v
	case kindFloat:
		if b := d.take(4); d.err == nil {
			return math.Float32frombits(binary.LittleEndian.Uint32(b))
		}
	case kindDouble:
		if b := d.take(8); d.err == nil {
			return math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
	case kindString:
		return string(d.bytes())
	case kindBytes:
		return typ.binary(d.bytes())
	case kindFixed:
		return typ.binary(d.take(typ.fixed))
	default:
		d.err = fault.New(fault.Unsupported, "partition values of the Avro type %s are not supported", kindNames[typ.kind])
	}
	return nil
}

func (n *node) binary(b []byte) any {
	own := append([]byte{}, b...)
	if n.logical == "decimal" {
		return Decimal{Unscaled: own, Scale: n.scale}
	}
	return own
}
