package scan

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"
	"github.com/google/uuid"

	"github.com/skua-data/skua/scan/manifest"
)

// Values of partitions, bounds and literals are held in one form per Arrow type, that of predicate.Literal: bool, int64, float64,
// decimal128.Num, string, []byte; nil is null.

// storageType looks through extension types.
func storageType(t arrow.DataType) arrow.DataType {
	if e, ok := t.(arrow.ExtensionType); ok {
		return e.StorageType()
	}
	return t
}

// normalize brings a partition value, as the manifest reader gives it, into the form of its type. False: it does not fit.
func normalize(v any, typ arrow.DataType) (any, bool) {
	if v == nil {
		return nil, true
	}
	switch t := storageType(typ).(type) {
	case *arrow.BooleanType:
		b, ok := v.(bool)
		return b, ok
	case *arrow.TimestampType:
		return normalizeTimestamp(v, t)
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type, *arrow.Date32Type, *arrow.Time64Type:
		return integer(v)
	case *arrow.Float32Type, *arrow.Float64Type:
		switch f := v.(type) {
		case float32:
			return float64(f), true
		case float64:
			return f, true
		}
	case *arrow.Decimal128Type:
		return normalizeDecimal(v, t)
	case *arrow.StringType:
		s, ok := v.(string)
		return s, ok && utf8.ValidString(s)
	case *arrow.BinaryType:
		return byteString(v)
	case *arrow.FixedSizeBinaryType:
		b, ok := byteString(v)
		return b, ok && len(b.([]byte)) == t.ByteWidth
	case *arrow.NullType:
		return nil, true
	}
	return nil, false
}

func integer(v any) (any, bool) {
	r := reflect.ValueOf(v)
	if r.CanInt() {
		return r.Int(), true
	}
	return nil, false
}

// normalizeTimestamp also takes a date: the value of an identity partition written before its column was promoted.
func normalizeTimestamp(v any, t *arrow.TimestampType) (any, bool) {
	n, ok := integer(v)
	if !ok {
		return nil, false
	}
	switch v.(type) {
	case iceberg.Date, manifest.Date:
		return n.(int64) * perDay(t), true
	}
	return n, true
}

func perDay(t *arrow.TimestampType) int64 {
	if t.Unit == arrow.Nanosecond {
		return 86400e9
	}
	return 86400e6
}

func normalizeDecimal(v any, t *arrow.Decimal128Type) (any, bool) {
	switch d := v.(type) {
	case manifest.Decimal:
		n, ok := decimalOf(d.Unscaled)
		return n, ok && d.Scale == int(t.Scale)
	case iceberg.DecimalLiteral:
		return d.Val, d.Scale == int(t.Scale)
	case iceberg.Decimal:
		return d.Val, d.Scale == int(t.Scale)
	case *big.Rat:
		scaled := new(big.Rat).Mul(d, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Scale)), nil)))
		if !scaled.IsInt() || scaled.Num().BitLen() > 127 {
			return nil, false
		}
		return decimal128.FromBigInt(scaled.Num()), true
	}
	raw, ok := byteString(v)
	if !ok {
		return nil, false
	}
	return decimalOf(raw.([]byte))
}

func byteString(v any) (any, bool) {
	switch b := v.(type) {
	case []byte:
		return b, true
	case uuid.UUID:
		return b[:], true
	}
	r := reflect.ValueOf(v)
	if r.Kind() == reflect.Array && r.Type().Elem().Kind() == reflect.Uint8 {
		out := make([]byte, r.Len())
		reflect.Copy(reflect.ValueOf(out), r)
		return out, true
	}
	return nil, false
}

// decimalOf reads a big-endian two's complement number.
func decimalOf(raw []byte) (any, bool) {
	if len(raw) == 0 || len(raw) > 16 {
		return nil, false
	}
	n := new(big.Int).SetBytes(raw)
	if raw[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(len(raw)*8)))
	}
	return decimal128.FromBigInt(n), true
}

// decodeBound reads a bound of a manifest in the type it is wanted in. The bytes may have been written before the column was promoted:
// then they are shorter. False: unknown, and whoever asks keeps the file.
func decodeBound(raw []byte, typ arrow.DataType) (any, bool) {
	if raw == nil {
		return nil, false
	}
	switch t := storageType(typ).(type) {
	case *arrow.BooleanType:
		return len(raw) == 1 && raw[0] != 0, len(raw) == 1
	case *arrow.Int32Type, *arrow.Int64Type, *arrow.Date32Type, *arrow.Time64Type:
		switch len(raw) {
		case 4:
			return int64(int32(binary.LittleEndian.Uint32(raw))), true
		case 8:
			return int64(binary.LittleEndian.Uint64(raw)), true
		}
	case *arrow.TimestampType:
		switch len(raw) {
		case 4: // a date once
			return int64(int32(binary.LittleEndian.Uint32(raw))) * perDay(t), true
		case 8:
			return int64(binary.LittleEndian.Uint64(raw)), true
		}
	case *arrow.Float32Type, *arrow.Float64Type:
		switch len(raw) {
		case 4:
			return float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))), true
		case 8:
			return math.Float64frombits(binary.LittleEndian.Uint64(raw)), true
		}
	case *arrow.Decimal128Type:
		return decimalOf(raw)
	case *arrow.StringType:
		return string(raw), true
	case *arrow.BinaryType, *arrow.FixedSizeBinaryType:
		return raw, true
	}
	return nil, false
}

// compare orders two values of one type: NaN is equal to itself and the largest, -0.0 equals 0.0, bytes are unsigned. False: they do
// not compare.
func compare(a, b any) (int, bool) {
	switch x := a.(type) {
	case bool:
		y, ok := b.(bool)
		return ordered(boolInt(x), boolInt(y)), ok
	case int64:
		y, ok := b.(int64)
		return ordered(x, y), ok
	case float64:
		y, ok := b.(float64)
		if math.IsNaN(x) || math.IsNaN(y) {
			return ordered(boolInt(math.IsNaN(x)), boolInt(math.IsNaN(y))), ok
		}
		return ordered(x, y), ok
	case decimal128.Num:
		y, ok := b.(decimal128.Num)
		return x.Cmp(y), ok
	case string:
		y, ok := b.(string)
		return strings.Compare(x, y), ok
	case []byte:
		y, ok := b.([]byte)
		return bytes.Compare(x, y), ok
	}
	return 0, false
}

func ordered[T int | int64 | float64](a, b T) int {
	if a < b {
		return -1
	}
	if a > b {
		return 1
	}
	return 0
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// text gives a string or binary value as a string, for prefixes.
func text(v any) (string, bool) {
	switch x := v.(type) {
	case string:
		return x, true
	case []byte:
		return string(x), true
	}
	return "", false
}
