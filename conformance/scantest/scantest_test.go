package scantest

import (
	"flag"
	"maps"
	"slices"
	"testing"
)

var (
	tables  = flag.Int("tables", 20, "tables to make")
	queries = flag.Int("queries", 20, "queries of each table")
	seed    = flag.Int64("seed", 1, "seed of the first table")
	python  = flag.String("python", "", "an interpreter with PyIceberg, DuckDB and PyArrow, to ask these too")
)

// TestScansGiveTheRowsThatWereWritten compares random scans with the plain reader, and with others where -python says so.
func TestScansGiveTheRowsThatWereWritten(t *testing.T) {
	if testing.Short() {
		*tables = min(*tables, 4)
	}
	r, err := Run(t.Context(), Config{Seed: *seed, Tables: *tables, Queries: *queries, Dir: t.TempDir(), Python: *python})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("seeds %d to %d: %d cases, %d rows", *seed, *seed+int64(*tables)-1, r.Cases, r.Rows)
	for _, counts := range []struct {
		of   map[string]int
		text string
	}{{r.Features, "tables with"}, {r.Asked, "cases answered by"}, {r.Left, "cases not answered by"}} {
		for _, name := range slices.Sorted(maps.Keys(counts.of)) {
			t.Logf("%7d %s %s", counts.of[name], counts.text, name)
		}
	}
	if r.Versions != "" {
		t.Log(r.Versions)
	}
	for _, d := range r.Differences {
		t.Error(d)
	}
}
