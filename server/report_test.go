package server

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/scan"
	"github.com/skua-data/skua/storage"
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

// told is a catalog that takes reports.
type told struct {
	catalogs.Catalog
	got chan string
}

func (told) Capabilities() catalogs.Capabilities { return catalogs.Capabilities{Reports: true} }
func (told) Close() error                        { return nil }
func (o told) Report(_ context.Context, id table.Identifier, report []byte) error {
	o.got <- fmt.Sprintf("%q %t", id, len(report) > 10)
	return nil
}

// dotted is a source of a table with dots in its name, and the plan of a scan of it.
type dotted struct{ scan.Source }

func (dotted) Plan(context.Context, scan.Request) (scan.Plan, error) { return dottedPlan{}, nil }

type dottedPlan struct{ scan.Plan }

func (dottedPlan) Explain() *scan.Explanation {
	return &scan.Explanation{Source: "c.a.b.c.d.e", Parts: []string{"c", "a.b", "c", "d.e"}, Kind: "table"}
}

func TestReportsNameTheirTableLevelByLevel(t *testing.T) {
	o := told{got: make(chan string, 1)}
	d, _, err := catalogs.NewDefinition("c", "org.apache.iceberg.spark.SparkCatalog", map[string]string{"type": "rest", "uri": "http://h"})
	if err != nil {
		t.Fatal(err)
	}
	set, err := catalogs.NewSet(catalogs.SetConfig{Definitions: []catalogs.Definition{d}, Open: func(context.Context, catalogs.Definition, storage.Map) (catalogs.Catalog, error) { return o, nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	set.Open(t.Context())
	if _, err := set.Catalog(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	if _, err := reporting(set, slog.New(slog.DiscardHandler))(dotted{}).Plan(t.Context(), scan.Request{}); err != nil {
		t.Fatal(err)
	}
	if got := <-o.got; got != `["a.b" "c" "d.e"] true` {
		t.Error(got)
	}
}
