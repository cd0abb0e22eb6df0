//go:build cuda && cudafake

package inprocess

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/skua-data/skua/conformance"
	"github.com/skua-data/skua/conformance/oracle"
	"github.com/skua-data/skua/kernels/cuda/driver/standin"
)

// TestOracleOnTheGPU asks every recorded query twice: with all that the kernels can do sent to the stand-in for a GPU, and on the CPU alone.
// The verdicts are the same.
func TestOracleOnTheGPU(t *testing.T) {
	suite, err := oracle.Load(filepath.Join("..", "testdata", "expected"))
	if err != nil {
		t.Fatal(err)
	}
	var verdicts [2]bytes.Buffer
	for i, decoder := range []string{"cpu", "gpu"} {
		settings := lake(t)
		settings["skua.decoder"] = decoder
		report, err := suite.Run(t.Context(), oracle.Config{Target: start(t, settings).Target(), Names: []conformance.Rename{{From: "oracle", To: "lake"}}})
		if err != nil {
			t.Fatal(err)
		}
		report.WriteCounts(&verdicts[i])
		oracle.WriteVerdicts(&verdicts[i], report.Of(oracle.Wrong, oracle.Failed), 50)
	}
	if cpu, gpu := verdicts[0].String(), verdicts[1].String(); cpu != gpu {
		t.Errorf("on the GPU\n%s\non the CPU\n%s", gpu, cpu)
	}
	if faults := standin.Faults(); len(faults) > 0 {
		t.Errorf("kernels had faults:\n%s", strings.Join(faults, "\n"))
	}
}

// TestExplainTellsOfTheGPU shows the routes of the columns before, and the counters after.
func TestExplainTellsOfTheGPU(t *testing.T) {
	settings := lake(t)
	settings["skua.decoder"] = "gpu"
	s := open(t, start(t, settings).Target(), "EXPLAIN ANALYZE SELECT * FROM lake.types.all_v2 WHERE id > 0")
	defer s.reader.Release()
	var text strings.Builder
	for s.reader.Next() {
		fmt.Fprintln(&text, s.reader.RecordBatch().Column(0))
	}
	for _, want := range []string{`cuda \(the session wants it on the GPU\)`, `GPU: [1-9]\d* column chunks and [1-9]\d* tests of some, [1-9]\d* bytes of pages sent`, `decoder = gpu`} {
		if !regexp.MustCompile(want).MatchString(text.String()) {
			t.Errorf("no %s in it", want)
		}
	}
}
