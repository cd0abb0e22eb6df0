package predicate

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/fault"
)

// spread gives each row with an index the outcome of the value it points at; rows without keep what t holds.
func spread(t, values *truth, valid []uint64, indices arrow.Array) error {
	switch a := indices.(type) {
	case *array.Int8:
		return spreadBy(t, values, valid, a.Int8Values())
	case *array.Int16:
		return spreadBy(t, values, valid, a.Int16Values())
	case *array.Int32:
		return spreadBy(t, values, valid, a.Int32Values())
	case *array.Int64:
		return spreadBy(t, values, valid, a.Int64Values())
	case *array.Uint8:
		return spreadBy(t, values, valid, a.Uint8Values())
	case *array.Uint16:
		return spreadBy(t, values, valid, a.Uint16Values())
	case *array.Uint32:
		return spreadBy(t, values, valid, a.Uint32Values())
	case *array.Uint64:
		return spreadBy(t, values, valid, a.Uint64Values())
	}
	return fault.New(fault.Unsupported, "a dictionary with indices of type %s is not supported", indices.DataType())
}

func spreadBy[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](t, values *truth, valid []uint64, indices []T) error {
	for w, present := range valid {
		yes, no := t.yes[w]&^present, t.no[w]&^present
		for i, index := range indices[64*w : min(64*w+64, len(indices))] {
			if present>>(i&63)&1 == 0 {
				continue
			}
			at := uint64(index)
			if at >= uint64(values.rows) {
				return fault.New(fault.Corrupt, "dictionary index %d of %d values", at, values.rows)
			}
			yes |= values.yes[at/64] >> (at % 64) & 1 << (i & 63)
			no |= values.no[at/64] >> (at % 64) & 1 << (i & 63)
		}
		t.yes[w], t.no[w] = yes, no
	}
	return nil
}
