package scan

import (
	"strings"

	"github.com/skua-data/skua/predicate"
)

// Explain tells what was planned and why.
func (p *tablePlan) Explain() *Explanation {
	s := p.source
	out := &Explanation{Source: s.table.Name(), Kind: "table", Reference: s.at.clause, Schema: s.at.schema.ID, Options: p.options.resolved,
		Manifests: p.found.manifests, DeleteManifests: p.found.deleteManifests, Files: p.found.files, Deletes: p.found.deletes,
		DeletesByKind: p.found.kinds}
	if s.at.snapshot != nil {
		out.Snapshot = s.at.snapshot.SnapshotID
	}
	for _, id := range p.projection.outputs {
		out.Columns = append(out.Columns, strings.Join(s.paths[id].Names, "."))
	}
	if p.filter != nil {
		out.Filter = p.filter.String()
		out.Pushed, out.Residual = out.Filter, out.Filter
	}
	if p.filter == predicate.False || p.filter == predicate.Null {
		out.Pushed, out.Residual = out.Filter, ""
	}
	for _, sp := range p.splits {
		out.Splits = append(out.Splits, sp.info())
	}
	return out
}

func (s split) info() SplitInfo {
	out := SplitInfo{Weight: s.Weight, Files: len(s.Tasks)}
	seen := map[string]bool{}
	for _, t := range s.Tasks {
		out.Bytes += t.Length
		for _, d := range t.File.Deletes {
			if key := d.key(); !seen[key] {
				seen[key] = true
				out.Bytes += d.Bytes
			}
		}
		out.Tasks = append(out.Tasks, TaskInfo{Path: t.File.Path, Start: t.Start, Length: t.Length, Deletes: len(t.File.Deletes),
			Rows: t.rows()})
	}
	return out
}

// rows estimates the rows of a task as Iceberg does: the file's, in proportion to the bytes behind the first offset.
func (t task) rows() int64 {
	first := int64(0)
	if offsets := (extent{Size: t.File.Size, Offsets: t.File.Offsets}).usable(); offsets != nil {
		first = offsets[0]
	}
	if t.File.Size <= first {
		return 0
	}
	return int64(float64(t.Length) / float64(t.File.Size-first) * float64(t.File.Records))
}
