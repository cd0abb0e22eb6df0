package scantest

import (
	le "encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"math/rand"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	numbers "github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/parquet/variant"
)

// variantValue is a value of a variant. Its kind says which field holds it.
type variantValue struct {
	kind   variant.Type
	number int64 // of integers, dates, times and decimals; 1 is true
	real   float64
	bytes  []byte // of text, binary and uuids
	scale  byte   // of decimals
	fields []variantField
	list   []*variantValue
}

// variantField is a field of an object; an object's fields are sorted by name.
type variantField struct {
	name  string
	value *variantValue
}

var variantKinds = []variant.Type{variant.Null, variant.Bool, variant.Int8, variant.Int16, variant.Int32, variant.Int64, variant.String, variant.String, variant.Double, variant.Decimal4,
	variant.Decimal8, variant.Decimal16, variant.Date, variant.TimestampMicros, variant.TimestampMicrosNTZ, variant.Float, variant.Binary, variant.Time,
	variant.TimestampNanos, variant.TimestampNanosNTZ, variant.UUID}

// randomVariant makes a value nested at most depth deep, of few names and numbers.
func randomVariant(r *rand.Rand, depth int) *variantValue {
	if depth > 0 && r.Intn(3) > 0 {
		v := &variantValue{kind: variant.Object}
		if r.Intn(3) == 0 {
			v.kind = variant.Array
			for range r.Intn(4) {
				v.list = append(v.list, randomVariant(r, depth-1))
			}
			return v
		}
		for _, name := range []string{"a", "b", "c", "é"} {
			if r.Intn(2) == 0 {
				v.fields = append(v.fields, variantField{name, randomVariant(r, depth-1)})
			}
		}
		return v
	}
	v := &variantValue{kind: oneOf(r, variantKinds...), number: int64(r.Intn(200)) - 100}
	switch v.kind {
	case variant.Null:
		v.number = 0
	case variant.Bool:
		v.number &= 1
	case variant.Double, variant.Float:
		v.real, v.number = randomFloat(r, v.number), 0
	case variant.Decimal4, variant.Decimal8, variant.Decimal16:
		v.scale = byte(oneOf(r, 2, 2, 2, 0))
	case variant.String:
		v.number, v.bytes = 0, []byte(oneOf(r, "", "a", "zebra", "日本語", strings.Repeat("long ", 20)))
	case variant.Binary:
		v.number, v.bytes = 0, []byte{byte(r.Intn(256)), 0}
	case variant.UUID:
		v.number, v.bytes = 0, slices.Repeat([]byte{byte(r.Intn(256))}, 16)
	case variant.Time:
		v.number += 100
	}
	return v
}

// spell writes a value as text, with its type.
func (v *variantValue) spell() string {
	out := fmt.Sprintf("%d:", v.kind)
	switch v.kind {
	case variant.Object:
		for _, f := range v.fields {
			out += hex.EncodeToString([]byte(f.name)) + "=" + f.value.spell() + "|"
		}
		return "<" + out + ">"
	case variant.Array:
		for _, e := range v.list {
			out += e.spell() + "|"
		}
		return "<" + out + ">"
	case variant.Double, variant.Float:
		return out + spellFloat(v.real)
	case variant.Decimal4, variant.Decimal8, variant.Decimal16:
		return out + fmt.Sprintf("%d/%d", v.number, v.scale)
	}
	return out + fmt.Sprint(v.number) + hex.EncodeToString(v.bytes)
}

// decodedVariant reads what a scan gave, with a decoder that is not ours.
func decodedVariant(metadata, value []byte) (*variantValue, error) {
	v, err := variant.New(metadata, value)
	if err != nil {
		return nil, err
	}
	return decoded(v)
}

func decoded(v variant.Value) (*variantValue, error) {
	out := &variantValue{kind: v.Type()}
	switch x := v.Value().(type) {
	case nil:
	case bool:
		out.number = int64(rank(x))
	case int8:
		out.number = int64(x)
	case int16:
		out.number = int64(x)
	case int32:
		out.number = int64(x)
	case int64:
		out.number = x
	case float32:
		out.real = float64(x)
	case float64:
		out.real = x
	case arrow.Date32:
		out.number = int64(x)
	case arrow.Time64:
		out.number = int64(x)
	case arrow.Timestamp:
		out.number = int64(x)
	case string:
		out.bytes = []byte(x)
	case []byte:
		out.bytes = x
	case variant.DecimalValue[numbers.Decimal32]:
		out.scale, out.number = x.Scale, int64(x.Value.(numbers.Decimal32))
	case variant.DecimalValue[numbers.Decimal64]:
		out.scale, out.number = x.Scale, int64(x.Value.(numbers.Decimal64))
	case variant.DecimalValue[numbers.Decimal128]:
		out.scale, out.number = x.Scale, x.Value.(numbers.Decimal128).BigInt().Int64()
	case variant.ObjectValue:
		for name, inner := range x.Values() {
			f, err := decoded(inner)
			if err != nil {
				return nil, err
			}
			out.fields = append(out.fields, variantField{name, f})
		}
		slices.SortFunc(out.fields, func(a, b variantField) int { return strings.Compare(a.name, b.name) })
	case variant.ArrayValue:
		for inner := range x.Values() {
			e, err := decoded(inner)
			if err != nil {
				return nil, err
			}
			out.list = append(out.list, e)
		}
	default:
		if v.Type() != variant.UUID {
			return nil, fmt.Errorf("a variant of %T", x)
		}
		out.bytes = v.Bytes()[1:17]
	}
	return out, nil
}

