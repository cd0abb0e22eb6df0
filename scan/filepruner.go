package scan

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/predicate"
)

// Reasons for leaving something out of a plan.
const (
	byNoLiveFiles = "no live files"
	bySummaries   = "partition summaries"
	byPartition   = "partition"
	byStatistics  = "column statistics"
	byNoDataFiles = "no data files to delete from"
	byNoSuchFile  = "no planned file is deleted from"
)

// filePruner leaves out, by a filter, a manifest or those of its files that hold no wanted row.
type filePruner struct {
	filter predicate.Expr // nil: keeps everything
	terms  []Term         // fields of the filter that are transformed columns
	spec   *spec
	places map[*place]*placed
}

// placed is what was found out of a partition.
type placed struct {
	tuple string
	may   bool // some row may match
}

// withoutNulls takes it that required columns hold no null.
func withoutNulls(e predicate.Expr, required func(predicate.Field) bool) predicate.Expr {
	switch e := e.(type) {
	case predicate.And:
		return predicate.And{Left: withoutNulls(e.Left, required), Right: withoutNulls(e.Right, required)}
	case predicate.Or:
		return predicate.Or{Left: withoutNulls(e.Left, required), Right: withoutNulls(e.Right, required)}
	case predicate.IsNull:
		if required(e.Field) {
			return predicate.False
		}
	}
	return e
}

func newFilePruner(filter predicate.Expr, terms []Term, s *spec) *filePruner {
	return &filePruner{filter: filter, terms: terms, spec: s, places: map[*place]*placed{}}
}

// manifest tells why a manifest need not be read, from what the manifest list says of it; empty: it must.
func (p *filePruner) manifest(m iceberg.ManifestFile) string {
	if !m.HasAddedFiles() && !m.HasExistingFiles() {
		return byNoLiveFiles
	}
	return p.summaries(m)
}

// summaries tells why no file of a manifest is wanted, from the summaries of its partitions; empty: some may be.
func (p *filePruner) summaries(m iceberg.ManifestFile) string {
	summaries := m.Partitions()
	if p.filter == nil || len(summaries) != len(p.spec.Fields) {
		return ""
	}
	of := partitionFacts{spec: p.spec, terms: p.terms, value: func(f specField, i int) (known, bool) { return summaryFacts(summaries[i], f.Type) }}
	if !of.mayMatch(p.filter) {
		return bySummaries
	}
	return ""
}

// file tells why a file holds no wanted row; empty: it may hold some. Of an equality delete file only the columns that it compares count.
func (p *filePruner) file(e *fileEntry, stats fileStats) string {
	switch {
	case p.filter == nil:
		return ""
	case !p.at(e.place).may:
		return byPartition
	case e.deletes == nil && !mayMatch(p.filter, stats.facts):
		return byStatistics
	case e.deletes != nil && e.deletes.equality && !mayMatch(p.filter, stats.compared(e.deletes.keys)):
		return byStatistics
	}
	return ""
}

// compared asks the statistics of an equality delete file, of the columns that it compares.
func (s fileStats) compared(keys []int) facts {
	return func(f predicate.Field) (known, bool) {
		if !slices.Contains(keys, f.ID) {
			return known{}, false
		}
		return s.facts(f)
	}
}

func (p *filePruner) at(at *place) *placed {
	out, ok := p.places[at]
	if !ok {
		out = &placed{tuple: tupleKey(p.spec, at.values), may: true}
		if p.filter != nil {
			out.may = partitionFacts{spec: p.spec, terms: p.terms, value: func(f specField, _ int) (known, bool) { return valueFacts(at.values, f) }}.mayMatch(p.filter)
		}
		p.places[at] = out
	}
	return out
}

// canReach says whether equality deletes may delete rows of a data file, as far as the counts and bounds of the columns they compare tell.
// Where both sides may hold NaN, which no bound covers, they may meet.
func canReach(d *deleteFile, f fileStats, types func(id int) (arrow.DataType, bool)) bool {
	for _, id := range d.Keys {
		typ, ok := types(id)
		if !ok || arrow.IsNested(typ.ID()) {
			continue
		}
		data, gone := f.of(id, typ, false), d.stats.of(id, typ, false)
		if data.Nulls != none && gone.Nulls != none {
			continue // both may have null, which equals itself
		}
		if data.Values == none && gone.Nulls == none || gone.Values == none && data.Nulls == none {
			return false
		}
		if arrow.IsFloating(typ.ID()) && data.NaNs != none && gone.NaNs != none {
			continue
		}
		if !overlap(data, gone) {
			return false
		}
	}
	return true
}

// overlap says whether values may lie between the bounds of both; NaN for a bound, as old writers had it, tells nothing.
func overlap(a, b known) bool {
	for _, bound := range []any{a.Lower, a.Upper, b.Lower, b.Upper} {
		if bound == nil || isNaN(bound) {
			return true
		}
	}
	return a.mayReach(b.Lower, 1) && b.mayReach(a.Lower, 1)
}
