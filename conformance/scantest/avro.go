package scantest

import (
	"bytes"
	"compress/flate"
	le "encoding/binary"
	"encoding/json"
	"math"
)

// avroWriter writes values in Avro's binary form.
type avroWriter struct{ bytes.Buffer }

func (w *avroWriter) long(v int64) {
	w.Write(le.AppendVarint(nil, v))
}

func (w *avroWriter) octets(b []byte) {
	w.long(int64(len(b)))
	w.Write(b)
}

func (w *avroWriter) text(s string) { w.octets([]byte(s)) }

func (w *avroWriter) boolean(b bool) { w.WriteByte(byte(rank(b))) }

// optional writes the branch of a union of null and a type.
func (w *avroWriter) optional(present bool, write func()) {
	w.long(int64(rank(present)))
	if present {
		write()
	}
}

// items writes an array in one block.
func (w *avroWriter) items(n int, write func(i int)) {
	if n > 0 {
		w.long(int64(n))
		for i := range n {
			write(i)
		}
	}
	w.long(0)
}

// value writes a partition value.
func (w *avroWriter) value(t *typ, v any) {
	switch t.kind {
	case boolean:
		w.boolean(v.(bool))
	case float:
		w.Write(le.LittleEndian.AppendUint32(nil, math.Float32bits(float32(v.(float64)))))
	case double:
		w.Write(le.LittleEndian.AppendUint64(nil, math.Float64bits(v.(float64))))
	case decimal:
		raw := single(t, v)
		fill := byte(0)
		if raw[0] >= 0x80 {
			fill = 0xff
		}
		w.Write(append(bytes.Repeat([]byte{fill}, decimalSize(t.precision)-len(raw)), raw...))
	case text:
		w.text(v.(string))
	case uuid, fixed:
		w.Write(v.([]byte))
	case binary:
		w.octets(v.([]byte))
	default:
		w.long(v.(int64))
	}
}

// decimalSize is how many bytes a decimal of a precision takes.
func decimalSize(precision int) int {
	for size := 1; ; size++ {
		if int(math.Floor(math.Log10(2)*float64(8*size-1))) >= precision {
			return size
		}
	}
}

// avroFile is a container file of records that were written one after the other.
func avroFile(schema any, metadata map[string]string, records int, body []byte, deflate bool) []byte {
	raw, err := json.Marshal(schema)
	if err != nil {
		panic(err)
	}
	w := &avroWriter{}
	w.WriteString("Obj\x01")
	entries := [][2]string{{"avro.schema", string(raw)}, {"avro.codec", "null"}}
	if deflate {
		entries[1][1] = "deflate"
		body = deflated(body)
	}
	for k, v := range metadata {
		entries = append(entries, [2]string{k, v})
	}
	w.items(len(entries), func(i int) {
		w.text(entries[i][0])
		w.text(entries[i][1])
	})
	const sync = "0123456789abcdef"
	w.WriteString(sync)
	w.long(int64(records))
	w.octets(body)
	w.WriteString(sync)
	return w.Bytes()
}

func deflated(b []byte) []byte {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.DefaultCompression)
	if err != nil {
		panic(err)
	}
	if _, err := w.Write(b); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}
