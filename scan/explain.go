package scan

import (
	"strings"

	"github.com/skua-data/skua/predicate"
)

// Explain tells what was planned and why.
func (p *tablePlan) Explain() *Explanation {
	s := p.source
	out := &Explanation{Source: s.table.Name(), Kind: "table", Reference: s.at.clause, Schema: s.at.schema.ID, Options: p.options.resolved,
		Manifests: p.manifests, Files: p.files}
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
		out.Tasks = append(out.Tasks, TaskInfo{Path: t.File.Path, Start: t.Start, Length: t.Length, Deletes: len(t.File.Deletes)})
	}
	return out
}
