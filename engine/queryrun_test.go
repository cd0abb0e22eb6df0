package engine

import (
	"context"
	"strings"
	"testing"
)

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

// accepting is an Executor that takes every statement.
type accepting struct{ asked int }

func (a *accepting) Close() error { return nil }

func (a *accepting) Compile(context.Context, Query) (Program, error) {
	a.asked++
	return followed{}, nil
}

func TestElementsOfASelectListMayNameEachOther(t *testing.T) {
	w, e := newWorld(t)
	run := &accepting{}
	e.config.Executor = run
	s := w.session(t, e, "lateral")
	for _, c := range []struct {
		sql   string
		asked int
		fails string
	}{
		{"SELECT id AS a, a AS b FROM lake.db.sales", 1, ""},
		{"SELECT id AS a, s FROM lake.db.sales", 0, ""},
		{"SELECT id, b FROM lake.db.sales", 0, "UNRESOLVED_COLUMN"},
	} {
		run.asked = 0
		_, err := e.Prepare(t.Context(), Call{Session: s, Principal: "ann", Text: c.sql})
		if run.asked != c.asked || (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: asked %d times, %v", c.sql, run.asked, err)
		}
	}
}
