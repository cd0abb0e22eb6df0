package scan

import (
	"testing"

	"github.com/skua-data/skua/resource"
)

func TestPlanningTellsHowFarItIs(t *testing.T) {
	source := wideSource(t, wideMetadata(t, 60, 6), 0)
	progress := &resource.Progress{}
	if _, err := source.Plan(resource.WithProgress(t.Context(), progress), Request{Fields: []int{1}, Limit: -1}); err != nil {
		t.Fatal(err)
	}
	if share, known := progress.Share(); !known || share != 1 {
		t.Errorf("share %v, known %v after a plan", share, known)
	}
	progress.Expect(6) // as many manifests are read again when it is asked again, no more and no less
	if share, _ := progress.Share(); share != 0.5 {
		t.Errorf("%v of twice as many manifests", share)
	}
}
