package scan

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/scan/manifest"
)

// manifestStats are the statistics of some columns of a manifest's files. nil: of none.
type manifestStats struct {
	ids     []int // ascending
	columns []*columnStats
}

// columnStats are the statistics of one column, a row for each live entry of a manifest. What is known of no file takes no memory.
type columnStats struct {
	counts       [manifest.NaNCounts + 1][]int64 // negative: unknown; where rows are missing, they are unknown too
	lower, upper bounds
}

// bounds are byte strings, packed.
type bounds struct {
	ends []int32 // where each string ends in data, the complement where there is none; where rows are missing, there is none either
	data []byte
}

// statsBuilder gathers the statistics of a manifest's entries.
type statsBuilder struct {
	manifestStats
	keyed bool // of the columns that equality deletes compare, as they come
	row   int  // of the next entry

	count [manifest.NaNCounts + 1]func(id int, n int64)
	lower func(id int, b []byte)
	upper func(id int, b []byte)
}

// newStatsBuilder gathers the statistics of columns; keyed: those that equality deletes compare.
func newStatsBuilder(columns []int, keyed bool) *statsBuilder {
	s := &statsBuilder{keyed: keyed}
	for _, id := range columns {
		s.insert(id)
	}
	for m := range s.count {
		s.count[m] = func(id int, n int64) {
			if c := s.column(id); c != nil {
				c.counts[m] = putCount(c.counts[m], s.row, n)
			}
		}
	}
	s.lower = func(id int, b []byte) {
		if c := s.column(id); c != nil {
			c.lower.put(s.row, b)
		}
	}
	s.upper = func(id int, b []byte) {
		if c := s.column(id); c != nil {
			c.upper.put(s.row, b)
		}
	}
	return s
}

// add takes in the statistics of the next live entry.
func (s *statsBuilder) add(e *manifest.Entry) error {
	defer func() { s.row++ }()
	if s.keyed {
		for _, id := range e.EqualityIDs {
			s.insert(id)
		}
	}
	if len(s.ids) == 0 || s.keyed && len(e.EqualityIDs) == 0 {
		return nil
	}
	for m, visit := range s.count {
		if err := e.Counts(manifest.Metric(m), visit); err != nil {
			return err
		}
	}
	if err := e.Bounds(manifest.LowerBounds, s.lower); err != nil {
		return err
	}
	return e.Bounds(manifest.UpperBounds, s.upper)
}

// putCount sets a row, which is the last one or comes later.
func putCount(list []int64, row int, n int64) []int64 {
	for len(list) < row {
		list = append(list, -1)
	}
	if len(list) == row {
		list = append(list, n)
	}
	return list
}

func (b *bounds) put(row int, value []byte) {
	for len(b.ends) < row {
		b.ends = append(b.ends, ^int32(len(b.data)))
	}
	if len(b.ends) == row {
		if b.data == nil {
			b.data = []byte{} // an empty string is no missing one
		}
		b.data = append(b.data, value...)
		b.ends = append(b.ends, int32(len(b.data)))
	}
}

// at gives a row's string; nil: unknown.
func (b *bounds) at(row int) []byte {
	if row >= len(b.ends) || b.ends[row] < 0 {
		return nil
	}
	from := int32(0)
	if row > 0 {
		if from = b.ends[row-1]; from < 0 {
			from = ^from
		}
	}
	return b.data[from:b.ends[row]:b.ends[row]]
}

// column gives the statistics of a column; nil: it has none.
func (s *manifestStats) column(id int) *columnStats {
	if s == nil {
		return nil
	}
	if at, ok := slices.BinarySearch(s.ids, id); ok {
		return s.columns[at]
	}
	return nil
}

func (s *manifestStats) insert(id int) {
	if at, ok := slices.BinarySearch(s.ids, id); !ok {
		s.ids, s.columns = slices.Insert(s.ids, at, id), slices.Insert(s.columns, at, &columnStats{})
	}
}

// with joins the statistics of two sets of columns.
func (s *manifestStats) with(o *manifestStats) *manifestStats {
	switch {
	case s == nil:
		return o
	case o == nil:
		return s
	}
	out := &manifestStats{ids: slices.Clone(s.ids), columns: slices.Clone(s.columns)}
	for i, id := range o.ids {
		if at, ok := slices.BinarySearch(out.ids, id); !ok {
			out.ids, out.columns = slices.Insert(out.ids, at, id), slices.Insert(out.columns, at, o.columns[i])
		}
	}
	return out
}

// size is the memory that s takes, in bytes.
func (s *manifestStats) size() int64 {
	out := int64(64)
	for _, c := range s.columns {
		out += c.size()
	}
	return out
}

func (c *columnStats) size() int64 {
	out := 176 + int64(cap(c.lower.data)+cap(c.upper.data)) + 4*int64(cap(c.lower.ends)+cap(c.upper.ends))
	for _, list := range c.counts {
		out += 8 * int64(cap(list))
	}
	return out
}

// count gives a count of a row; negative: unknown.
func (c *columnStats) count(m manifest.Metric, row int) int64 {
	if row >= len(c.counts[m]) {
		return -1
	}
	return c.counts[m][row]
}

// fileStats are the statistics of one file. The zero fileStats knows nothing.
type fileStats struct {
	all *manifestStats
	row int
}

// of is what the statistics tell of a column of a type. Counts inside structs are left alone: writers count null parents in more than
// one way.
func (s fileStats) of(id int, typ arrow.DataType, nested bool) known {
	var k known
	c := s.all.column(id)
	if c == nil {
		return k
	}
	values, nulls := c.count(manifest.ValueCounts, s.row), c.count(manifest.NullCounts, s.row)
	if c.count(manifest.NaNCounts, s.row) == 0 {
		k.NaNs = none
	}
	if !nested && nulls == 0 {
		k.Nulls = none
	}
	if !nested && nulls >= 0 && nulls == values {
		k.Values = none
	}
	if prunable(typ) {
		k.Lower, _ = decodeBound(c.lower.at(s.row), typ)
		k.Upper, _ = decodeBound(c.upper.at(s.row), typ)
	}
	return k
}

// facts asks the statistics of fields.
func (s fileStats) facts(f predicate.Field) (known, bool) {
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
	return known{Nulls: none, Values: some, NaNs: none, Lower: v, Upper: v, Exact: true, Whole: isIdentity(f)}, true
}
