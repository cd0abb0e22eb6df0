package scan

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/fault"
)

// keySet maps keys, which are byte strings, to the highest sequence number that each was added with. Keys lie one after the other in an
// arena, so that millions of them cost little more than their bytes.
type keySet struct {
	seed  maphash.Seed
	arena []byte   // per key: sequence number (8 bytes), length (uvarint), key
	slots []uint64 // 0: free; else the upper bits of the hash, and the key's place in the arena plus one
	keys  int
}

const (
	placeBits = 44 // of a slot
	placeMask = 1<<placeBits - 1
)

func newKeySet() *keySet { return &keySet{seed: maphash.MakeSeed(), slots: make([]uint64, 16)} }

// size is the memory that the set takes, in bytes.
func (s *keySet) size() int64 { return int64(cap(s.arena)) + 8*int64(len(s.slots)) }

// add takes in a key.
func (s *keySet) add(key []byte, sequence int64) {
	if 4*(s.keys+1) > 3*len(s.slots) {
		s.grow()
	}
	hash := maphash.Bytes(s.seed, key)
	i, at := s.find(key, hash)
	if at >= 0 {
		if int64(binary.LittleEndian.Uint64(s.arena[at:])) < sequence {
			binary.LittleEndian.PutUint64(s.arena[at:], uint64(sequence))
		}
		return
	}
	s.slots[i] = hash&^placeMask | uint64(len(s.arena)+1)
	s.arena = binary.LittleEndian.AppendUint64(s.arena, uint64(sequence))
	s.arena = append(binary.AppendUvarint(s.arena, uint64(len(key))), key...)
	s.keys++
}

// addAll takes in another set's keys, all with one sequence number.
func (s *keySet) addAll(o *keySet, sequence int64) {
	for at := 0; at < len(o.arena); {
		key := o.key(at)
		s.add(key, sequence)
		n, size := binary.Uvarint(o.arena[at+8:])
		at += 8 + size + int(n)
	}
}

// sequence gives the sequence number of a key; false: the set lacks it.
func (s *keySet) sequence(key []byte) (int64, bool) {
	if s.keys == 0 {
		return 0, false
	}
	_, at := s.find(key, maphash.Bytes(s.seed, key))
	if at < 0 {
		return 0, false
	}
	return int64(binary.LittleEndian.Uint64(s.arena[at:])), true
}

// find gives a key's place in the arena, or the free slot where it would go and -1.
func (s *keySet) find(key []byte, hash uint64) (slot, at int) {
	mask := len(s.slots) - 1
	for i := int(hash) & mask; ; i = (i + 1) & mask {
		v := s.slots[i]
		if v == 0 {
			return i, -1
		}
		if (v^hash)&^placeMask != 0 {
			continue
		}
		if at := int(v&placeMask) - 1; bytes.Equal(s.key(at), key) {
			return i, at
		}
	}
}

func (s *keySet) key(at int) []byte {
	n, size := binary.Uvarint(s.arena[at+8:])
	from := at + 8 + size
	return s.arena[from : from+int(n)]
}

func (s *keySet) grow() {
	old := s.slots
	s.slots = make([]uint64, 2*len(old))
	mask := len(s.slots) - 1
	for _, v := range old {
		if v == 0 {
			continue
		}
		i := int(maphash.Bytes(s.seed, s.key(int(v&placeMask)-1))) & mask
		for s.slots[i] != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = v
	}
}

// appendKey appends a value to a row's key. Keys of rows are equal where Iceberg holds the rows' values for equal: null equals null, every
// NaN equals every other, and -0.0 is not 0.0.
func appendKey(key []byte, a arrow.Array, i int) ([]byte, error) {
	if e, ok := a.(array.ExtensionArray); ok {
		a = e.Storage()
	}
	if a.IsNull(i) {
		return append(key, 0), nil
	}
	key = append(key, 1)
	switch a := a.(type) {
	case *array.Null:
		return key, nil
	case *array.Boolean:
		return append(key, byte(boolInt(a.Value(i)))), nil
	case *array.Int32:
		return binary.LittleEndian.AppendUint32(key, uint32(a.Value(i))), nil
	case *array.Int64:
		return binary.LittleEndian.AppendUint64(key, uint64(a.Value(i))), nil
	case *array.Date32:
		return binary.LittleEndian.AppendUint32(key, uint32(a.Value(i))), nil
	case *array.Time64:
		return binary.LittleEndian.AppendUint64(key, uint64(a.Value(i))), nil
	case *array.Timestamp:
		return binary.LittleEndian.AppendUint64(key, uint64(a.Value(i))), nil
	case *array.Float32:
		if v := a.Value(i); v == v {
			return binary.LittleEndian.AppendUint32(key, math.Float32bits(v)), nil
		}
		return binary.LittleEndian.AppendUint32(key, 0x7fc00000), nil
	case *array.Float64:
		if v := a.Value(i); v == v {
			return binary.LittleEndian.AppendUint64(key, math.Float64bits(v)), nil
		}
		return binary.LittleEndian.AppendUint64(key, 0x7ff8000000000000), nil
	case *array.Decimal128:
		v := a.Value(i)
		key = binary.LittleEndian.AppendUint64(key, v.LowBits())
		return binary.LittleEndian.AppendUint64(key, uint64(v.HighBits())), nil
	case *array.String:
		v := a.Value(i)
		return append(binary.AppendUvarint(key, uint64(len(v))), v...), nil
	case *array.Binary:
		v := a.Value(i)
		return append(binary.AppendUvarint(key, uint64(len(v))), v...), nil
	case *array.FixedSizeBinary:
		return append(key, a.Value(i)...), nil
	}
	return nil, fault.New(fault.Unsupported, "equality deletes by a column of the Arrow type %s are not supported", a.DataType())
}
