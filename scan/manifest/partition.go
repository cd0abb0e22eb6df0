package manifest

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan/avrofile"
)

// Date is a value that its writer calls a date: days since 1970.
type Date int32

// Decimal is a value that its writer calls a decimal.
type Decimal struct {
	Unscaled []byte // big-endian, two's complement
	Scale    int
}

// partitionField is a field of the partition as it is written; its id is NoID where nothing tells which one it is.
type partitionField struct {
	id  int
	typ *avrofile.Type
}

// partitionFields finds the fields of partitions: by id, without one by name, and where no name is known either and there are as many as the spec has,
// by place.
func partitionFields(record *avrofile.Type, spec []Field) []partitionField {
	out := make([]partitionField, len(record.Fields))
	ids, found := !repeats(record), false
	for i, f := range record.Fields {
		out[i] = partitionField{id: avrofile.NoID, typ: f.Type}
		if ids && f.ID > 0 {
			out[i].id, found = f.ID, true
			continue
		}
		for _, s := range spec {
			if f.Name == s.Name || f.Name == avroName(s.Name) {
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
	d := &avrofile.Decoder{Data: raw}
	out := make(map[int]any, len(r.layout.partition))
	for _, f := range r.layout.partition {
		if f.id == avrofile.NoID {
			d.Skip(f.typ)
			continue
		}
		out[f.id] = scalar(d, f.typ)
	}
	return out, d.Err
}

// scalar reads a partition value.
func scalar(d *avrofile.Decoder, n *avrofile.Type) any {
	typ, ok := d.Value(n)
	if !ok || d.Err != nil {
		return nil
	}
	switch typ.Kind {
	case avrofile.Boolean:
		b := d.Take(1)
		return d.Err == nil && b[0] != 0
	case avrofile.Int, avrofile.Long:
		v := d.Long()
		if typ.Logical == "date" && v == int64(int32(v)) {
			return Date(v)
		}
		return v
	case avrofile.Float:
		if f := d.Float(); d.Err == nil {
			return f
		}
	case avrofile.Double:
		if f := d.Double(); d.Err == nil {
			return f
		}
	case avrofile.String:
		return string(d.Bytes())
	case avrofile.Bytes:
		return bytesValue(typ, d.Bytes())
	case avrofile.Fixed:
		return bytesValue(typ, d.Take(typ.Size))
	default:
		d.Err = fault.New(fault.Unsupported, "partition values of the Avro type %s are not supported", typ.Kind)
	}
	return nil
}

func bytesValue(n *avrofile.Type, b []byte) any {
	own := append([]byte{}, b...)
	if n.Logical == "decimal" {
		return Decimal{Unscaled: own, Scale: n.Scale}
	}
	return own
}
