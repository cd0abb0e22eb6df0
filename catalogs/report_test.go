package catalogs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/iceberg-go/table"
)

// reported is a catalog that takes reports.
type reported struct {
	*fake
	got  chan []byte
	hold chan struct{} // nil: reports are taken at once
	fail atomic.Bool
}

func (r *reported) Report(ctx context.Context, id table.Identifier, report []byte) error {
	if r.hold != nil {
		select {
		case <-r.hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if r.fail.Load() {
		panic(errors.New("broken"))
	}
	r.got <- fmt.Appendf(nil, "%v %s", id, report)
	return nil
}

var sample = ScanReport{Table: "c.ns.t", Snapshot: 7, Schema: 1, Fields: []int{1, 2}, Names: []string{"id", "v"}, Planning: time.Millisecond, Counts: map[string]int64{"result-data-files": 3},
	Bytes: map[string]int64{"total-file-size-in-bytes": 99}, Filtered: true, Engine: "skua"}

func TestReportsAreWhatIcebergsProtocolSays(t *testing.T) {
	for name, c := range map[string]struct {
		report ScanReport
		want   string
	}{
		"full": {sample, `{"filter":true,"metadata":{"engine-name":"skua","filtered":"true"},"metrics":{"result-data-files":{"unit":"count","value":3},
			"total-file-size-in-bytes":{"unit":"bytes","value":99},"total-planning-duration":{"count":1,"time-unit":"nanoseconds","total-duration":1000000}},
			"projected-field-ids":[1,2],"projected-field-names":["id","v"],"report-type":"scan-report","schema-id":1,"snapshot-id":7,"table-name":"c.ns.t"}`},
		"of an empty table": {ScanReport{Table: "c.ns.t", Engine: "skua"}, `{"filter":true,"metadata":{"engine-name":"skua"},"metrics":{"total-planning-duration":{"count":1,
			"time-unit":"nanoseconds","total-duration":0}},"projected-field-ids":[],"projected-field-names":[],"report-type":"scan-report","schema-id":0,"snapshot-id":-1,"table-name":"c.ns.t"}`},
	} {
		got, err := c.report.JSON()
		var a, b any
		if err != nil || json.Unmarshal(got, &a) != nil || json.Unmarshal([]byte(c.want), &b) != nil || fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

func TestReportsGoToCatalogsThatWantThem(t *testing.T) {
	takes := &reported{fake: &fake{capabilities: Capabilities{Reports: true}}, got: make(chan []byte, 9)}
	for name, c := range map[string]struct {
		more  []string
		wants bool
	}{
		"asked for":    {nil, true},
		"switched off": {[]string{"rest-metrics-reporting-enabled", "false"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSet(t, always(takes), nil, define(t, "c", plain, c.more...))
			s.Open(t.Context())
			if _, err := s.Catalog(t.Context(), "c"); err != nil {
				t.Fatal(err)
			}
			if s.TakesReports() != c.wants {
				t.Errorf("it takes reports: %v", !c.wants)
			}
			s.Report("c", table.Identifier{"ns", "t"}, sample)
			s.Report("nowhere", table.Identifier{"ns", "t"}, sample)
			if c.wants {
				<-takes.got
			}
			if err := s.Close(); err != nil || len(takes.got) > 0 {
				t.Errorf("%v, %d reports more", err, len(takes.got))
			}
		})
	}
}

func TestReportsNeverHoldAStatement(t *testing.T) {
	slow := &reported{fake: &fake{capabilities: Capabilities{Reports: true}}, got: make(chan []byte, maxReports+9), hold: make(chan struct{})}
	s := newSet(t, always(slow), nil, define(t, "c", plain))
	s.Open(t.Context())
	if _, err := s.Catalog(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	for range 3 * maxReports {
		s.Report("c", table.Identifier{"ns", "t"}, sample)
	}
	if waiting := len(s.reports.queue); waiting < maxReports-1 || waiting > maxReports {
		t.Errorf("%d wait", waiting)
	}
	slow.fail.Store(true)
	slow.hold <- struct{}{} // a report that panics harms nobody
	slow.hold <- struct{}{}
	slow.fail.Store(false)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
