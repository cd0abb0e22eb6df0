package hive

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
)

// The types of Thrift's binary protocol.
const (
	typeStop   = 0
	typeBool   = 2
	typeByte   = 3
	typeDouble = 4
	typeI16    = 6
	typeI32    = 8
	typeI64    = 10
	typeString = 11
	typeStruct = 12
	typeMap    = 13
	typeSet    = 14
	typeList   = 15
)

// The kinds of messages.
const (
	messageCall      = 1
	messageReply     = 2
	messageException = 3
	version1         = 0x80010000
)

// Bounds of an answer: the bytes that it may have, the values that it may hold, and how deep they nest.
const (
	maxAnswer = 256 << 20
	maxValues = 20_000_000
	maxDepth  = 32
)

// record is a Thrift struct by field number. Values are bool, int8, int16, int32, int64, float64, string, record, []any and map[string]any; maps that
// are not keyed by strings come as nil.
type record map[int16]any

func (r record) text(field int16) string { s, _ := r[field].(string); return s }
func (r record) inner(field int16) record {
	s, _ := r[field].(record)
	return s
}
func (r record) list(field int16) []any { l, _ := r[field].([]any); return l }

// texts gives a map of strings.
func (r record) texts(field int16) map[string]string {
	out := map[string]string{}
	for k, v := range asMap(r[field]) {
		if s, ok := v.(string); ok {
			out[k] = s
		}
	}
	return out
}

func asMap(v any) map[string]any { m, _ := v.(map[string]any); return m }

// encode appends a message that calls a method.
func encode(method string, sequence int32, arguments record) []byte {
	out := binary.BigEndian.AppendUint32(nil, version1|messageCall)
	out = appendText(out, method)
	out = binary.BigEndian.AppendUint32(out, uint32(sequence))
	return appendRecord(out, arguments)
}

func appendText(out []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(out, uint32(len(s))), s...)
}

func appendRecord(out []byte, r record) []byte {
	for _, field := range slices.Sorted(maps.Keys(r)) {
		out = append(out, typeOf(r[field]))
		out = binary.BigEndian.AppendUint16(out, uint16(field))
		out = appendValue(out, r[field])
	}
	return append(out, typeStop)
}

// typeOf is the type of a value that calls use.
func typeOf(v any) byte {
	switch v.(type) {
	case bool:
		return typeBool
	case int16:
		return typeI16
	case int32:
		return typeI32
	case string:
		return typeString
	case record:
		return typeStruct
	case map[string]string:
		return typeMap
	}
	return typeList // of strings
}

func appendValue(out []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		if v {
			return append(out, 1)
		}
		return append(out, 0)
	case int16:
		return binary.BigEndian.AppendUint16(out, uint16(v))
	case int32:
		return binary.BigEndian.AppendUint32(out, uint32(v))
	case string:
		return appendText(out, v)
	case record:
		return appendRecord(out, v)
	case map[string]string:
		out = append(out, typeString, typeString)
		out = binary.BigEndian.AppendUint32(out, uint32(len(v)))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = appendText(appendText(out, k), v[k])
		}
		return out
	case []string:
		out = append(out, typeString)
		out = binary.BigEndian.AppendUint32(out, uint32(len(v)))
		for _, s := range v {
			out = appendText(out, s)
		}
		return out
	case []record:
		out = append(out, typeStruct)
		out = binary.BigEndian.AppendUint32(out, uint32(len(v)))
		for _, r := range v {
			out = appendRecord(out, r)
		}
	}
	return out
}

// decoder reads an answer and stops at its bounds.
type decoder struct {
	r      *bufio.Reader
	bytes  int64 // left
	values int   // left
	depth  int   // left
}

func newDecoder(r *bufio.Reader) *decoder {
	return &decoder{r: r, bytes: maxAnswer, values: maxValues, depth: maxDepth}
}

// errMalformed is in the chain of an error about bytes that are no answer: the connection is of no use any more.
var errMalformed = errors.New("the answer is not in Thrift's binary protocol")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errMalformed, fmt.Sprintf(format, args...))
}

// message reads a whole message.
func (d *decoder) message() (kind byte, method string, sequence int32, body record, err error) {
	head, err := d.word()
	if err != nil {
		return 0, "", 0, nil, err
	}
	if head&0xffff0000 != version1 {
		return 0, "", 0, nil, malformed("it starts with %#x", head)
	}
	if method, err = d.text(); err != nil {
		return 0, "", 0, nil, err
	}
	number, err := d.word()
	if err != nil {
		return 0, "", 0, nil, err
	}
	body, err = d.record()
	return byte(head), method, int32(number), body, err
}

