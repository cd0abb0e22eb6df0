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
	keep    = flag.String("keep", "", "a folder in which to leave the tables that a reader differs on")
	python  = flag.String("python", "", "an interpreter with PyIceberg, DuckDB and PyArrow, to ask these too")
)

// expected are features that at least one in fifty tables of a long run has. The generator makes each in eight of a hundred tables or more, so that chance does not decide.
var expected = []string{
	"Avro files", "Avro files without field ids", "INT96 timestamps", "byte streams of what is no float", "columns added", "columns added in lists",
	"columns added in maps", "columns added in structs", "columns dropped", "columns dropped in lists", "columns dropped in maps", "columns dropped in structs",
	"columns promoted", "columns promoted in lists", "columns promoted in maps", "columns promoted in structs", "columns renamed", "columns renamed in lists",
	"columns renamed in maps", "columns renamed in structs", "decimals in bytes of any length", "deletion vectors", "equality deletes",
	"equality deletes of dropped columns", "equality deletes of promoted columns", "files read by position", "files with ids of some columns",
	"files without field ids", "files without partition columns", "format version 1", "format version 2", "format version 3", "initial defaults",
	"initial defaults in lists", "initial defaults in maps", "initial defaults in structs", "large files", "lists of other names", "lists of two levels",
	"manifest lists in another order", "manifest lists that state nothing", "manifest lists without optional fields", "name mapping", "partition by bucket",
	"partition by day", "partition by hour", "partition by identity", "partition by month", "partition by truncate", "partition by void", "partition by year",
	"partition fields that became void", "position deletes", "queries of _deleted", "queries of _file", "queries of _last_updated_sequence_number",
	"queries of _partition", "queries of _pos", "queries of _row_id", "queries of _spec_id", "removed files", "repeated fields without a list",
	"rewritten manifests", "schema evolution", "several sets of equality keys", "shredded variants", "sorted queries", "spec evolution",
	"specs whose source was dropped", "tests of date", "tests of system.bucket", "tests of system.days", "tests of system.hours", "tests of system.months",
	"tests of system.truncate", "tests of system.years", "tests of year", "upgrade to version 2", "upgrade to version 3", "variants",
	"vectors in place of position deletes"}

// TestScansGiveTheRowsThatWereWritten compares random scans with the plain reader, and with others where -python says so.
func TestScansGiveTheRowsThatWereWritten(t *testing.T) {
	if testing.Short() {
		*tables = min(*tables, 4)
	}
	dir := *keep
	if dir == "" {
		dir = t.TempDir()
	}
	r, err := Run(t.Context(), Config{Seed: *seed, Tables: *tables, Queries: *queries, Dir: dir, Keep: *keep != "", Python: *python})
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
	if *tables >= 100 { // the long run
		for _, name := range expected {
			if n := r.Features[name]; n*50 < *tables {
				t.Errorf("only %d of %d tables have %s", n, *tables, name)
			}
		}
	}
	if r.Versions != "" {
		t.Log(r.Versions)
	}
	for _, d := range r.Differences {
		t.Error(d)
	}
}
