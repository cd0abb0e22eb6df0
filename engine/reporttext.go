package engine

import (
	"fmt"
	"strings"
	"time"
)

// lines gathers text, one thing a line.
type lines struct{ strings.Builder }

func (l *lines) add(format string, args ...any) { fmt.Fprintf(l, format+"\n", args...) }

// text spells a report for people.
func (r *report) text() string {
	l := &lines{}
	l.add("== Plan ==")
	if r.Command != "" {
		l.add("Command %s", r.Command)
		return l.String()
	}
	limit := int64(-1)
	if r.Limit != nil {
		limit = *r.Limit
	}
	switch {
	case r.Offset > 0:
		l.add("Limit %s offset %d", limitText(limit), r.Offset)
	case r.Limit != nil:
		l.add("Limit %d", limit)
	}
	switch r.Count {
	case "metadata":
		l.add("Count rows from metadata")
	case "rows":
		l.add("Count rows by reading them")
	}
	l.add("Output [%s]", names(r.Output))
	switch {
	case r.Plan != "":
		l.add("Query by the SQL engine")
		l.add("%s", strings.TrimRight(r.Plan, "\n"))
		for _, s := range r.Scans {
			s.text(l)
		}
	case r.Scan == nil:
		l.add("One row of constants")
	default:
		r.Scan.text(l)
	}
	if r.Analyze != nil {
		r.Analyze.text(l)
	}
	return l.String()
}

func (r *scanReport) text(l *lines) {
	l.add("Scan %s (%s)", r.Source, r.Kind)
	if r.Snapshot != 0 {
		l.add("  snapshot: %d", r.Snapshot)
	} else {
		l.add("  snapshot: none")
	}
	if r.Reference != "" {
		l.add("  reference: %s", r.Reference)
	}
	l.add("  schema: %d", r.Schema)
	l.add("  columns: [%s]", strings.Join(r.Columns, ", "))
	for _, f := range []struct{ name, text string }{{"first rows by", r.Best}, {"filter", r.Filter}, {"pushed", r.Pushed}, {"residual", r.Residual}, {"filter found by joins", r.Runtime}} {
		if f.text != "" {
			l.add("  %s: %s", f.name, f.text)
		}
	}
	if !r.Overrides {
		l.add("  session overrides: not active for this catalog's class")
	}
	for _, o := range r.Options {
		l.add("  option %s = %s (%s)", o.Name, o.Value, o.origin())
	}
	for _, o := range r.Ignored {
		l.add("  ignored option %s = %s%s: %s", o.Name, o.Value, o.from(), o.why())
	}
	for _, c := range []struct {
		name string
		*reportConsidered
	}{{"partitions", r.Partitions}, {"manifests", &r.Manifests}, {"files", &r.Files}, {"delete manifests", r.DeleteManifests}, {"deletes", r.Deletes}, {"row groups", r.RowGroups}} {
		if c.reportConsidered != nil {
			l.add("  %s: %s", c.name, c.text())
		}
	}
	for _, kind := range sortedKeys(r.DeletesByKind) {
		l.add("  %s: %d", kind, r.DeletesByKind[kind])
	}
	r.splits(l)
	for _, d := range r.Decoders {
		l.add("  decoder: %s", d)
	}
}

func (r *scanReport) splits(l *lines) {
	l.add("  splits: %d", r.Splits)
	for i, s := range r.Shown {
		l.add("    split %d: %d files, %d bytes, weight %d%s", i, s.Files, s.Bytes, s.Weight, inPartition(s.Key))
		for _, t := range s.Shown {
			l.add("      %s [%d, +%d) deletes %d", t.Path, t.Start, t.Length, t.Deletes)
		}
		if more := s.Tasks - len(s.Shown); more > 0 {
			l.add("      … and %d more", more)
		}
	}
	if more := r.Splits - len(r.Shown); more > 0 {
		l.add("    … and %d more", more)
	}
}

func inPartition(key string) string {
	if key == "" {
		return ""
	}
	return ", partition " + key
}

func (o reportOption) origin() string {
	if o.Key == "" {
		return o.Scope
	}
	return o.Scope + ", " + o.Key
}

func (o reportIgnored) why() string {
	if o.Known {
		return "of no effect on a table of plain files"
	}
	if o.Near == "" {
		return "unknown"
	}
	return "unknown, did you mean " + o.Near + "?"
}

func (o reportIgnored) from() string {
	if o.Key == "" {
		return ""
	}
	return " (" + o.Key + ")"
}

func (c reportConsidered) text() string {
	var reasons []string
	for _, reason := range sortedKeys(c.Pruned) {
		reasons = append(reasons, fmt.Sprintf("%d by %s", c.Pruned[reason], reason))
	}
	if len(reasons) == 0 {
		return itoa(c.Total)
	}
	return fmt.Sprintf("%d of %d, left out: %s", c.Read, c.Total, strings.Join(reasons, ", "))
}

func (r *runReport) text(l *lines) {
	l.add("Run")
	l.add("  rows: %d in %d batches, %d bytes of Arrow", r.Rows, r.Batches, r.ArrowBytes)
	again := ""
	if r.Retries > 0 {
		again = fmt.Sprintf(", %d of them again after a failure", r.Retries)
	}
	l.add("  read: %d bytes of data, %d of deletes, %d of metadata, in %d requests%s", r.DataBytes, r.DeleteBytes, r.MetadataBytes, r.Requests, again)
	l.add("  metadata cache: %d hits, %d misses", r.CacheHits, r.CacheMisses)
	l.add("  done: %d splits, %d files, %d row groups, of which %d were left out", r.Splits, r.Files, r.RowGroups, r.Pruned)
	if r.GPUChunks+r.GPUFilters > 0 {
		l.add("  GPU: %d column chunks and %d tests of some, %d bytes of pages sent", r.GPUChunks, r.GPUFilters, r.GPUBytes)
	}
	for _, s := range r.Stages {
		l.add("  time of %s: %s", s.Name, time.Duration(s.Microseconds)*time.Microsecond)
	}
	l.add("  memory: %d bytes at most", r.PeakMemory)
}
