package scantest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"math/rand"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// Values are held as bool, int64 (of every number, date and time), float64 (of float too), decimal128.Num, string, []byte (of uuid, fixed and
// binary), *variantValue, record (of a struct), []any (of a list) and [][2]any (of a map); nil is null.

// record holds a struct's values by field id. A field that a file was written without has no entry.
type record map[int]any

// randomValue makes a value of a small domain, so that files, keys and filters meet.
func randomValue(r *rand.Rand, t *typ) any {
	n := int64(r.Intn(14)) - 4
	switch t.kind {
	case boolean:
		return n%2 == 0
	case integer:
		return oneOf(r, n*3, n*3, n*3, math.MinInt32, math.MaxInt32)
	case long:
		return oneOf(r, n*3, n*3, n*3, math.MinInt64, math.MaxInt64, math.MaxInt32+1)
	case float:
		return float64(float32(randomFloat(r, n)))
	case double:
		return randomFloat(r, n)
	case decimal:
		return randomDecimal(r, t, n)
	case date:
		return oneOf(r, n*200, n, -719162, 2932896)
	case clock:
		return (n + 4) * 3600e6 / 2 % 86400e6
	case timestamp, timestampTZ:
		return oneOf(r, n*1800e6*7+int64(r.Intn(3)), n, -62135596800e6, 253402300799999999)
	case timestampNS, timestampTZNS:
		return n*1800e9*7 + int64(r.Intn(3))*999
	case text:
		return oneOf(r, "", "a", "ab", "abc", "b", "ba", "zebra crossings are striped", "zebra crossings are few", "é", "日本語です", "0123456789abcde😀", "\U0010ffff")
	case uuid:
		out := make([]byte, 16)
		out[0], out[15] = oneOf[byte](r, 0, 1, 0x7f, 0x80, 0xff), byte(r.Intn(2))
		return out
	case fixed:
		out := make([]byte, t.length)
		out[0], out[t.length-1] = oneOf[byte](r, 0, 1, 0x7f, 0x80, 0xff), byte(r.Intn(3))
		return out
	case binary, geometry:
		return oneOf(r, []byte{}, []byte{0}, []byte{1, 2}, []byte{1, 2, 3}, []byte{0xff}, []byte{0xff, 0xff, 1}, bytes.Repeat([]byte{0xff}, 20))
	case variants:
		return randomVariant(r, 2)
	case structure:
		out := record{}
		for _, f := range t.fields {
			out[f.id] = randomField(r, f)
		}
		return out
	case list:
		out := make([]any, r.Intn(4))
		for i := range out {
			out[i] = randomField(r, t.fields[0])
		}
		return out
	case mapping:
		return randomMap(r, t)
	}
	return nil
}

func randomMap(r *rand.Rand, t *typ) any {
	out, seen := [][2]any{}, map[string]bool{}
	for range r.Intn(4) {
		k := randomValue(r, t.fields[0].typ)
		if name := spell(t.fields[0].typ, k); !seen[name] {
			seen[name] = true
			out = append(out, [2]any{k, randomField(r, t.fields[1])})
		}
	}
	return out
}

// randomField makes a field's value, null at times.
func randomField(r *rand.Rand, f *field) any {
	if f.typ.kind == unknown || !f.required && r.Intn(5) == 0 {
		return nil
	}
	return randomValue(r, f.typ)
}

func randomFloat(r *rand.Rand, n int64) float64 {
	switch r.Intn(14) {
	case 0:
		return math.NaN()
	case 1:
		return math.Copysign(0, -1)
	case 2:
		return math.Inf(1)
	case 3:
		return math.Inf(-1)
	case 4:
		return 0
	}
	return float64(n) / 4
}

func randomDecimal(r *rand.Rand, t *typ, n int64) decimal128.Num {
	if r.Intn(6) > 0 {
		return decimal128.FromI64(n * 7)
	}
	most := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.precision)), nil)
	most.Sub(most, big.NewInt(1))
	if r.Intn(2) == 0 {
		most.Neg(most)
	}
	return decimal128.FromBigInt(most)
}

func oneOf[T any](r *rand.Rand, values ...T) T { return values[r.Intn(len(values))] }

// promoted brings a value into the type that its column grew to.
func promoted(v any, from, to *typ) any {
	if v == nil || from.kind != date || to.kind == date {
		return v
	}
	return v.(int64) * 86400e6
}

// spell writes a value as text that is equal for equal values only: -0.0 is not 0.0, and there is one NaN.
func spell(t *typ, v any) string {
	switch v := v.(type) {
	case nil:
		return "_"
	case bool:
		return map[bool]string{true: "t", false: "f"}[v]
	case int64:
		return fmt.Sprint(v)
	case float64:
		return spellFloat(v)
	case decimal128.Num:
		return v.BigInt().String()
	case string:
		return "'" + hex.EncodeToString([]byte(v)) + "'"
	case []byte:
		return "x" + hex.EncodeToString(v)
	case *variantValue:
		return v.spell()
	case record:
		var parts []string
		for _, f := range t.fields {
			parts = append(parts, spell(f.typ, v[f.id]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, spell(t.fields[0].typ, e))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case [][2]any:
		var parts []string
		for _, e := range v {
			parts = append(parts, spell(t.fields[0].typ, e[0])+":"+spell(t.fields[1].typ, e[1]))
		}
		return "(" + strings.Join(parts, ",") + ")"
	}
	panic(fmt.Sprintf("a %T is no value", v))
}

func spellFloat(v float64) string {
	if v != v {
		return "nan"
	}
	return fmt.Sprintf("%016x", math.Float64bits(v))
}

// defaultJSON spells a default in metadata.
func defaultJSON(t *typ, v any) any {
	switch t.kind {
	case decimal:
		return v.(decimal128.Num).ToString(int32(t.scale))
	case date:
		return time.Unix(v.(int64)*86400, 0).UTC().Format("2006-01-02")
	case clock:
		return time.UnixMicro(v.(int64)).UTC().Format("15:04:05.000000")
	case timestamp:
		return time.UnixMicro(v.(int64)).UTC().Format("2006-01-02T15:04:05.000000")
	case timestampTZ:
		return time.UnixMicro(v.(int64)).UTC().Format("2006-01-02T15:04:05.000000") + "+00:00"
	case timestampNS:
		return time.Unix(0, v.(int64)).UTC().Format("2006-01-02T15:04:05.000000000")
	case timestampTZNS:
		return time.Unix(0, v.(int64)).UTC().Format("2006-01-02T15:04:05.000000000") + "+00:00"
	case uuid:
		h := hex.EncodeToString(v.([]byte))
		return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
	case fixed, binary, geometry:
		return hex.EncodeToString(v.([]byte))
	}
	return v
}

// order compares two values of one primitive type: NaN is the largest and equal to itself, -0.0 equals 0.0, bytes are unsigned.
func order(a, b any) int {
	switch x := a.(type) {
	case bool:
		return rank(x) - rank(b.(bool))
	case int64:
		return sign(x, b.(int64))
	case float64:
		y := b.(float64)
		if x != x || y != y {
			return rank(x != x) - rank(y != y)
		}
		return sign(x, y)
	case decimal128.Num:
		return x.BigInt().Cmp(b.(decimal128.Num).BigInt())
	case string:
		return strings.Compare(x, b.(string))
	case []byte:
		return bytes.Compare(x, b.([]byte))
	}
	panic(fmt.Sprintf("a %T has no order", a))
}

func rank(b bool) int {
	if b {
		return 1
	}
	return 0
}

func sign[T int64 | float64](x, y T) int { return rank(x > y) - rank(x < y) }
