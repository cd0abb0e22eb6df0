package catalogs

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

// asked counts the loads that reached the catalog.
func (f *fake) asked() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.requests)
}

func (f *fake) last() LoadRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests[len(f.requests)-1]
}

func TestLoadsWithinTheIntervalCostNoCall(t *testing.T) {
	for _, unchanged := range []bool{true, false} {
		f := &fake{location: "/1", capabilities: Capabilities{Unchanged: unchanged, References: true}}
		now := time.Unix(1000, 0)
		s := newSet(t, always(f), func() time.Time { return now }, define(t, "c", plain), define(t, "off", plain, "cache-enabled", "no"),
			define(t, "zero", plain, "cache.expiration-interval-ms", "0"), define(t, "ever", plain, "cache.expiration-interval-ms", "-1"),
			define(t, "folding", plain, "cache.case-sensitive", "false"))
		id := table.Identifier{"ns", "t"}
		// load loads, and says where the metadata must be and whether the catalog must have been asked.
		load := func(catalog, reference, principal, at string, asked bool) {
			t.Helper()
			before := f.asked()
			got, err := s.Load(t.Context(), catalog, id, reference, principal)
			if err != nil {
				t.Fatal(err)
			}
			if got.Catalog != catalog || got.MetadataLocation != at || string(got.Metadata) != "{}" || !slices.Equal(got.Identifier, id) || (f.asked() > before) != asked {
				t.Errorf("%+v, asked %v, want %s, %v", got, f.asked() > before, at, asked)
			}
			got.Identifier[0] = "mine"
		}
		load("c", "", "", "/1", true)
		load("c", "", "", "/1", false)
		f.move("/2")
		load("c", "", "", "/1", false)
		load("c", "branch", "", "/2", true)
		load("c", "", "ann", "/2", true)
		load("c", "", "ann", "/2", false)
		now = now.Add(29 * time.Second)
		load("c", "", "", "/1", false)
		now = now.Add(2 * time.Second) // counted from the load, however often it was used
		load("c", "", "", "/2", true)
		if held := f.held(); unchanged != (held == "/1") {
			t.Errorf("held %q", held)
		}
		now = now.Add(31 * time.Second)
		load("c", "", "", "/2", true) // unchanged: the metadata is still here
		s.Refresh("c", id)
		load("c", "", "", "/2", true)
		if !f.last().Fresh || f.held() != "" {
			t.Errorf("after REFRESH: %+v", f.last())
		}
		load("c", "", "", "/2", false)
		load("c", "", "ann", "/2", true)
		s.Refresh("nowhere", id)
		for range 2 {
			load("off", "", "", "/2", true)
			load("zero", "", "", "/2", true)
		}
		load("ever", "", "", "/2", true)
		now = now.Add(10_000 * time.Hour)
		load("ever", "", "", "/2", false)
		f.move("missing")
		s.Refresh("ever", id)
		if _, err := s.Load(t.Context(), "ever", id, "", ""); !fault.Is(err, fault.NotFound) {
			t.Errorf("got %v", err)
		}
		f.move("/2")
		load("ever", "", "", "/2", true)
		for i, name := range []string{"t", "T"} {
			before := f.asked()
			if _, err := s.Load(t.Context(), "folding", table.Identifier{"ns", name}, "", ""); err != nil || (f.asked() > before) != (i == 0) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestMemoryNeverOutlivesCredentials(t *testing.T) {
	now := time.Unix(1000, 0)
	f := &fake{location: "/1", credentials: []storage.Credential{{Expires: now.Add(time.Hour)}, {}}}
	s := newSet(t, always(f), func() time.Time { return now }, define(t, "c", plain, "cache.expiration-interval-ms", "-1"))
	id := table.Identifier{"ns", "t"}
	load := func() *Table {
		t.Helper()
		got, err := s.Load(t.Context(), "c", id, "", "")
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	load()
	now = now.Add(58 * time.Minute)
	first := load()
	if f.asked() != 1 {
		t.Errorf("asked %d times", f.asked())
	}
	now = now.Add(time.Minute + time.Second)
	f.credentials = []storage.Credential{{Expires: now.Add(time.Hour)}}
	if got := load(); f.asked() != 2 || !got.Credentials[0].Expires.After(now) {
		t.Errorf("asked %d times, %+v", f.asked(), got)
	}
	renewed, err := first.Renew()(t.Context())
	if err != nil || f.asked() != 3 || !f.last().Fresh || f.held() != "" || !renewed.Credentials[0].Expires.After(now) {
		t.Errorf("%v, %+v", err, f.last())
	}
}

func TestCacheIsBounded(t *testing.T) {
	c := cache{now: time.Now}
	for i := range maxCached + 5 {
		c.put(cacheKey{table: fmt.Sprint(i)}, &Table{MetadataLocation: "/x"}, 0)
		c.get(cacheKey{table: "0"}, -1) // reading alone does not keep an entry in
	}
	if len(c.entries) != maxCached || c.recent.Len() != maxCached {
		t.Errorf("%d entries", len(c.entries))
	}
	large := make([]byte, maxOneTable)
	for i := range 20 {
		c.put(cacheKey{table: fmt.Sprint("large", i)}, &Table{Metadata: large}, 0)
	}
	c.put(cacheKey{table: "too large"}, &Table{Metadata: make([]byte, maxOneTable+1)}, 0)
	if c.bytes > maxBytes || c.recent.Len() != maxBytes/maxOneTable {
		t.Errorf("%d entries of %d bytes", c.recent.Len(), c.bytes)
	}
	for key := range c.entries {
		c.drop(key)
	}
	if c.bytes != 0 {
		t.Errorf("%d bytes of nothing", c.bytes)
	}
}

func TestALoadThatBeganBeforeRefreshIsNotKept(t *testing.T) {
	c := cache{now: time.Now}
	key := cacheKey{catalog: "c", table: "t"}
	era := c.era()
	c.forget("c", "t")
	c.put(key, &Table{}, era)
	if _, whole, _ := c.get(key, -1); whole {
		t.Error("it is kept")
	}
}

func TestACatalogThatFailsIsLeftAloneForAWhile(t *testing.T) {
	f := &fake{failure: fault.New(fault.Unavailable, "no route")}
	now := time.Unix(1000, 0)
	s := newSet(t, always(f), func() time.Time { return now }, define(t, "c", plain), define(t, "d", plain))
	load := func(catalog string) error {
		_, err := s.Load(t.Context(), catalog, table.Identifier{"ns", "t"}, "", "")
		return err
	}
	for range tripAfter {
		if err := load("c"); !fault.Is(err, fault.Unavailable) || err.Error() != "catalog c: load table ns.t: no route" {
			t.Errorf("%v", err)
		}
	}
	for range 5 { // the rests grow
		now = now.Add(longRest)
		if err := load("c"); err == nil || strings.Contains(err.Error(), "in a row") {
			t.Errorf("%v", err)
		}
	}
	before := f.asked()
	for range 5 {
		if err := load("c"); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "catalog c: load table ns.t: it failed 8 times in a row and is asked again in 10s; last: no route") {
			t.Errorf("%v", err)
		}
	}
	c, err := s.Catalog(t.Context(), "c")
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range c.Namespaces(t.Context(), nil) {
		if !strings.Contains(err.Error(), "catalog c: list namespaces") {
			t.Errorf("%v", err)
		}
	}
	if f.asked() != before {
		t.Error("it was asked while it rests")
	}
	now = now.Add(longRest + time.Second)
	f.failure = nil
	f.move("/1")
	if err := load("c"); err != nil {
		t.Errorf("after the rest: %v", err)
	}
	f.failure = fault.New(fault.NotFound, "Table does not exist: x")
	for range 10 {
		s.Refresh("c", table.Identifier{"ns", "t"})
		if err := load("c"); !fault.Is(err, fault.NotFound) {
			t.Errorf("what is missing is no failure: %v", err)
		}
	}
	if err := load("d"); !fault.Is(err, fault.NotFound) {
		t.Errorf("another catalog: %v", err)
	}
}

func TestOnlyASessionCatalogShowsPlainFiles(t *testing.T) {
	f := &listed{fake: fake{spaces: []string{"ns"}, location: "/1", kind: KindFiles, capabilities: Capabilities{Files: true}}}
	s := newSet(t, always(f), nil, define(t, "c", plain), define(t, "spark_catalog", session))
	for name, want := range map[string]string{"c": "[t]", "spark_catalog": "[f t]"} {
		c, err := s.Catalog(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for e, err := range c.Tables(t.Context(), table.Identifier{"ns"}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e.Identifier[1])
		}
		if fmt.Sprint(got) != want || c.Capabilities().Files != (name == "spark_catalog") {
			t.Errorf("%s: %v, want %s", name, got, want)
		}
	}
	if _, err := s.Load(t.Context(), "c", table.Identifier{"ns", "f"}, "", ""); !fault.Is(err, fault.NotFound) {
		t.Errorf("%v", err)
	}
}

// listed is a fake with plain files f in front of its table.
type listed struct{ fake }

func (l *listed) Tables(ctx context.Context, ns table.Identifier) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if _, err := l.LoadNamespace(ctx, ns); err != nil || yield(Entry{Identifier: table.Identifier{ns[0], "f"}, Kind: KindFiles}, nil) {
			l.fake.Tables(ctx, ns)(yield)
		}
	}
}

func TestCatalogsOpenAtOnceAndNobodyWaits(t *testing.T) {
	all := make(chan string)
	var ds []Definition
	for i := range 10 {
		ds = append(ds, define(t, fmt.Sprint("c", i), plain))
	}
	goOn := make(chan struct{})
	s := newSet(t, func(ctx context.Context, d Definition, _ storage.Map) (Catalog, error) {
		all <- d.Name
		select {
		case <-goOn:
		case <-ctx.Done():
		}
		return &fake{}, nil
	}, nil, ds...)
	s.Open(t.Context())
	for range 10 { // all of them begin before one has ended
		<-all
	}
	close(goOn)
	if _, err := s.Catalog(t.Context(), "c3"); err != nil {
		t.Error(err)
	}
}

func TestOnlyCatalogsWithReferencesAreAskedForOne(t *testing.T) {
	f := &fake{location: "/1"}
	s := newSet(t, always(f), nil, define(t, "c", plain))
	_, err := s.Load(t.Context(), "c", table.Identifier{"ns", "t"}, "dev", "")
	if !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), "skua.catalog-reference.c") || f.asked() != 0 {
		t.Errorf("%v", err)
	}
}
