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

func ptr(s string) *string { return &s }
