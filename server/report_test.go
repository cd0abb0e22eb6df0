package server

import (
	"fmt"
	"testing"
	"time"

	"github.com/skua-data/skua/scan"
)

func TestReportsCountByIcebergsNames(t *testing.T) {
	said := &scan.Explanation{Snapshot: 9, Schema: 2, Columns: []string{"id"}, Filter: "id = 3", Manifests: scan.Considered{Total: 5, Pruned: map[string]int{"partition": 2}},
		DeleteManifests: scan.Considered{Total: 1}, Files: scan.Considered{Total: 7, Pruned: map[string]int{"partition": 3, "bounds": 1}}, Deletes: scan.Considered{Total: 2, Pruned: map[string]int{"no data": 1}},
		DeletesByKind: map[string]int{"position deletes": 1}, Splits: []scan.SplitInfo{{Bytes: 10}, {Bytes: 5}}}
	got := reportOf(said, scan.Request{Fields: []int{1}}, "c.ns.t", time.Second)
	want := "map[dvs:0 equality-delete-files:0 indexed-delete-files:1 positional-delete-files:1 result-data-files:3 result-delete-files:1 scanned-data-manifests:3 " +
		"scanned-delete-manifests:1 skipped-data-files:4 skipped-data-manifests:2 skipped-delete-files:1 skipped-delete-manifests:0 total-data-manifests:5 total-delete-manifests:1]"
	if fmt.Sprint(got.Counts) != want || got.Bytes["total-file-size-in-bytes"] != 15 || got.Snapshot != 9 || got.Schema != 2 || !got.Filtered || got.Planning != time.Second || got.Table != "c.ns.t" {
		t.Errorf("%+v\nwant %s", got, want)
	}
}
