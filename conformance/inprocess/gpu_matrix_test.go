//go:build cuda

package inprocess

import (
	"testing"

	"github.com/skua-data/skua/conformance"
	"github.com/skua-data/skua/conformance/report"
)

// TestMatrixOnTheGPU runs the scripts with all that the kernels can do sent to the GPU of this build.
func TestMatrixOnTheGPU(t *testing.T) {
	scripts, err := conformance.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	t.Log(report.Count(elsewhere(t, conformance.Cell{}.With(conformance.Decoder, gpu), scripts)))
}
