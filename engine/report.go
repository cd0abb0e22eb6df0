package engine

import (
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan"
	"github.com/skua-data/skua/session"
)

// report is what EXPLAIN tells, the same in both formats.
type report struct {
	Command string         `json:"command,omitempty"` // of a statement that is no SELECT; the rest is empty then
	Output  []reportColumn `json:"output,omitempty"`
	Limit   *int64         `json:"limit,omitempty"`
	Offset  int64          `json:"offset,omitempty"`
	Count   string         `json:"count,omitempty"` // how count(*) is answered: metadata or rows
	Scan    *scanReport    `json:"scan,omitempty"`  // nil: one row of constants
	Scans   []*scanReport  `json:"scans,omitempty"` // of a query that the SQL engine runs
	Plan    string         `json:"engine_plan,omitempty"`
	Analyze *runReport     `json:"analyze,omitempty"`
}

type reportColumn struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// scanReport is one scan.
type scanReport struct {
	Source     string            `json:"source"`
	Kind       string            `json:"kind"`
	Snapshot   int64             `json:"snapshot,string,omitempty"` // a string in JSON: its digits are more than a double holds
	Reference  string            `json:"reference,omitempty"`
	Schema     int               `json:"schema"`
	Columns    []string          `json:"columns"`
	Best       string            `json:"best,omitempty"` // the order by which the first rows are enough
	Filter     string            `json:"filter,omitempty"`
	Pushed     string            `json:"pushed,omitempty"`
	Residual   string            `json:"residual,omitempty"`
	Overrides  bool              `json:"session_overrides"` // whether the catalog's class takes them
	Options    []reportOption    `json:"options"`
	Ignored    []reportIgnored   `json:"ignored_options,omitempty"`
	Partitions *reportConsidered `json:"partitions,omitempty"` // of a table of plain files
	Manifests  reportConsidered  `json:"manifests"`
	Files      reportConsidered  `json:"files"`

	DeleteManifests *reportConsidered `json:"delete_manifests,omitempty"`
	Deletes         *reportConsidered `json:"deletes,omitempty"`
	DeletesByKind   map[string]int    `json:"deletes_by_kind,omitempty"`
	RowGroups       *reportConsidered `json:"row_groups,omitempty"` // once it was read

	Runtime string `json:"runtime_filter,omitempty"` // what a join found out while running

	Splits   int           `json:"split_count"`
	Shown    []reportSplit `json:"splits"` // the first ones
	Decoders []string      `json:"decoders,omitempty"`
}

// reportOption is a read option in force, with where it comes from.
type reportOption struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Scope string `json:"scope"`
	Key   string `json:"key,omitempty"`
}

// reportIgnored is an option without effect: of WITH one that is not known, with the nearest known name, or any that does not concern such a table.
type reportIgnored struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Near  string `json:"near,omitempty"`
	Key   string `json:"key,omitempty"`
	Known bool   `json:"known,omitempty"`
}

type reportConsidered struct {
	Total  int            `json:"total"`
	Read   int            `json:"read"`
	Pruned map[string]int `json:"pruned,omitempty"`
}

type reportSplit struct {
	Files  int          `json:"files"`
	Bytes  int64        `json:"bytes"`
	Weight int64        `json:"weight"`
	Key    string       `json:"partition,omitempty"`
	Tasks  int          `json:"task_count"`
	Shown  []reportTask `json:"tasks"` // the first ones
}

type reportTask struct {
	Path    string `json:"path"`
	Start   int64  `json:"start"`
	Length  int64  `json:"length"`
	Deletes int    `json:"deletes"`
	Rows    int64  `json:"estimated_rows"`
}

// runReport is what a run took.
type runReport struct {
	Rows          int64   `json:"rows"`
	Batches       int64   `json:"batches"`
	ArrowBytes    int64   `json:"arrow_bytes"`
	DataBytes     int64   `json:"data_bytes"`
	DeleteBytes   int64   `json:"delete_bytes"`
	MetadataBytes int64   `json:"metadata_bytes"`
	Requests      int64   `json:"requests"`
	Retries       int64   `json:"retries,omitempty"` // of those, sent again after a failure
	CacheHits     int64   `json:"cache_hits"`
	CacheMisses   int64   `json:"cache_misses"`
	Files         int64   `json:"files"`
	RowGroups     int64   `json:"row_groups"`
	Pruned        int64   `json:"row_groups_pruned"`
	Splits        int64   `json:"splits"`
	GPUChunks     int64   `json:"gpu_chunks,omitempty"`
	GPUFilters    int64   `json:"gpu_filters,omitempty"`
	GPUBytes      int64   `json:"gpu_bytes,omitempty"`
	PeakMemory    int64   `json:"peak_memory_bytes"`
	Stages        []stage `json:"stages"`
}

