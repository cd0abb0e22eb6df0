package scan

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/predicate"
)

// columnStats are a file's column statistics, packed: a manifest of many files and columns would otherwise hold a dozen maps a file.
type columnStats struct {
	ids    []int32 // columns that anything is known of, ascending; shared by files that have the same
	counts []int64 // values, nulls and NaNs of each column; negative: unknown
	ends   []int32 // where lower and upper of each column end in bounds, the complement where there is none
	bounds []byte
}

// newColumnStats packs f's statistics. ids, those of an earlier file, are taken over if they are the same.
func newColumnStats(f iceberg.DataFile, ids []int32) *columnStats {
	values, nulls, nans := f.ValueCounts(), f.NullValueCounts(), f.NaNValueCounts()
	lower, upper := f.LowerBoundValues(), f.UpperBoundValues()
	s := &columnStats{ids: columnsOf(values, nulls, nans, lower, upper)}
	if slices.Equal(s.ids, ids) {
		s.ids = ids
	}
	s.counts, s.ends = make([]int64, 0, 3*len(s.ids)), make([]int32, 0, 2*len(s.ids))
	size := 0
	for _, m := range []map[int][]byte{lower, upper} {
		for _, b := range m {
			size += len(b)
		}
	}
	s.bounds = make([]byte, 0, size)
	for _, id := range s.ids {
		for _, m := range []map[int]int64{values, nulls, nans} {
			n, ok := m[int(id)]
			if !ok {
				n = -1
			}
			s.counts = append(s.counts, n)
		}
		for _, m := range []map[int][]byte{lower, upper} {
			b, ok := m[int(id)]
			s.bounds = append(s.bounds, b...)
			end := int32(len(s.bounds))
			if !ok {
				end = ^end
			}
			s.ends = append(s.ends, end)
		}
	}
	return s
}

func columnsOf(values, nulls, nans map[int]int64, lower, upper map[int][]byte) []int32 {
	out := make([]int32, 0, max(len(values), len(lower)))
	for _, m := range []map[int]int64{values, nulls, nans} {
		for id := range m {
			out = append(out, int32(id))
		}
	}
	for _, m := range []map[int][]byte{lower, upper} {
		for id := range m {
			out = append(out, int32(id))
		}
	}
	slices.Sort(out)
	return slices.Clip(slices.Compact(out))
}

// size is the memory that s takes, in bytes.
func (s *columnStats) size() int64 {
	return 112 + 24*int64(len(s.counts)/3) + 8*int64(len(s.ends)/2) + int64(len(s.bounds))
}

// bound gives slot i of the bounds: two a column, lower first; nil: unknown.
func (s *columnStats) bound(i int) []byte {
	end, from := s.ends[i], int32(0)
	if i > 0 {
		if from = s.ends[i-1]; from < 0 {
			from = ^from
		}
	}
	if end < 0 {
		return nil
	}
	return s.bounds[from:end:end]
}

// of is what the statistics tell of a column of a type. Counts inside structs are left alone: writers count null parents in more than
// one way.
func (s *columnStats) of(id int, typ arrow.DataType, nested bool) known {
	var k known
	if s == nil {
		return k
	}
	at, ok := slices.BinarySearch(s.ids, int32(id))
	if !ok {
		return k
	}
	values, nulls, nans := s.counts[3*at], s.counts[3*at+1], s.counts[3*at+2]
	if nans == 0 {
		k.NaNs = none
	}
	if !nested && nulls == 0 {
		k.Nulls = none
	}
	if !nested && nulls >= 0 && nulls == values {
		k.Values = none
	}
	if prunable(typ) {
		k.Lower, _ = decodeBound(s.bound(2*at), typ)
		k.Upper, _ = decodeBound(s.bound(2*at+1), typ)
	}
	return k
}

// facts asks the statistics of fields.
func (s *columnStats) facts(f predicate.Field) (known, bool) {
	if f.ID > partitionIDBase {
		return known{}, false // what a file keeps of a metadata column is not what a row shows
	}
	return s.of(f.ID, f.Type, len(f.Path) != 1), true
}

// summaryFacts is what a manifest list tells of a partition field of all files of a manifest.
func summaryFacts(s iceberg.FieldSummary, typ arrow.DataType) (known, bool) {
	k := known{Nulls: none}
	if s.ContainsNull {
		k.Nulls = some
	}
	if s.ContainsNaN != nil && !*s.ContainsNaN {
		k.NaNs = none
	}
	if s.LowerBound != nil {
		k.Lower, _ = decodeBound(*s.LowerBound, typ)
	}
	if s.UpperBound != nil {
		k.Upper, _ = decodeBound(*s.UpperBound, typ)
	}
	return k, prunable(typ)
}

// prunable leaves out types whose bounds writers do not agree on: uuids are ordered signed by some.
func prunable(typ arrow.DataType) bool {
	return typ.ID() != arrow.EXTENSION && typ.ID() != arrow.NULL
}

// valueFacts is what a partition value tells.
func valueFacts(values map[int]any, f specField) (known, bool) {
	raw, present := values[f.ID]
	v, ok := normalize(raw, f.Type)
	switch {
	case !present || !ok || f.Type.ID() == arrow.NULL:
		return known{}, false
	case v == nil:
		return known{Nulls: some, Values: none, NaNs: none}, true
	case isNaN(v):
		return known{Nulls: none, Values: some, NaNs: some}, true
	}
	return known{Nulls: none, Values: some, NaNs: none, Lower: v, Upper: v, Exact: true}, true
}
