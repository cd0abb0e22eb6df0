//go:build cgo

package duckdb

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/big"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
)

// sparkSeed is what Spark's hashes begin with.
const sparkSeed = 42

// hashBytes mixes bytes into a hash.
type hashBytes func(b []byte, seed uint64) uint64

// fold mixes a value into a hash as Spark does: nulls leave it, nested values go in part by part.
func fold(a arrow.Array, i int, seed uint64, h hashBytes) (uint64, error) {
	if isNull(a, i) {
		return seed, nil
	}
	switch a := a.(type) {
	case *array.Struct:
		return foldAll(seed, h, a.NumField(), func(j int) (arrow.Array, int) { return a.Field(j), i })
	case *array.Map:
		from, to := a.ValueOffsets(i)
		return foldAll(seed, h, 2*int(to-from), func(j int) (arrow.Array, int) {
			if j%2 == 0 {
				return a.Keys(), int(from) + j/2
			}
			return a.Items(), int(from) + j/2
		})
	case *array.List:
		from, to := a.ValueOffsets(i)
		return foldAll(seed, h, int(to-from), func(j int) (arrow.Array, int) { return a.ListValues(), int(from) + j })
	}
	b, err := hashedBytes(a, i)
	if err != nil {
		return 0, err
	}
	return h(b, seed), nil
}

func foldAll(seed uint64, h hashBytes, n int, part func(j int) (arrow.Array, int)) (uint64, error) {
	var err error
	for j := range n {
		a, i := part(j)
		if seed, err = fold(a, i, seed, h); err != nil {
			return 0, err
		}
	}
	return seed, nil
}

