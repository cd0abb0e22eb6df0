package server

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/scan"
)

// loggingReporter is Iceberg's reporter that logs; who configures it gets a line for each scan, others on debug level.
const loggingReporter = "org.apache.iceberg.metrics.LoggingMetricsReporter"

// reporting lays the reports of scans over a table's source. Planning is all that is reported, as in Iceberg; a report neither delays nor fails it.
func reporting(set *catalogs.Set, log *slog.Logger) func(scan.Source) scan.Source {
	loud := map[string]bool{}
	for _, name := range set.Names() {
		if d, _ := set.Definition(name); d.Properties["metrics-reporter-impl"] == loggingReporter {
			loud[name] = true
		}
	}
	return func(s scan.Source) scan.Source { return reportedSource{s, set, log, loud} }
}

// reportedSource is a source whose plans are reported.
type reportedSource struct {
	scan.Source
	set  *catalogs.Set
	log  *slog.Logger
	loud map[string]bool // catalogs whose scans are logged
}

// Plan plans and reports.
func (r reportedSource) Plan(ctx context.Context, req scan.Request) (scan.Plan, error) {
	began := time.Now()
	plan, err := r.Source.Plan(ctx, req)
	if err != nil || !r.set.TakesReports() && len(r.loud) == 0 && !r.log.Enabled(ctx, slog.LevelDebug) {
		return plan, err
	}
	said := plan.Explain()
	name := said.Parts
	if said.Kind != "table" || len(name) < 2 {
		return plan, nil
	}
	report := reportOf(said, req, strings.Join(name, "."), time.Since(began))
	r.set.Report(name[0], table.Identifier(name[1:]), report)
	level := slog.LevelDebug
	if r.loud[name[0]] {
		level = slog.LevelInfo
	}
	if r.log.Enabled(ctx, level) {
		r.log.Log(ctx, level, "scan report", "table", report.Table, "snapshot", report.Snapshot, "planning", report.Planning, "counts", report.Counts, "bytes", report.Bytes)
	}
	return plan, nil
}

// reportOf gives what a plan says of itself by Iceberg's names.
func reportOf(said *scan.Explanation, req scan.Request, name string, took time.Duration) catalogs.ScanReport {
	left := func(c scan.Considered) (n int64) {
		for _, pruned := range c.Pruned {
			n += int64(pruned)
		}
		return n
	}
	counts := map[string]int64{}
	for what, c := range map[string]scan.Considered{"data": said.Manifests, "delete": said.DeleteManifests} {
		counts["total-"+what+"-manifests"], counts["skipped-"+what+"-manifests"] = int64(c.Total), left(c)
		counts["scanned-"+what+"-manifests"] = int64(c.Total) - left(c)
	}
	for what, c := range map[string]scan.Considered{"data": said.Files, "delete": said.Deletes} {
		counts["result-"+what+"-files"], counts["skipped-"+what+"-files"] = int64(c.Total)-left(c), left(c)
	}
	counts["indexed-delete-files"] = int64(said.Deletes.Total) - left(said.Deletes)
	for kind, metric := range map[string]string{"position deletes": "positional-delete-files", "equality deletes": "equality-delete-files", "deletion vectors": "dvs"} {
		counts[metric] = int64(said.DeletesByKind[kind])
	}
	var size int64
	for _, split := range said.Splits {
		size += split.Bytes
	}
	return catalogs.ScanReport{Table: name, Snapshot: said.Snapshot, Schema: said.Schema, Fields: slices.Clone(req.Fields), Names: said.Columns, Planning: took, Counts: counts,
		Bytes: map[string]int64{"total-file-size-in-bytes": size}, Filtered: said.Filter != "", Engine: "skua " + Version}
}
