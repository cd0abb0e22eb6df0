package catalogtest

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
)

func testCapabilities(t T, s *suite) {
	if got := s.Capabilities(); got != s.expected.Capabilities {
		t.Errorf("capabilities %+v, want %+v", got, s.expected.Capabilities)
	}
}

func testNamespaces(t T, s *suite) {
	parents := []table.Identifier{nil}
	for _, ns := range s.expected.Namespaces {
		parents = append(parents, ns.Identifier)
	}
	for _, parent := range parents {
		var want []string
		for _, ns := range s.expected.Namespaces {
			if len(ns.Identifier) == len(parent)+1 && slices.Equal(ns.Identifier[:len(parent)], parent) {
				want = append(want, text(ns.Identifier))
			}
		}
		got, err := namespaces(t.Context(), s, parent)
		if err != nil {
			t.Errorf("namespaces of %s: %v", text(parent), err)
		}
		same(t, "namespaces of "+text(parent), got, want)
	}
}

func testTables(t T, s *suite) {
	var parents []table.Identifier
	if s.expected.Capabilities.RootTables {
		parents = append(parents, nil)
	}
	for _, ns := range s.expected.Namespaces {
		parents = append(parents, ns.Identifier)
	}
	for _, parent := range parents {
		var want []string
		for _, e := range s.expected.Tables {
			if last := len(e.Identifier) - 1; slices.Equal(e.Identifier[:last], parent) {
				want = append(want, line(e.Identifier, e.Kind))
			}
		}
		got, err := tables(t.Context(), s, parent)
		if err != nil {
			t.Errorf("tables of %s: %v", text(parent), err)
		}
		same(t, "tables of "+text(parent), got, want)
	}
}

func testProperties(t T, s *suite) {
	for _, ns := range s.expected.Namespaces {
		got, err := s.LoadNamespace(t.Context(), ns.Identifier)
		if err != nil {
			t.Errorf("namespace %s: %v", text(ns.Identifier), err)
			continue
		}
		for k, want := range ns.Properties {
			if v, ok := got[k]; !ok || v != want {
				t.Errorf("namespace %s: %s is %q, want %q", text(ns.Identifier), k, v, want)
			}
		}
	}
}

func testLoad(t T, s *suite) {
	for _, want := range s.expected.Tables {
		if err := load(t.Context(), s, want); err != nil {
			t.Error(err)
		}
	}
}

func testHeld(t T, s *suite) {
	for _, want := range s.expected.Tables {
		first, err := s.Load(t.Context(), catalogs.LoadRequest{Identifier: want.Identifier})
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.Load(t.Context(), catalogs.LoadRequest{Identifier: want.Identifier, Held: first.MetadataLocation})
		if err != nil {
			t.Fatal(err)
		}
		if again.MetadataLocation != first.MetadataLocation {
			t.Errorf("%s: at %s, then at %s", text(want.Identifier), first.MetadataLocation, again.MetadataLocation)
		}
		if s.expected.Capabilities.Unchanged && again.Metadata != nil {
			t.Errorf("%s: held metadata came again", text(want.Identifier))
		}
		other, err := s.Load(t.Context(), catalogs.LoadRequest{Identifier: want.Identifier, Held: first.MetadataLocation + ".old"})
		if err != nil {
			t.Fatal(err)
		}
		if !want.LocationOnly && len(other.Metadata) == 0 {
			t.Errorf("%s: metadata that is not held did not come", text(want.Identifier))
		}
	}
}

// load loads a table and says what is wrong with it.
func load(ctx context.Context, c catalogs.Catalog, want Table) error {
	got, err := c.Load(ctx, catalogs.LoadRequest{Identifier: want.Identifier})
	switch {
	case err != nil:
		return fmt.Errorf("load %s: %w", text(want.Identifier), err)
	case !slices.Equal(got.Identifier, want.Identifier):
		return fmt.Errorf("load %s gave %s", text(want.Identifier), text(got.Identifier))
	case got.Kind != want.Kind:
		return fmt.Errorf("load %s: kind %d, want %d", text(want.Identifier), got.Kind, want.Kind)
	case got.Catalog != "":
		return fmt.Errorf("load %s: the name of the catalog (%q) is not the catalog's to fill in", text(want.Identifier), got.Catalog)
	case want.MetadataLocation != "" && got.MetadataLocation != want.MetadataLocation:
		return fmt.Errorf("load %s: metadata at %s, want %s", text(want.Identifier), got.MetadataLocation, want.MetadataLocation)
	case want.LocationOnly && (got.Metadata != nil || got.MetadataLocation == ""):
		return fmt.Errorf("load %s: want a location and no metadata", text(want.Identifier))
	case !want.LocationOnly && !json.Valid(got.Metadata):
		return fmt.Errorf("load %s: the metadata is no JSON", text(want.Identifier))
	}
	return nil
}

func namespaces(ctx context.Context, c catalogs.Catalog, parent table.Identifier) ([]string, error) {
	return collect(c.Namespaces(ctx, parent), text)
}

func tables(ctx context.Context, c catalogs.Catalog, namespace table.Identifier) ([]string, error) {
	return collect(c.Tables(ctx, namespace), func(e catalogs.Entry) string { return line(e.Identifier, e.Kind) })
}

// collect gives a whole listing; an error must be its end.
func collect[T any](listing iter.Seq2[T, error], show func(T) string) (out []string, err error) {
	for v, e := range listing {
		if err != nil {
			return out, fmt.Errorf("the listing goes on after its error (%w)", err)
		}
		if err = e; err == nil {
			out = append(out, show(v))
		}
	}
	return out, err
}

// same compares a listing with what it should be in byte order.
func same(t T, what string, got, want []string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%q, want\n%q", what, got, want)
	}
}

// text spells an identifier without doubt about its parts, and sorts as its parts do.
func text(id table.Identifier) string { return "[" + strings.Join(id, "\x01") + "]" }

func line(id table.Identifier, kind catalogs.Kind) string {
	return fmt.Sprintf("%s\x01%d", strings.Join(id, "\x01"), kind)
}
