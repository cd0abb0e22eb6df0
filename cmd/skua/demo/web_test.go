package demo

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog/hadoop"
	"github.com/apache/iceberg-go/table"
)

// events makes web.events in a fresh warehouse and loads it anew, as a reader would.
func events(t *testing.T) *table.Table {
	t.Helper()
	catalog, err := hadoop.NewCatalog("demo", "file://"+filepath.ToSlash(t.TempDir()), iceberg.Properties{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = catalog.Close() })
	if err := makeWeb(context.Background(), catalog, func(string, ...any) {}); err != nil {
		t.Fatal(err)
	}
	made, err := catalog.LoadTable(context.Background(), table.Identifier{"web", "events"})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// at scans what a reference, or the table as it is, holds.
func at(t *testing.T, events *table.Table, ref string, options ...table.ScanOption) *table.Scan {
	t.Helper()
	scan := events.Scan(options...)
	if ref == "" {
		return scan
	}
	scan, err := scan.UseRef(ref)
	if err != nil {
		t.Fatal(err)
	}
	return scan
}

// pagesIn reads every row that ref holds and counts it under its page.
func pagesIn(t *testing.T, events *table.Table, ref string) map[string]int {
	t.Helper()
	_, batches, err := at(t, events, ref, table.WithSelectedFields("page")).ToArrowRecords(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for batch, err := range batches {
		if err != nil {
			t.Fatal(err)
		}
		column := batch.Column(0).(*array.String)
		for i := range column.Len() {
			counts[column.Value(i)]++
		}
		batch.Release()
	}
	return counts
}

func TestDeletedEventsAreGoneAndTheTagKeepsThem(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 60,000 rows")
	}
	made := events(t)
	help, others := 0, 0
	for i := range eventRows {
		if page(i) == "/help" {
			help++
			continue
		}
		others++
	}
	for ref, want := range map[string]struct{ help, others int }{
		"":           {0, others},
		"launch":     {help, launchedFrom - help},
		"experiment": {0, others + branchRows},
	} {
		counts := pagesIn(t, made, ref)
		gone := counts["/help"]
		total := 0
		for _, n := range counts {
			total += n
		}
		if gone != want.help || total-gone != want.others {
			t.Errorf("%q holds %d rows of /help and %d others, want %d and %d", ref, gone, total-gone, want.help, want.others)
		}
	}
	if help == 0 {
		t.Error("the demo deletes nothing")
	}
	deletedOfBothSchemas(t, made, int64(help))
	evolved(t, made)
}

// deletedOfBothSchemas checks that position deletes, and they alone, took the rows, and that each lies under the spec and in the partition of its data file.
func deletedOfBothSchemas(t *testing.T, events *table.Table, want int64) {
	t.Helper()
	tasks, err := at(t, events, "").PlanFiles(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	deletes := map[string]int64{}
	untouched := 0
	for _, task := range tasks {
		if len(task.EqualityDeleteFiles)+len(task.DeletionVectorFiles) > 0 {
			t.Errorf("%s has other deletes than positions", task.File.FilePath())
		}
		if len(task.DeleteFiles) == 0 {
			untouched++
		}
		for _, d := range task.DeleteFiles {
			if d.ContentType() != iceberg.EntryContentPosDeletes || d.SpecID() != task.File.SpecID() {
				t.Errorf("%s has a delete file of content %s under spec %d, itself under %d", task.File.FilePath(), d.ContentType(), d.SpecID(), task.File.SpecID())
			}
			deletes[d.FilePath()] = d.Count()
		}
	}
	var total int64
	for _, n := range deletes {
		total += n
	}
	if total != want || untouched == 0 {
		t.Errorf("%d position deletes in %d files, want %d; %d data files without any", total, len(deletes), want, untouched)
	}
}

func evolved(t *testing.T, events *table.Table) {
	t.Helper()
	field, found := events.Schema().FindFieldByName("took_ms")
	if !found || field.ID != 5 || field.Type != (iceberg.Int64Type{}) {
		t.Errorf("took_ms is %v", field)
	}
	if _, found := events.Schema().FindFieldByName("referrer"); !found {
		t.Error("there is no referrer")
	}
	spec := events.Spec()
	if n := len(events.Metadata().PartitionSpecs()); n != 2 || spec.NumFields() != 2 {
		t.Errorf("%d specs, the present one of %d fields", n, spec.NumFields())
	}
	specs := map[int32]bool{}
	tasks, err := at(t, events, "").PlanFiles(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		specs[task.File.SpecID()] = true
	}
	if len(specs) != 2 {
		t.Errorf("data files lie under the specs %v", specs)
	}
}
