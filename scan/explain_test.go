package scan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/resource"
)

// TestExplanationTellsWhatWasLeftOut plans a partitioned table with position deletes, and asks again after reading it.
func TestExplanationTellsWhatWasLeftOut(t *testing.T) {
	table := oracleTable(t, oracleScanner(t, "testdata/oracle"), "testdata/oracle", []string{"deletes"}, "pos_v2")
	source, err := table.Source(t.Context(), Reference{})
	if err != nil {
		t.Fatal(err)
	}
	where := recordedFilter(t, "p = 'p1'", source)
	file := predicate.Comparison{Op: predicate.NotEq, Field: predicate.Field{ID: idFile, Path: []string{"_file"}, Type: source.MetadataColumns().Field(2).Type},
		Value: predicate.Literal{Type: source.MetadataColumns().Field(2).Type, Value: "x"}}
	p, err := source.Plan(t.Context(), Request{Fields: fieldIDs(source.Schema()), Filter: predicate.And{Left: where, Right: file}, Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	e := p.Explain()
	if e.Pushed != where.String() || e.Residual != e.Filter || e.RowGroups.Total != 0 || e.Decoders != nil {
		t.Errorf("pushed %q of %q, residual %q, row groups %v, decoders %v", e.Pushed, e.Filter, e.Residual, e.RowGroups, e.Decoders)
	}
	got := fmt.Sprint(e.Manifests, e.DeleteManifests, e.Files, e.Deletes, e.DeletesByKind)
	if want := "{4 map[]} {3 map[]} {13 map[partition:9]} {9 map[partition:6]} map[position deletes:3]"; got != want {
		t.Errorf("considered\n%s, want\n%s", got, want)
	}
	lines, err := Decoders(t.Context(), p)
	if err != nil || len(lines) == 0 || !strings.Contains(lines[0], ": fallback (") {
		t.Errorf("decoders %q, %v", lines, err)
	}
	statement := resource.NewPool(resource.Config{}).NewStatement("s")
	r, err := p.Open(resource.With(t.Context(), statement), 0, p.Splits())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	for r.Next() {
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	e = p.Explain()
	if int64(e.RowGroups.Total) != statement.Counters.RowGroups.Load() || e.RowGroups.Total != 4 || fmt.Sprint(e.Decoders) != fmt.Sprint(lines) {
		t.Errorf("row groups %v, %d counted, decoders %q", e.RowGroups, statement.Counters.RowGroups.Load(), e.Decoders)
	}
}
