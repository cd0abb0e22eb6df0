//go:build cgo

package duckdb

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
)

// transforms are Iceberg's bucket and truncate. A truncated value comes as text, which a macro brings back into its own type.
var transforms = []scalar{
	{name: "skua_bucket", parameters: []int{typeInteger, typeAny}, result: typeInteger, call: bucketCall},
	{name: "skua_truncated", parameters: []int{typeInteger, typeAny}, result: typeVarchar, call: truncateCall},
}

// widthOf gives the first argument of a transform.
func widthOf(a arrow.Array, i int) (int64, error) {
	n := int64(a.(*array.Int32).Value(i))
	if n <= 0 {
		return 0, fault.New(fault.Invalid, "the width of a transform is %d, and must be positive", n)
	}
	return n, nil
}

func bucketCall(arguments []arrow.Array, rows int) (arrow.Array, error) {
	b := array.NewInt32Builder(memory.DefaultAllocator)
	defer b.Release()
	for i := range rows {
		if arguments[0].IsNull(i) || isNull(arguments[1], i) {
			b.AppendNull()
			continue
		}
		n, err := widthOf(arguments[0], i)
		if err != nil {
			return nil, err
		}
		hashed, err := bucketBytes(arguments[1], i)
		if err != nil {
			return nil, err
		}
		b.Append(int32(int64(murmur3(hashed)&0x7fffffff) % n))
	}
	return b.NewArray(), nil
}

// bucketBytes gives what Iceberg hashes of a value: whole numbers as 64 bits, decimals as their fewest bytes.
func bucketBytes(a arrow.Array, i int) ([]byte, error) {
	switch a := a.(type) {
	case *array.Int8:
		return int64Bytes(uint64(a.Value(i))), nil
	case *array.Int16:
		return int64Bytes(uint64(a.Value(i))), nil
	case *array.Int32:
		return int64Bytes(uint64(a.Value(i))), nil
	case *array.Int64:
		return int64Bytes(uint64(a.Value(i))), nil
	case *array.Date32:
		return int64Bytes(uint64(a.Value(i))), nil
	case *array.Time64:
		return int64Bytes(uint64(a.Value(i))), nil
	case *array.Timestamp:
		return int64Bytes(uint64(micros(a, i))), nil
	case *array.Decimal128:
		return unscaledBytes(a.Value(i)), nil
	case *array.String:
		return []byte(a.Value(i)), nil
	case *array.Binary:
		return a.Value(i), nil
	}
	return nil, fault.New(fault.Invalid, "values of type %s have no bucket", a.DataType())
}

func truncateCall(arguments []arrow.Array, rows int) (arrow.Array, error) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for i := range rows {
		if arguments[0].IsNull(i) || isNull(arguments[1], i) {
			b.AppendNull()
			continue
		}
		w, err := widthOf(arguments[0], i)
		if err != nil {
			return nil, err
		}
		text, err := truncated(arguments[1], i, w)
		if err != nil {
			return nil, err
		}
		b.Append(text)
	}
	return b.NewArray(), nil
}

// floored writes the multiple of w at or below v.
func floored(v, w int64) string { return strconv.FormatInt(v-((v%w)+w)%w, 10) }

// truncated writes a truncated value as its type reads it.
func truncated(a arrow.Array, i int, w int64) (string, error) {
	switch a := a.(type) {
	case *array.Int8:
		return floored(int64(a.Value(i)), w), nil
	case *array.Int16:
		return floored(int64(a.Value(i)), w), nil
	case *array.Int32: // which wraps around, as writers have it
		v := int64(a.Value(i))
		return strconv.Itoa(int(int32(v - ((v%w)+w)%w))), nil
	case *array.Int64:
		return floored(a.Value(i), w), nil
	case *array.Decimal128:
		v := a.Value(i).BigInt()
		v.Sub(v, new(big.Int).Mod(v, big.NewInt(w)))
		if t := a.DataType().(*arrow.Decimal128Type); new(big.Int).Abs(v).Cmp(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Precision)), nil)) >= 0 {
			return "", fault.New(fault.Invalid, "NUMERIC_VALUE_OUT_OF_RANGE: %s, truncated to multiples of %d, has more digits than %s: cast it to a wider decimal first",
				a.Value(i).ToString(t.Scale), w, t)
		}
		return decimal128.FromBigInt(v).ToString(a.DataType().(*arrow.Decimal128Type).Scale), nil
	case *array.String:
		return prefixOf(a.Value(i), w), nil
	case *array.Binary:
		var b strings.Builder
		for _, c := range a.Value(i)[:min(int64(len(a.Value(i))), w)] {
			fmt.Fprintf(&b, "\\x%02X", c)
		}
		return b.String(), nil
	}
	return "", fault.New(fault.Invalid, "values of type %s are not truncated", a.DataType())
}

// prefixOf gives the first n characters.
func prefixOf(s string, n int64) string {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return s[:at]
}
