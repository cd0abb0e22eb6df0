package scan

import (
	"maps"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/predicate"
)

// Explain tells what was planned and why.
func (p *tablePlan) Explain() *Explanation {
	s := p.source
	out := &Explanation{Source: s.name(), Parts: append([]string{s.table.catalog}, s.table.identifier...), Kind: s.kind(), Reference: s.at.clause, Schema: s.at.schema.ID, Options: p.options.resolved, Ignored: p.options.ignored,
		Partitions: p.found.partitions, Manifests: p.found.manifests, DeleteManifests: p.found.deleteManifests, Files: p.found.files, Deletes: p.found.deletes,
		DeletesByKind: p.found.kinds, Best: p.request.Best.String()}
	if n := p.passed.count(); n > 0 {
		out.Files = Considered{Total: out.Files.Total, Pruned: maps.Clone(out.Files.Pruned)}
		out.Files.leaveOut(byBest, n)
	}
	if s.at.snapshot != nil {
		out.Snapshot = s.at.snapshot.SnapshotID
	}
	for _, id := range p.projection.outputs {
		out.Columns = append(out.Columns, strings.Join(s.paths[id].Names, "."))
	}
	if p.filter != nil {
		out.Filter = p.filter.String()
		out.Pushed, out.Residual = pushedText(p.filter), out.Filter
	}
	if keepsNothing(p.filter) {
		out.Pushed, out.Residual = out.Filter, ""
	}
	if test := p.request.Partitions.Expr; test != nil {
		out.Pushed = strings.TrimPrefix(out.Pushed+" AND "+test.String(), " AND ")
	}
	out.RowGroups, out.Decoders = p.read.considered(), p.read.readers()
	for _, sp := range p.splits {
		out.Splits = append(out.Splits, sp.info())
	}
	return out
}

func (s *tableSource) name() string {
	if s.changes {
		return s.table.Name() + "." + changesName
	}
	return s.table.Name()
}

func (s *tableSource) kind() string {
	switch {
	case s.table.files != nil:
		return "plain " + s.table.files.format + " files"
	case s.changes:
		return "changelog"
	case s.span != nil:
		return "incremental append"
	}
	return "table"
}

// pushedText spells those parts of a filter by which manifests and files can be left out; empty: none.
func pushedText(filter predicate.Expr) string {
	var some []predicate.Expr
	for _, e := range predicate.Conjuncts(filter) {
		if prunes(e) {
			some = append(some, e)
		}
	}
	if len(some) == 0 {
		return ""
	}
	return predicate.Join(some).String()
}

// prunes says whether metadata may rule an expression out for a whole file.
func prunes(e predicate.Expr) bool {
	switch e := e.(type) {
	case predicate.And:
		return prunes(e.Left) || prunes(e.Right)
	case predicate.Or:
		return prunes(e.Left) && prunes(e.Right)
	case predicate.Not:
		return prunes(e.Expr)
	}
	for _, f := range predicate.Fields(e) {
		if f.ID > partitionIDBase || arrow.IsNested(f.Type.ID()) {
			return false
		}
	}
	return true
}

// info sums a split up in Iceberg's way: the deletes of a file count once per task.
func (s split) info() SplitInfo {
	out := SplitInfo{Weight: s.Weight, Files: len(s.Tasks), Key: s.Key, Tasks: make([]TaskInfo, len(s.Tasks))}
	for i, t := range s.Tasks {
		out.Bytes = saturatingAdd(out.Bytes, saturatingAdd(t.Length, t.File.extent().DeleteBytes))
		out.Tasks[i] = TaskInfo{Path: t.File.Path, Start: t.Start, Length: t.Length, Deletes: len(t.File.Deletes), Rows: t.rows()}
	}
	return out
}

// rowGroups counts what reading a plan looked at. It is safe for concurrent use.
type rowGroups struct {
	mu   sync.Mutex
	seen Considered

	once     sync.Once
	decoders []string // of the first row group read
}

// routed keeps who read the columns of the first row group.
func (r *rowGroups) routed(of func() []string) {
	r.once.Do(func() {
		lines := of()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.decoders = lines
	})
}

func (r *rowGroups) readers() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.decoders
}

// add counts a row group; pruned tells why it was left out, empty: it was read.
func (r *rowGroups) add(pruned string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen.Total++
	if pruned != "" {
		r.seen.leaveOut(pruned, 1)
	}
}

func (r *rowGroups) considered() Considered {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Considered{Total: r.seen.Total, Pruned: maps.Clone(r.seen.Pruned)}
}

// rows estimates the rows of a task as Iceberg does: the file's, in proportion to the bytes behind the first offset.
func (t task) rows() int64 {
	if t.File.Records < 0 {
		return 0
	}
	first := int64(0)
	if offsets := (extent{Size: t.File.Size, Offsets: t.File.Offsets}).usable(); offsets != nil {
		first = offsets[0]
	}
	if t.File.Size <= first {
		return t.File.Records
	}
	return int64(float64(t.Length) / float64(t.File.Size-first) * float64(t.File.Records))
}
