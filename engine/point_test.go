package engine

import (
	"context"
	"fmt"
	"testing"

	"github.com/skua-data/skua/session"
)

func TestPatternsThatMeanOneText(t *testing.T) {
	for pattern, want := range map[string]string{"a": "a", `a\_b`: "a_b", `\%`: "%", `\\`: `\`, "": ""} {
		if got, ok := onlyMatch(&pattern); !ok || got != want {
			t.Errorf("%s: %q, %v", pattern, got, ok)
		}
	}
	for _, pattern := range []string{"a_b", "%", `a\`, `\_%`} {
		if got, ok := onlyMatch(&pattern); ok {
			t.Errorf("%s means %q", pattern, got)
		}
	}
	if _, ok := onlyMatch(nil); ok {
		t.Error("no pattern means one text")
	}
}

// TestOneTableIsFoundAsAListingFindsIt holds the short way against the long one, which a % at the end takes.
func TestOneTableIsFoundAsAListingFindsIt(t *testing.T) {
	_, e := newWorld(t)
	list := func(f TableFilter) (out string) {
		for entry, err := range e.Tables(context.Background(), session.State{}, f) {
			if err != nil {
				return err.Error()
			}
			out += fmt.Sprintln(entry.Catalog, entry.Schema, entry.Name, entry.Type, entry.Columns)
		}
		return out
	}
	for _, c := range [][2]string{{"db", "sales"}, {"db", "v"}, {"db", "broken"}, {"db", "none"}, {"none", "sales"}, {"sp ace", "o-k"}, {"`sp ace`", "o-k"}, {"db.sub", "x"}, {"", "root"}} {
		for _, catalog := range []*string{nil, ptr("lake"), ptr("bare"), ptr("nowhere")} {
			for _, types := range [][]string{nil, {"TABLE"}, {"VIEW"}} {
				if catalog == nil && types != nil {
					continue
				}
				exact := TableFilter{Catalog: catalog, SchemaPattern: ptr(c[0]), NamePattern: ptr(c[1]), Types: types, WithSchema: true}
				listed := exact
				listed.NamePattern = ptr(c[1] + "%")
				if got, want := list(exact), list(listed); got != want {
					t.Errorf("%q in %v, types %q: %q, listed %q", c, catalog, types, got, want)
				}
			}
		}
	}
}

// TestAListingAsksForNoMoreThanItsPatternsCanMatch: what a pattern rules out by its schema is not looked below, listed or loaded.
func TestAListingAsksForNoMoreThanItsPatternsCanMatch(t *testing.T) {
	for _, c := range []struct {
		schema, name          string
		found, listed, loaded int
	}{
		{"%", "%", 7, 10, 7},      // the root and four namespaces: what is below each, and its tables
		{"db", "%", 5, 2, 5},      // the namespaces at the root, and the tables of one
		{"d_", "%", 5, 2, 5},      // another spelling
		{"d_", "s_les", 1, 2, 1},  // one of its tables
		{"db", "sales", 1, 0, 2},  // one table is loaded, not listed
		{"db.%", "%", 0, 4, 0},    // below db, and below that
		{"nothing", "%", 0, 1, 0}, // the namespaces at the root
	} {
		w, e := newWorld(t)
		lake := w.catalogs["lake"]
		lake.listed, lake.loads = 0, 0
		n := 0
		for _, err := range e.Tables(context.Background(), session.State{}, TableFilter{Catalog: ptr("lake"), SchemaPattern: &c.schema, NamePattern: &c.name, WithSchema: true}) {
			if n++; err != nil {
				t.Fatal(err)
			}
		}
		if n != c.found || lake.listed != c.listed || lake.loads > c.loaded {
			t.Errorf("%s, %s: %d found, %d listings, %d loads; want %d, %d, at most %d", c.schema, c.name, n, lake.listed, lake.loads, c.found, c.listed, c.loaded)
		}
	}
}

func ptr(s string) *string { return &s }
