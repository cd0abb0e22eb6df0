package plugins_test

import (
	"context"
	"iter"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
)

// impatient gives f as seen by callers who wait 100 ms for an answer.
func impatient(t *testing.T, f *fake) catalogs.Catalog {
	t.Helper()
	client, _ := connect(t, opening(f))
	client.Patience = 100 * time.Millisecond
	catalog, err := client.Open(t.Context(), "fake", catalogs.Config{Name: "prod"})
	if err != nil {
		t.Fatal(err)
	}
	return catalog
}

func TestACatalogThatNeverAnswersFailsTheCall(t *testing.T) {
	stuck := make(chan struct{})
	hang := func() { <-stuck } // looks at no context
	catalog := impatient(t, &fake{
		load: func(_ context.Context, req catalogs.LoadRequest) (*catalogs.Table, error) {
			if req.Identifier[0] == "good" {
				return &example, nil
			}
			hang()
			return nil, nil
		},
		properties: func(context.Context, table.Identifier) (iceberg.Properties, error) { hang(); return nil, nil },
		namespaces: func(context.Context, table.Identifier) iter.Seq2[table.Identifier, error] {
			return func(func(table.Identifier, error) bool) { hang() }
		},
		tables: func(context.Context, table.Identifier) iter.Seq2[catalogs.Entry, error] {
			return func(func(catalogs.Entry, error) bool) { hang() }
		},
	})
	defer close(stuck)
	before := runtime.NumGoroutine()
	silent := func(what string, err error) {
		t.Helper()
		if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "did not answer for 100ms") {
			t.Errorf("%s: %s, %v", what, fault.KindOf(err), err)
		}
	}
	_, err := catalog.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"stuck"}})
	silent("load", err)
	_, err = catalog.LoadNamespace(t.Context(), table.Identifier{"a"})
	silent("load namespace", err)
	_, err = collect(catalog.Namespaces(t.Context(), nil))
	silent("namespaces", err)
	_, err = collect(catalog.Tables(t.Context(), nil))
	silent("tables", err)
	if _, err := catalog.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"good"}}); err != nil {
		t.Errorf("the next call: %v", err)
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := catalog.Load(short, catalogs.LoadRequest{Identifier: table.Identifier{"stuck"}}); !fault.Is(err, fault.Deadline) {
		t.Errorf("a caller less patient than that: %v", err)
	}
	settled(t, before+12) // the catalog's own calls hang on
}

func TestASlowReaderIsNotTakenForASilentCatalog(t *testing.T) {
	catalog := impatient(t, &fake{tables: func(context.Context, table.Identifier) iter.Seq2[catalogs.Entry, error] {
		return func(yield func(catalogs.Entry, error) bool) {
			for range 3000 { // several messages
				if !yield(catalogs.Entry{Identifier: table.Identifier{"t"}, Kind: catalogs.KindTable}, nil) {
					return
				}
			}
		}
	}})
	n := 0
	for _, err := range catalog.Tables(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n%1000 == 0 {
			time.Sleep(150 * time.Millisecond)
		}
	}
	if n != 3000 {
		t.Errorf("%d entries", n)
	}
}
