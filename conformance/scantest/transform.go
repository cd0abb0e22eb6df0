package scantest

import (
	le "encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand"
	"time"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// transform makes a partition value of a column's.
type transform struct {
	name string
	n    int // buckets, or a width
}

// partitionField is a field of a spec.
type partitionField struct {
	id     int
	source int
	name   string
	transform
}

// spec is one of a table's partition specs.
type spec struct {
	id     int
	fields []partitionField
}

func (t transform) String() string {
	if t.n > 0 {
		return fmt.Sprintf("%s[%d]", t.name, t.n)
	}
	return t.name
}

// transformsOf lists what a column can be partitioned by.
func transformsOf(r *rand.Rand, t *typ) []transform {
	out := []transform{{name: "identity"}, {name: "identity"}, {name: "void"}}
	bucket, truncate := transform{"bucket", 1 + r.Intn(4)}, transform{"truncate", 1 + r.Intn(4)}
	switch t.kind {
	case boolean, float, double:
		return out
	case integer, long, decimal, text, binary:
		return append(out, bucket, truncate)
	case clock, uuid, fixed:
		return append(out, bucket)
	case date:
		return append(out[1:], bucket, transform{name: "year"}, transform{name: "month"}, transform{name: "month"}, transform{name: "day"}, transform{name: "day"})
	case timestamp, timestampTZ, timestampNS, timestampTZNS:
		return append(out[1:], bucket, transform{name: "year"}, transform{name: "year"}, transform{name: "month"}, transform{name: "month"}, transform{name: "day"}, transform{name: "hour"})
	}
	return nil
}

// result is the type of the partition values.
func (t transform) result(source *typ) *typ {
	switch t.name {
	case "bucket", "year", "month", "hour":
		return &typ{kind: integer}
	case "day":
		return &typ{kind: date}
	}
	return source
}

func (t transform) apply(source *typ, v any) any {
	if v == nil || t.name == "void" {
		return nil
	}
	switch t.name {
	case "bucket":
		return int64(hash(source, v)&math.MaxInt32) % int64(t.n)
	case "truncate":
		return truncated(source, v, t.n)
	case "identity":
		return v
	}
	at := moment(source, v.(int64))
	switch t.name {
	case "year":
		return int64(at.Year() - 1970)
	case "month":
		return int64((at.Year()-1970)*12 + int(at.Month()) - 1)
	case "hour":
		return floor(at.Unix(), 3600)
	}
	return floor(at.Unix(), 86400)
}

func moment(t *typ, v int64) time.Time {
	switch t.kind {
	case date:
		return time.Unix(v*86400, 0).UTC()
	case timestampNS, timestampTZNS:
		return time.Unix(0, v).UTC()
	}
	return time.UnixMicro(v).UTC()
}

func floor(v, by int64) int64 {
	q := v / by
	if v%by < 0 {
		q--
	}
	return q
}

// truncated wraps around at the smallest numbers, as writers do.
func truncated(source *typ, v any, width int) any {
	switch v := v.(type) {
	case int64:
		n := v - ((v%int64(width))+int64(width))%int64(width)
		if source.kind == integer {
			n = int64(int32(n))
		}
		return n
	case decimal128.Num:
		n := v.BigInt()
		rest := new(big.Int).Mod(n, big.NewInt(int64(width)))
		return decimal128.FromBigInt(new(big.Int).Sub(n, rest))
	case string:
		letters := []rune(v)
		return string(letters[:min(width, len(letters))])
	case []byte:
		return v[:min(width, len(v))]
	}
	panic(fmt.Sprintf("a %T cannot be truncated", v))
}

// hash is Iceberg's 32-bit hash of a value.
func hash(t *typ, v any) uint32 {
	switch v := v.(type) {
	case int64:
		if t.kind == timestampNS || t.kind == timestampTZNS {
			v = floor(v, 1000)
		}
		return murmur(le.LittleEndian.AppendUint64(nil, uint64(v)))
	case decimal128.Num:
		return murmur(twosComplement(v.BigInt()))
	case string:
		return murmur([]byte(v))
	case []byte:
		return murmur(v)
	}
	panic(fmt.Sprintf("a %T has no hash", v))
}

// twosComplement is the shortest big-endian form of a number.
func twosComplement(n *big.Int) []byte {
	for size := 1; ; size++ {
		limit := new(big.Int).Lsh(big.NewInt(1), uint(8*size-1))
		if n.Cmp(limit) < 0 && n.Cmp(new(big.Int).Neg(limit)) >= 0 {
			m := n
			if n.Sign() < 0 {
				m = new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), uint(8*size)))
			}
			return m.FillBytes(make([]byte, size))
		}
	}
}

// signed is the big-endian form of a number in some bytes.
func signed(n *big.Int, size int) []byte {
	short := twosComplement(n)
	out := make([]byte, size)
	if n.Sign() < 0 {
		for i := range out {
			out[i] = 0xff
		}
	}
	copy(out[size-len(short):], short)
	return out
}

// bigOf is a decimal's unscaled number.
func bigOf(v any) *big.Int { return v.(decimal128.Num).BigInt() }

// murmur is MurmurHash3 in 32 bits, of seed 0.
func murmur(b []byte) uint32 {
	h, size := uint32(0), uint32(len(b))
	mix := func(k uint32) uint32 { return bits.RotateLeft32(k*0xcc9e2d51, 15) * 0x1b873593 }
	for ; len(b) >= 4; b = b[4:] {
		h = bits.RotateLeft32(h^mix(le.LittleEndian.Uint32(b)), 13)*5 + 0xe6546b64
	}
	var tail uint32
	for i, c := range b {
		tail |= uint32(c) << (8 * i)
	}
	h ^= mix(tail) ^ size
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}