// keys lists the names of all fields at any depth, sorted.
func (v *variantValue) keys() []string {
	var out []string
	for _, f := range v.fields {
		out = append(append(out, f.name), f.value.keys()...)
	}
	for _, e := range v.list {
		out = append(out, e.keys()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// variantMetadata is the binary form of a dictionary of sorted names.
func variantMetadata(keys []string) []byte {
	out := []byte{0x11, byte(len(keys))} // version 1, sorted, sizes of one byte
	at, text := 0, ""
	for _, k := range append([]string{""}, keys...) {
		at += len(k)
		text += k
		out = append(out, byte(at))
	}
	return append(out, text...)
}

// encode is the binary form of a value over a dictionary. Offsets take two bytes.
func (v *variantValue) encode(keys []string) []byte {
	switch v.kind {
	case variant.Object:
		out := []byte{1<<2 | 2, byte(len(v.fields))}
		var values [][]byte
		for _, f := range v.fields {
			out = append(out, byte(slices.Index(keys, f.name)))
			values = append(values, f.value.encode(keys))
		}
		return appendOffsets(out, values)
	case variant.Array:
		out := []byte{1<<2 | 3, byte(len(v.list))}
		var values [][]byte
		for _, e := range v.list {
			values = append(values, e.encode(keys))
		}
		return appendOffsets(out, values)
	}
	return v.primitive()
}

func appendOffsets(out []byte, values [][]byte) []byte {
	at := 0
	for _, v := range append([][]byte{nil}, values...) {
		at += len(v)
		out = le.LittleEndian.AppendUint16(out, uint16(at))
	}
	return append(out, slices.Concat(values...)...)
}

// The numbers of primitive types in the binary form.
var variantIDs = map[variant.Type]byte{variant.Int8: 3, variant.Int16: 4, variant.Int32: 5, variant.Int64: 6, variant.Double: 7, variant.Decimal4: 8, variant.Decimal8: 9,
	variant.Decimal16: 10, variant.Date: 11, variant.TimestampMicros: 12, variant.TimestampMicrosNTZ: 13, variant.Float: 14, variant.Binary: 15, variant.String: 16,
	variant.Time: 17, variant.TimestampNanos: 18, variant.TimestampNanosNTZ: 19, variant.UUID: 20}

func (v *variantValue) primitive() []byte {
	head := []byte{variantIDs[v.kind] << 2}
	switch v.kind {
	case variant.Null:
		return []byte{0}
	case variant.Bool:
		return []byte{byte(2-v.number) << 2}
	case variant.Int8:
		return append(head, byte(v.number))
	case variant.Int16:
		return le.LittleEndian.AppendUint16(head, uint16(v.number))
	case variant.Int32, variant.Date:
		return le.LittleEndian.AppendUint32(head, uint32(v.number))
	case variant.Double:
		return le.LittleEndian.AppendUint64(head, math.Float64bits(v.real))
	case variant.Float:
		return le.LittleEndian.AppendUint32(head, math.Float32bits(float32(v.real)))
	case variant.Decimal4:
		return le.LittleEndian.AppendUint32(append(head, v.scale), uint32(v.number))
	case variant.Decimal8:
		return le.LittleEndian.AppendUint64(append(head, v.scale), uint64(v.number))
	case variant.Decimal16:
		return le.LittleEndian.AppendUint64(le.LittleEndian.AppendUint64(append(head, v.scale), uint64(v.number)), uint64(v.number>>63))
	case variant.String:
		if n := len(v.bytes); n < 64 {
			return append([]byte{byte(n)<<2 | 1}, v.bytes...)
		}
		return append(le.LittleEndian.AppendUint32(head, uint32(len(v.bytes))), v.bytes...)
	case variant.Binary:
		return append(le.LittleEndian.AppendUint32(head, uint32(len(v.bytes))), v.bytes...)
	case variant.UUID:
		return append(head, v.bytes...)
	}
	return le.LittleEndian.AppendUint64(head, uint64(v.number))
}

// big is a decimal's unscaled number.
func (v *variantValue) big() *big.Int { return big.NewInt(v.number) }
