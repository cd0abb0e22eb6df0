package catalogs

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/fault"
)

// Bounds of reports: how many wait to be sent, and how long one may take. What comes while so many wait is dropped.
const (
	maxReports = 256
	reportTime = 10 * time.Second
)

// ScanReport is what a scan of a table planned and left out, by Iceberg's names. It holds no values of the filter.
type ScanReport struct {
	Table    string // the whole name, the catalog's first
	Snapshot int64  // 0: the table has none
	Schema   int
	Fields   []int            // the projected field ids, and their names
	Names    []string         //
	Planning time.Duration    // how long it took to plan
	Counts   map[string]int64 // result-data-files, skipped-data-files, scanned-data-manifests, …
	Bytes    map[string]int64 // total-file-size-in-bytes, …
	Filtered bool             // there was a filter
	Engine   string           // who scans, with the version
}

// JSON is the report as Iceberg's REST specification has it. Of a filter it says that there was one: the expression is the constant true where there was none, and
// else that nothing is known of it, since a filter's values may be secrets.
func (r ScanReport) JSON() ([]byte, error) {
	metrics := map[string]any{"total-planning-duration": map[string]any{"count": 1, "time-unit": "nanoseconds", "total-duration": r.Planning.Nanoseconds()}}
	for name, n := range r.Counts {
		metrics[name] = map[string]any{"unit": "count", "value": n}
	}
	for name, n := range r.Bytes {
		metrics[name] = map[string]any{"unit": "bytes", "value": n}
	}
	fields, names := r.Fields, r.Names
	if fields == nil {
		fields = []int{}
	}
	if names == nil {
		names = []string{}
	}
	snapshot := r.Snapshot
	if snapshot == 0 {
		snapshot = -1
	}
	metadata := map[string]string{"engine-name": r.Engine}
	if r.Filtered {
		metadata["filtered"] = "true"
	}
	return json.Marshal(map[string]any{"report-type": "scan-report", "table-name": r.Table, "snapshot-id": snapshot, "filter": true, "schema-id": r.Schema,
		"projected-field-ids": fields, "projected-field-names": names, "metrics": metrics, "metadata": metadata})
}

// report is one that waits to be sent.
type report struct {
	catalog string
	id      table.Identifier
	body    []byte
}

// reports are those of a Set: a queue that one goroutine sends, from Open to Close.
type reports struct {
	queue  chan report
	once   sync.Once // that some are dropped is said once
	sender sync.WaitGroup
}

// Report sends a report of a scan to the table's catalog, if that wants any. It returns at once: a report that cannot be sent is logged, one too many dropped.
func (s *Set) Report(catalog string, id table.Identifier, r ScanReport) {
	if !s.wantsReports(catalog) {
		return
	}
	body, err := r.JSON()
	if err != nil {
		s.log.Debug("a report of a scan cannot be written", "catalog", catalog, "error", err.Error())
		return
	}
	select {
	case s.reports.queue <- report{catalog, id, body}:
	default:
		s.reports.once.Do(func() {
			s.log.Warn("reports of scans are dropped: the catalog takes them too slowly", "catalog", catalog, "waiting", maxReports)
		})
	}
}

// TakesReports reports whether any catalog does: without one there is no need to make any.
func (s *Set) TakesReports() bool {
	for _, name := range s.names {
		if s.wantsReports(name) {
			return true
		}
	}
	return false
}

// wantsReports reports whether a catalog is open, takes reports, and is configured to get them.
func (s *Set) wantsReports(catalog string) bool {
	d, ok := s.Definition(catalog)
	if !ok || d.Properties["rest-metrics-reporting-enabled"] == "false" {
		return false
	}
	c := s.slots[d.Name].ready()
	return c != nil && c.Capabilities().Reports
}

// sendReports sends what waits, one after the other. A report that fails is not sent again.
func (s *Set) sendReports(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-s.reports.queue:
			if err := s.sendReport(ctx, r); err != nil && ctx.Err() == nil {
				s.log.Debug("a report of a scan was not taken", "catalog", r.catalog, "error", err.Error())
			}
		}
	}
}

func (s *Set) sendReport(ctx context.Context, r report) (err error) {
	defer fault.Recover(&err, fault.Internal, "report a scan")
	ctx, cancel := context.WithTimeout(ctx, reportTime)
	defer cancel()
	d, _ := s.Definition(r.catalog)
	reporter, ok := s.slots[d.Name].ready().(Reporter)
	if !ok {
		return fault.New(fault.Unsupported, "the catalog takes no reports of scans")
	}
	return reporter.Report(ctx, r.id, r.body)
}