func (d *decoder) take(n int64) error {
	if d.bytes -= n; n < 0 || d.bytes < 0 {
		return malformed("it is longer than %d bytes", maxAnswer)
	}
	return nil
}

func (d *decoder) fixed(n int) ([]byte, error) {
	if err := d.take(int64(n)); err != nil {
		return nil, err
	}
	var b [8]byte
	_, err := io.ReadFull(d.r, b[:n])
	return b[:n], err
}

func (d *decoder) word() (uint32, error) {
	b, err := d.fixed(4)
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint32(b), nil
}

func (d *decoder) text() (string, error) {
	n, err := d.word()
	if err != nil {
		return "", err
	}
	if err := d.take(int64(int32(n))); err != nil {
		return "", err
	}
	// What is announced is not believed before it came.
	var b []byte
	for left := int(n); left > 0; {
		piece := make([]byte, min(left, 1<<20))
		if _, err := io.ReadFull(d.r, piece); err != nil {
			return "", err
		}
		if b == nil {
			b = piece
		} else {
			b = append(b, piece...)
		}
		left -= len(piece)
	}
	return string(b), nil
}

func (d *decoder) record() (record, error) {
	if d.depth--; d.depth < 0 {
		return nil, malformed("it nests deeper than %d", maxDepth)
	}
	defer func() { d.depth++ }()
	out := record{}
	for {
		typ, err := d.fixed(1)
		if err != nil {
			return nil, err
		}
		if typ[0] == typeStop {
			return out, nil
		}
		kind := typ[0]
		number, err := d.fixed(2)
		if err != nil {
			return nil, err
		}
		field := int16(binary.BigEndian.Uint16(number))
		if out[field], err = d.value(kind); err != nil {
			return nil, err
		}
	}
}

func (d *decoder) value(typ byte) (any, error) {
	if d.values--; d.values < 0 {
		return nil, malformed("it holds more than %d values", maxValues)
	}
	sizes := map[byte]int{typeBool: 1, typeByte: 1, typeDouble: 8, typeI16: 2, typeI32: 4, typeI64: 8}
	if n, ok := sizes[typ]; ok {
		b, err := d.fixed(n)
		if err != nil {
			return nil, err
		}
		return scalar(typ, b), nil
	}
	switch typ {
	case typeString:
		return d.text()
	case typeStruct:
		return d.record()
	case typeList, typeSet:
		return d.elements()
	case typeMap:
		return d.pairs()
	}
	return nil, malformed("a value has the type %d", typ)
}

func scalar(typ byte, b []byte) any {
	switch typ {
	case typeBool:
		return b[0] != 0
	case typeByte:
		return int8(b[0])
	case typeI16:
		return int16(binary.BigEndian.Uint16(b))
	case typeI32:
		return int32(binary.BigEndian.Uint32(b))
	case typeI64:
		return int64(binary.BigEndian.Uint64(b))
	}
	return math.Float64frombits(binary.BigEndian.Uint64(b))
}

func (d *decoder) elements() (any, error) {
	if d.depth--; d.depth < 0 {
		return nil, malformed("it nests deeper than %d", maxDepth)
	}
	defer func() { d.depth++ }()
	typ, err := d.fixed(1)
	if err != nil {
		return nil, err
	}
	kind := typ[0]
	n, err := d.word()
	if err != nil {
		return nil, err
	}
	if int32(n) < 0 {
		return nil, malformed("a list has %d elements", int32(n))
	}
	out := make([]any, 0, min(n, 1024))
	for range n {
		v, err := d.value(kind)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (d *decoder) pairs() (any, error) {
	if d.depth--; d.depth < 0 {
		return nil, malformed("it nests deeper than %d", maxDepth)
	}
	defer func() { d.depth++ }()
	types, err := d.fixed(2)
	if err != nil {
		return nil, err
	}
	keys, values := types[0], types[1]
	n, err := d.word()
	if err != nil {
		return nil, err
	}
	if int32(n) < 0 {
		return nil, malformed("a map has %d entries", int32(n))
	}
	out := map[string]any{}
	for range n {
		k, err := d.value(keys)
		if err != nil {
			return nil, err
		}
		v, err := d.value(values)
		if err != nil {
			return nil, err
		}
		if s, ok := k.(string); ok {
			out[s] = v
		}
	}
	if keys != typeString && n > 0 {
		return nil, nil
	}
	return out, nil
}