type stage struct {
	Name         string `json:"name"`
	Microseconds int64  `json:"microseconds"`
}

// maxExplained bounds how many splits, and tasks of a split, are told.
const maxExplained = 50

// planReport tells how a planned query would be read.
func (s *statement) planReport(q *query, p *planned) *report {
	out := &report{Offset: q.offset}
	for _, f := range q.schema.Fields() {
		out.Output = append(out.Output, reportColumn{f.Name, sparkType(f.Type)})
	}
	if q.limit >= 0 {
		out.Limit = &q.limit
	}
	set := &p.sets[0]
	if q.counts {
		out.Count = "rows"
		if set.counted() {
			out.Count = "metadata"
		}
	}
	if set.plan != nil {
		out.Scan = newScanReport(set.plan.Explain(), s.wrapped(q))
		out.Scan.Ignored = append(out.Scan.Ignored, q.ignored...)
		if q.counts {
			o := q.pushDown
			out.Scan.Options = append(out.Scan.Options, reportOption{o.Name, o.Value, o.Scope, o.Key})
		}
	}
	return out
}

func newScanReport(e *scan.Explanation, wrapped bool) *scanReport {
	out := &scanReport{Source: e.Source, Kind: e.Kind, Snapshot: e.Snapshot, Reference: e.Reference, Schema: e.Schema, Columns: append([]string{}, e.Columns...),
		Best: e.Best, Filter: e.Filter, Pushed: e.Pushed, Residual: e.Residual, Overrides: wrapped, Options: []reportOption{}, Partitions: someConsidered(e.Partitions), Manifests: reportOf(e.Manifests), Files: reportOf(e.Files),
		DeleteManifests: someConsidered(e.DeleteManifests), Deletes: someConsidered(e.Deletes), DeletesByKind: e.DeletesByKind,
		RowGroups: someConsidered(e.RowGroups), Splits: len(e.Splits), Shown: []reportSplit{}, Decoders: e.Decoders}
	for _, o := range e.Options {
		out.Options = append(out.Options, reportOption{o.Name, o.Value, o.Scope, session.Redact(o.Key, o.Key)})
	}
	out.Ignored = withoutEffect(e)
	for _, sp := range e.Splits[:min(len(e.Splits), maxExplained)] {
		shown := reportSplit{Files: sp.Files, Bytes: sp.Bytes, Weight: sp.Weight, Key: sp.Key, Tasks: len(sp.Tasks), Shown: []reportTask{}}
		for _, t := range sp.Tasks[:min(len(sp.Tasks), maxExplained)] {
			shown.Shown = append(shown.Shown, reportTask{t.Path, t.Start, t.Length, t.Deletes, t.Rows})
		}
		out.Shown = append(out.Shown, shown)
	}
	return out
}

// withoutEffect gives the options that are set and do not concern such a table.
func withoutEffect(e *scan.Explanation) (out []reportIgnored) {
	for _, o := range e.Ignored {
		out = append(out, reportIgnored{Name: o.Name, Value: o.Value, Key: o.Key, Known: true})
	}
	return out
}

// someConsidered is nil where there was nothing to consider.
func someConsidered(c scan.Considered) *reportConsidered {
	if c.Total == 0 {
		return nil
	}
	out := reportOf(c)
	return &out
}

func reportOf(c scan.Considered) reportConsidered {
	out := reportConsidered{Total: c.Total, Read: c.Total, Pruned: map[string]int{}}
	for reason, n := range c.Pruned {
		if n > 0 {
			out.Pruned[reason], out.Read = n, out.Read-n
		}
	}
	return out
}

func newRunReport(r *resource.Statement) *runReport {
	c := &r.Counters
	return &runReport{Rows: c.Rows.Load(), Batches: c.Batches.Load(), ArrowBytes: c.Bytes.Load(), DataBytes: c.DataBytes.Load(), DeleteBytes: c.DeleteBytes.Load(),
		MetadataBytes: c.MetadataBytes.Load(), Requests: c.Requests.Load(), Retries: c.Retries.Load(), CacheHits: c.CacheHits.Load(), CacheMisses: c.CacheMisses.Load(), Files: c.Files.Load(), RowGroups: c.RowGroups.Load(), Pruned: c.RowGroupsPruned.Load(), Splits: c.SplitsDone.Load(),
		GPUChunks: c.GPUChunks.Load(), GPUFilters: c.GPUFilters.Load(), GPUBytes: c.GPUBytes.Load(), PeakMemory: r.Peak()}
}
