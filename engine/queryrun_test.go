package engine

import "testing"

// stateOnly is a table of which the place of its metadata is known.
type stateOnly struct{ openTable }

func (stateOnly) MetadataLocation() string { return "metadata.json" }

func TestTheLogKnowsTheSnapshotsOfAQuery(t *testing.T) {
	r := &resolution{opened: map[string]openTable{}}
	for _, snapshot := range []int64{7, 9} {
		f := &found{catalog: "c", identifier: []string{"n", "t"}, opened: stateOnly{}}
		r.fix(f)
		f.snapshot = snapshot // found when the source is opened
		r.read(f)
	}
	if len(r.pins) != 1 || r.pins[0].Snapshot != 7 {
		t.Errorf("%v", r.pins)
	}
}
