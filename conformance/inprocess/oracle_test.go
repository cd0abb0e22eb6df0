package inprocess

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/skua-data/skua/conformance/oracle"
)

// TestOracle asks every recorded query of the fixture tables. None may come out otherwise than Spark's, and none that did may be refused again.
func TestOracle(t *testing.T) {
	if testing.Short() {
		t.Skip("it asks some 700 questions")
	}
	suite, err := oracle.Load(filepath.Join("..", "testdata", "expected"))
	if err != nil {
		t.Fatal(err)
	}
	settings := lake(t)
	settings["skua.sql.dialect"] = "spark" // the answers are Spark's
	report, err := suite.Run(t.Context(), oracle.Config{Target: start(t, settings).Target(), Names: []oracle.Rename{{From: "oracle", To: "lake"}}})
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
		if file == "all" {
			continue
		}
		if seen[file][oracle.Equal] < classes[oracle.Equal] {
			t.Errorf("%s: %d equal, %d are committed", file, seen[file][oracle.Equal], classes[oracle.Equal])
		}
	}
}
