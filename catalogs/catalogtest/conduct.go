package catalogtest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
)

// ask makes every kind of call about a namespace and a table and gives their errors by name.
func ask(ctx context.Context, c catalogs.Catalog, namespace, name table.Identifier) map[string]error {
	out := map[string]error{}
	_, out["namespaces"] = namespaces(ctx, c, namespace)
	_, out["tables"] = tables(ctx, c, namespace)
	_, out["load namespace"] = c.LoadNamespace(ctx, namespace)
	_, out["load"] = c.Load(ctx, catalogs.LoadRequest{Identifier: name})
	return out
}

// parents gives the root and every expected namespace.
func (s *suite) parents() []table.Identifier {
	out := []table.Identifier{nil}
	for _, ns := range s.expected.Namespaces {
		out = append(out, ns.Identifier)
	}
	return out
}

func child(parent table.Identifier, name string) table.Identifier {
	return append(slices.Clone(parent), name)
}

func testMissing(t T, s *suite) {
	for _, parent := range s.parents() {
		missing := child(parent, "no_such_name")
		for call, err := range ask(t.Context(), s, missing, missing) {
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("%s of %s: %v, want not found", call, text(missing), err)
			}
		}
		if err := ask(t.Context(), s, nil, child(missing, "t"))["load"]; !fault.Is(err, fault.NotFound) {
			t.Errorf("load in a missing namespace: %v, want not found", err)
		}
	}
}

func testOddNames(t T, s *suite) {
	odd := []string{"", ".", "..", "../x", "a/b", "/", "\\", "a.b.no", "%", "_", "%2e%2e", "*", "?", "'", "' OR '1'='1", "\"", "`", "a\x00b", "\n", "no ☃ such",
		"\xff", "x--", strings.Repeat("n", 5000)}
	for _, parent := range s.parents()[:min(3, 1+len(s.expected.Namespaces))] {
		for _, name := range odd {
			id := child(parent, name)
			for call, err := range ask(t.Context(), s, id, id) {
				if !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Invalid) {
					t.Errorf("%s of %.40q: %v, want not found or invalid", call, id, err)
				}
			}
		}
	}
	if _, err := s.Load(t.Context(), catalogs.LoadRequest{}); err == nil {
		t.Error("a load without a name must fail")
	}
}

func testStopped(t T, s *suite) {
	for _, parent := range s.parents() {
		for range 5 { // a listing that keeps something would run out of it
			for range s.Namespaces(t.Context(), parent) {
				break
			}
			for range s.Tables(t.Context(), parent) {
				break
			}
		}
	}
	testNamespaces(t, s)
	testTables(t, s)
}

func testOwnership(t T, s *suite) {
	for _, parent := range s.parents() {
		for ns, err := range s.Namespaces(t.Context(), parent) {
			if err != nil {
				t.Fatal(err)
			}
			ns[len(ns)-1] = "mine"
		}
		if len(parent) == 0 && !s.expected.Capabilities.RootTables {
			continue
		}
		for e, err := range s.Tables(t.Context(), parent) {
			if err != nil {
				t.Fatal(err)
			}
			e.Identifier[0] = "mine"
		}
	}
	for _, ns := range s.expected.Namespaces {
		p, err := s.LoadNamespace(t.Context(), ns.Identifier)
		if err != nil {
			t.Fatal(err)
		}
		if p != nil {
			p["location"] = "mine"
		}
	}
	testNamespaces(t, s)
	testTables(t, s)
	testProperties(t, s)
}

func testCancelled(t T, s *suite) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, want := range s.expected.Tables {
		last := len(want.Identifier) - 1
		if last == 0 {
			continue
		}
		for call, err := range ask(ctx, s, want.Identifier[:last], want.Identifier) {
			if !fault.Is(err, fault.Canceled) {
				t.Errorf("%s of %s: %v, want cancelled", call, text(want.Identifier), err)
			}
		}
	}
	testLoad(t, s)
}

func testConcurrent(t T, s *suite) {
	var wait sync.WaitGroup
	var mu sync.Mutex
	var failed []error
	for range 8 {
		wait.Go(func() {
			var errs []error
			for _, parent := range s.parents() {
				_, err := namespaces(t.Context(), s, parent)
				errs = append(errs, err)
			}
			for _, ns := range s.expected.Namespaces {
				_, err := tables(t.Context(), s, ns.Identifier)
				errs = append(errs, err)
			}
			for _, want := range s.expected.Tables {
				errs = append(errs, load(t.Context(), s, want))
			}
			mu.Lock()
			defer mu.Unlock()
			failed = append(failed, errs...)
		})
	}
	wait.Wait()
	if err := errors.Join(failed...); err != nil {
		t.Error(err)
	}
}

func testClosed(t T, s *suite) {
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
	}
	for _, want := range s.expected.Tables {
		last := len(want.Identifier) - 1
		for call, err := range ask(t.Context(), s, want.Identifier[:last], want.Identifier) {
			if !fault.Is(err, fault.Unavailable) && (last > 0 || call == "load") {
				t.Errorf("%s after the end: %v, want unavailable", call, err)
			}
		}
	}
}