func int32Bytes(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
func int64Bytes(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

// hashedBytes gives the bytes of a value that Spark hashes. Both zeros are one, and so are all NaNs.
func hashedBytes(a arrow.Array, i int) ([]byte, error) {
	switch a := a.(type) {
	case *array.Boolean:
		if a.Value(i) {
			return int32Bytes(1), nil
		}
		return int32Bytes(0), nil
	case *array.Int8:
		return int32Bytes(uint32(int32(a.Value(i)))), nil
	case *array.Int16:
		return int32Bytes(uint32(int32(a.Value(i)))), nil
	case *array.Int32:
		return int32Bytes(uint32(a.Value(i))), nil
	case *array.Date32:
		return int32Bytes(uint32(a.Value(i))), nil
	case *array.Int64:
		return int64Bytes(uint64(a.Value(i))), nil
	case *array.Timestamp:
		return int64Bytes(uint64(micros(a, i))), nil
	case *array.Float32:
		switch v := a.Value(i); {
		case v == 0:
			return int32Bytes(0), nil
		case v != v:
			return int32Bytes(0x7fc00000), nil
		default:
			return int32Bytes(math.Float32bits(v)), nil
		}
	case *array.Float64:
		switch v := a.Value(i); {
		case v == 0:
			return int64Bytes(0), nil
		case v != v:
			return int64Bytes(0x7ff8000000000000), nil
		default:
			return int64Bytes(math.Float64bits(v)), nil
		}
	case *array.Decimal128:
		if a.DataType().(*arrow.Decimal128Type).Precision <= 18 {
			return int64Bytes(a.Value(i).LowBits()), nil
		}
		return unscaledBytes(a.Value(i)), nil
	case *array.String:
		return []byte(a.Value(i)), nil
	case *array.Binary:
		return a.Value(i), nil
	}
	return nil, fault.New(fault.Unsupported, "values of type %s are not hashed", a.DataType())
}

// micros gives a timestamp in microseconds, earlier ones where it lies between two.
func micros(a *array.Timestamp, i int) int64 {
	v := int64(a.Value(i))
	switch a.DataType().(*arrow.TimestampType).Unit {
	case arrow.Second:
		return v * 1e6
	case arrow.Millisecond:
		return v * 1e3
	case arrow.Nanosecond:
		return floorDiv(v, 1000)
	}
	return v
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// unscaledBytes gives the fewest big-endian bytes, with a sign, of a decimal without its scale.
func unscaledBytes(d decimal128.Num) []byte {
	v := d.BigInt()
	if v.Sign() >= 0 {
		b := v.Bytes()
		if len(b) == 0 || b[0]&0x80 != 0 {
			b = append([]byte{0}, b...)
		}
		return b
	}
	n := new(big.Int).Not(v).BitLen()/8 + 1
	return new(big.Int).Add(v, new(big.Int).Lsh(big.NewInt(1), uint(8*n))).FillBytes(make([]byte, n))
}

// The constants of XXH64.
const (
	xxPrime1 uint64 = 0x9E3779B185EBCA87
	xxPrime2 uint64 = 0xC2B2AE3D27D4EB4F
	xxPrime3 uint64 = 0x165667B19E3779F9
	xxPrime4 uint64 = 0x85EBCA77C2B2AE63
	xxPrime5 uint64 = 0x27D4EB2F165667C5
)

func xxRound(acc, lane uint64) uint64 {
	return bits.RotateLeft64(acc+lane*xxPrime2, 31) * xxPrime1
}

// xxh64 is XXH64 with a seed.
func xxh64(b []byte, seed uint64) uint64 {
	n := uint64(len(b))
	h := seed + xxPrime5
	if n >= 32 {
		v := [4]uint64{seed + xxPrime1 + xxPrime2, seed + xxPrime2, seed, seed - xxPrime1}
		for ; len(b) >= 32; b = b[32:] {
			for i := range v {
				v[i] = xxRound(v[i], binary.LittleEndian.Uint64(b[8*i:]))
			}
		}
		h = bits.RotateLeft64(v[0], 1) + bits.RotateLeft64(v[1], 7) + bits.RotateLeft64(v[2], 12) + bits.RotateLeft64(v[3], 18)
		for _, lane := range v {
			h = (h^xxRound(0, lane))*xxPrime1 + xxPrime4
		}
	}
	h += n
	for ; len(b) >= 8; b = b[8:] {
		h = bits.RotateLeft64(h^xxRound(0, binary.LittleEndian.Uint64(b)), 27)*xxPrime1 + xxPrime4
	}
	if len(b) >= 4 {
		h = bits.RotateLeft64(h^uint64(binary.LittleEndian.Uint32(b))*xxPrime1, 23)*xxPrime2 + xxPrime3
		b = b[4:]
	}
	for _, c := range b {
		h = bits.RotateLeft64(h^uint64(c)*xxPrime5, 11) * xxPrime1
	}
	h = (h ^ h>>33) * xxPrime2
	h = (h ^ h>>29) * xxPrime3
	return h ^ h>>32
}

func murmurMix(h, k uint32) uint32 {
	k = bits.RotateLeft32(k*0xcc9e2d51, 15) * 0x1b873593
	return bits.RotateLeft32(h^k, 13)*5 + 0xe6546b64
}

func murmurEnd(h, n uint32) uint32 {
	h ^= n
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// murmur3 is Murmur3 of 32 bits, x86 variant, with the seed 0, as Iceberg's buckets have it.
func murmur3(b []byte) uint32 {
	n, h := uint32(len(b)), uint32(0)
	for ; len(b) >= 4; b = b[4:] {
		h = murmurMix(h, binary.LittleEndian.Uint32(b))
	}
	k := uint32(0)
	for i := len(b) - 1; i >= 0; i-- {
		k = k<<8 | uint32(b[i])
	}
	h ^= bits.RotateLeft32(k*0xcc9e2d51, 15) * 0x1b873593
	return murmurEnd(h, n)
}

// sparkMurmur is Spark's hash: each byte behind the last four goes in like a whole number.
func sparkMurmur(b []byte, seed uint64) uint64 {
	n, h := uint32(len(b)), uint32(seed)
	for ; len(b) >= 4; b = b[4:] {
		h = murmurMix(h, binary.LittleEndian.Uint32(b))
	}
	for _, c := range b {
		h = murmurMix(h, uint32(int32(int8(c))))
	}
	return uint64(murmurEnd(h, n))
}

// hashes are Spark's hash functions.
var hashes = []scalar{
	{name: "skua_xxhash64", result: typeBigint, varargs: true, call: func(arguments []arrow.Array, rows int) (arrow.Array, error) {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		defer b.Release()
		err := eachHash(arguments, rows, xxh64, func(h uint64) { b.Append(int64(h)) })
		return b.NewArray(), err
	}},
	{name: "skua_hash", result: typeInteger, varargs: true, call: func(arguments []arrow.Array, rows int) (arrow.Array, error) {
		b := array.NewInt32Builder(memory.DefaultAllocator)
		defer b.Release()
		err := eachHash(arguments, rows, sparkMurmur, func(h uint64) { b.Append(int32(h)) })
		return b.NewArray(), err
	}},
	{name: "skua_crc32", parameters: []int{typeBlob}, result: typeBigint, call: func(arguments []arrow.Array, rows int) (arrow.Array, error) {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		defer b.Release()
		in := arguments[0].(*array.Binary)
		for i := range rows {
			if in.IsNull(i) {
				b.AppendNull()
				continue
			}
			b.Append(int64(crc32.ChecksumIEEE(in.Value(i))))
		}
		return b.NewArray(), nil
	}},
}

// eachHash hashes the arguments row by row.
func eachHash(arguments []arrow.Array, rows int, h hashBytes, add func(uint64)) error {
	for i := range rows {
		seed := uint64(sparkSeed)
		for _, a := range arguments {
			var err error
			if seed, err = fold(a, i, seed, h); err != nil {
				return err
			}
		}
		add(seed)
	}
	return nil
}

// isNull reports whether a value is null, also where all are.
func isNull(a arrow.Array, i int) bool { return a.DataType().ID() == arrow.NULL || a.IsNull(i) }
