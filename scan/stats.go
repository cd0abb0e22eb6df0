package scan

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/predicate"
)

// manifestMayMatch asks the partition summaries of the manifest list.
func (p *tablePlan) manifestMayMatch(m iceberg.ManifestFile, s *spec) bool {
	summaries := m.Partitions()
	if p.filter == nil || len(summaries) != len(s.Fields) {
		return true
	}
	return partitionFacts{spec: s, value: func(f specField, i int) (known, bool) { return summaryFacts(summaries[i], f.Type) }}.mayMatch(p.filter)
}

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

// leavesOut tells why an entry holds no wanted row; empty: it may.
func (p *tablePlan) leavesOut(e entry, s *spec) string {
	if p.filter == nil {
		return ""
	}
	values := e.File.Partition()
	byPartition := partitionFacts{spec: s, value: func(f specField, _ int) (known, bool) { return valueFacts(values, f) }}
	if !byPartition.mayMatch(p.filter) {
		return "partition"
	}
	if !mayMatch(p.filter, fileFacts(e.File)) {
		return "column statistics"
	}
	return ""
}

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
	return known{Nulls: none, Values: some, NaNs: none, Lower: v, Upper: v}, true
}

// fileFacts reads a file's column statistics. Counts inside structs are left alone: writers count null parents in more than one way.
func fileFacts(f iceberg.DataFile) facts {
	values, nulls, nans := f.ValueCounts(), f.NullValueCounts(), f.NaNValueCounts()
	lower, upper := f.LowerBoundValues(), f.UpperBoundValues()
	return func(field predicate.Field) (known, bool) {
		var k known
		if field.ID > partitionIDBase {
			return k, false // what a file keeps of a metadata column is not what a row shows
		}
		if len(field.Path) == 1 {
			k = counted(field.ID, values, nulls, nans)
		} else if n, ok := nans[field.ID]; ok && n == 0 {
			k.NaNs = none
		}
		if prunable(field.Type) {
			k.Lower, _ = decodeBound(lower[field.ID], field.Type)
			k.Upper, _ = decodeBound(upper[field.ID], field.Type)
		}
		return k, true
	}
}

func counted(id int, values, nulls, nans map[int]int64) known {
	var k known
	n, hasNulls := nulls[id]
	total, hasValues := values[id]
	if hasNulls && n == 0 {
		k.Nulls = none
	}
	if hasNulls && hasValues && n >= 0 && total >= 0 && n == total {
		k.Values = none
	}
	if nan, ok := nans[id]; ok && nan == 0 {
		k.NaNs = none
	}
	return k
}
