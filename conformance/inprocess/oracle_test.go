package inprocess

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/skua-data/skua/conformance"
	"github.com/skua-data/skua/conformance/oracle"
)

// everyday are the answers that are asked for unless the whole matrix is wanted.
var everyday = []string{"deletes.eq_v2", "deletes.pos_v2", "evolve.columns", "evolve.promote", "history.branches_tags", "parts.evolved", "session", "types.all_v2", "types.nested_deep",
	"deletes.dv_v3", "types.uuid_fixed", "layout.formats"}

// TestOracle asks every recorded query of the fixture tables. None may come out otherwise than Spark's, and none that did may be refused again.
func TestOracle(t *testing.T) {
	if testing.Short() {
		t.Skip("it asks some 700 questions")
	}
	suite, err := oracle.Load(filepath.Join("..", "testdata", "expected"))
	if err != nil {
		t.Fatal(err)
	}
	if !full() && !*update {
		suite.Files = slices.DeleteFunc(suite.Files, func(f oracle.File) bool { return !slices.Contains(everyday, f.Name) })
	}
	settings := lake(t)
	settings["skua.sql.dialect"] = "spark" // the answers are Spark's
	report, err := suite.Run(t.Context(), oracle.Config{Target: start(t, settings).Target(), Names: []conformance.Rename{{From: "oracle", To: "lake"}}})
	if err != nil {
		t.Fatal(err)
	}
	var counts, bad bytes.Buffer
	report.WriteCounts(&counts)
	t.Log("\n" + counts.String())
	if wrong := report.Of(oracle.Wrong, oracle.Failed); len(wrong) > 0 {
		oracle.WriteVerdicts(&bad, wrong, 50)
		t.Errorf("%d questions came out wrong or failed:\n%s", len(wrong), bad.String())
	}
	compareCounts(t, report, counts.Bytes())
}

// compareCounts fails where fewer questions are answered as Spark does than the committed counts say.
func compareCounts(t *testing.T, report *oracle.Report, counts []byte) {
	t.Helper()
	path := filepath.Join("..", "testdata", "counts.txt")
	if *update {
		if err := os.WriteFile(path, counts, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	committed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := oracle.ParseCounts(string(committed))
	if err != nil {
		t.Fatal(err)
	}
	seen := report.Counts()
	for file, classes := range want {
		if _, asked := seen[file]; file == "all" || !asked {
			continue
		}
		if seen[file][oracle.Equal] < classes[oracle.Equal] {
			t.Errorf("%s: %d equal, %d are committed", file, seen[file][oracle.Equal], classes[oracle.Equal])
		}
	}
}

// recordedFeatures are the features that the recorded answers about a table speak of.
var recordedFeatures = map[string][]string{
	"deletes.dv_v3": {"deletes.vectors", "format.v3"}, "deletes.eq_v2": {"deletes.equality", "deletes.sequence", "comet.deletes"}, "deletes.lineage_v3": {"lineage.ids"},
	"deletes.pos_v2": {"deletes.position", "comet.deletes"}, "deletes.upgraded": {"deletes.upgraded"}, "evolve.columns": {"evolve.add", "evolve.drop", "evolve.rename", "evolve.reorder", "comet.evolution"},
	"evolve.defaults_v3": {"evolve.defaults"}, "evolve.promote": {"evolve.promote-int", "evolve.promote-float", "evolve.promote-decimal", "comet.promotion-filter"}, "evolve.readd": {"evolve.readd", "evolve.nested"},
	"history.branches_tags": {"travel.branch", "travel.tag", "travel.selectors", "comet.travel"}, "history.emptied": {"travel.empty"}, "history.expired": {"travel.expired"},
	"history.no_snapshot": {"travel.empty"}, "history.replaced": {"travel.replaced"}, "history.wap": {"travel.wap"}, "layout.codecs": {"files.codecs"}, "layout.formats": {"files.avro"},
	"layout.split_props": {"options.property", "scan.splits"}, "names.columns": {"names.columns"}, "parts.bucket_all": {"partition.bucket"}, "parts.evolved": {"partition.evolution", "comet.partitions"},
	"parts.identity_all": {"partition.identity"}, "parts.time_transforms": {"partition.time"}, "parts.truncate_all": {"partition.truncate"}, "parts.void_v1": {"partition.void", "format.v1"},
	"types.all_v1": {"format.v1"}, "types.all_v2": {"format.v2", "comet.types"}, "types.floats": {"sql.nan"}, "types.nested_deep": {"types.struct", "types.list", "types.map"}, "types.time_col": {"types.time"},
	"types.ts_nanos_v3": {"types.nanos"}, "types.unknown_v3": {"types.unknown"}, "types.uuid_fixed": {"types.uuid", "types.fixed", "types.binary"}, "types.variant_shredded_v3": {"types.variant-shredded"}, "types.variant_v3": {"types.variant"},
}

// recordedOutcomes gives an outcome for each table of recorded answers, by the committed counts: passed where some are equal and none is wrong.
func recordedOutcomes(t *testing.T) (out []conformance.Outcome) {
	t.Helper()
	committed, err := os.ReadFile(filepath.Join("..", "testdata", "counts.txt"))
	if err != nil {
		t.Fatal(err)
	}
	counts, err := oracle.ParseCounts(string(committed))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range slices.Sorted(maps.Keys(recordedFeatures)) {
		o := conformance.Outcome{Script: "recorded", Case: file, Features: recordedFeatures[file], Status: conformance.Passed}
		if c := counts[file]; c[oracle.Equal] == 0 || c[oracle.Wrong]+c[oracle.Failed] > 0 {
			o.Status = conformance.Failed
		}
		out = append(out, o)
	}
	return out
}
