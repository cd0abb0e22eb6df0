package catalogs

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

// fake is a catalog of one table at a location that tests move.
type fake struct {
	capabilities Capabilities
	spaces       []string

	mu       sync.Mutex
	location string
	kind     Kind
	failure  error
	requests []LoadRequest
	closed   int

	credentials []storage.Credential
}

func (f *fake) Capabilities() Capabilities { return f.capabilities }

func (f *fake) Namespaces(context.Context, table.Identifier) iter.Seq2[table.Identifier, error] {
	return func(yield func(table.Identifier, error) bool) {
		for _, s := range f.spaces {
			if s == "!" {
				yield(nil, fault.New(fault.Unavailable, "gone"))
				return
			}
			if !yield(table.Identifier{s}, nil) {
				return
			}
		}
	}
}

func (f *fake) LoadNamespace(_ context.Context, ns table.Identifier) (iceberg.Properties, error) {
	if len(ns) == 1 && slices.Contains(f.spaces, ns[0]) {
		return iceberg.Properties{"location": "/" + ns[0]}, nil
	}
	return nil, fault.New(fault.NotFound, "Namespace does not exist: %v", ns)
}

func (f *fake) Tables(ctx context.Context, ns table.Identifier) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if _, err := f.LoadNamespace(ctx, ns); err != nil {
			yield(Entry{}, err)
			return
		}
		yield(Entry{Identifier: table.Identifier{ns[0], "t"}}, nil)
	}
}

func (f *fake) Load(_ context.Context, req LoadRequest) (*Table, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, req)
	switch {
	case f.failure != nil:
		return nil, f.failure
	case f.location == "missing":
		return nil, fault.New(fault.NotFound, "Table does not exist: x")
	case f.location == "nil":
		return nil, nil
	case req.Held == f.location && f.location != "":
		return &Table{MetadataLocation: f.location, Kind: f.kind}, nil
	}
	t := &Table{MetadataLocation: f.location, Kind: f.kind, Identifier: req.Identifier, Format: "orc", Credentials: f.credentials}
	if f.location != "" {
		t.Metadata = []byte("{}")
	}
	return t, nil
}

func (f *fake) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed++
	return nil
}

func (f *fake) move(to string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.location = to
}

// held gives the Held of the last load.
func (f *fake) held() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests[len(f.requests)-1].Held
}

func define(t *testing.T, name, class string, more ...string) Definition {
	t.Helper()
	p := iceberg.Properties{"type": "hadoop", "warehouse": "/w"}
	for i := 0; i < len(more); i += 2 {
		p[more[i]] = more[i+1]
	}
	d, _, err := NewDefinition(name, class, p)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func newSet(t *testing.T, open Opener, now func() time.Time, ds ...Definition) *Set {
	t.Helper()
	s, err := NewSet(SetConfig{Definitions: ds, Open: open, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func always(c Catalog) Opener {
	return func(context.Context, Definition, storage.Map) (Catalog, error) { return c, nil }
}

const session = "org.apache.iceberg.spark.SparkSessionCatalog"

func TestSetNames(t *testing.T) {
	s := newSet(t, always(&fake{}), nil, define(t, "prod", plain), define(t, "Dev", plain), define(t, "spark_catalog", session))
	if got := fmt.Sprint(s.Names()); got != "[Dev prod spark_catalog]" {
		t.Errorf("names %s", got)
	}
	for name, found := range map[string]bool{"prod": true, "Prod": false, "dev": false, "Dev": true, "SPARK_Catalog": true, "x": false} {
		if _, ok := s.Definition(name); ok != found {
			t.Errorf("Definition(%s): %v", name, ok)
		}
		_, err := s.Catalog(t.Context(), name)
		if found != (err == nil) || !found && !fault.Is(err, fault.NotFound) {
			t.Errorf("Catalog(%s): %v", name, err)
		}
	}
	_, err := s.Catalog(t.Context(), "pord")
	want := "[CATALOG_NOT_FOUND] The catalog `pord` not found. Consider to set the SQL config \"spark.sql.catalog.pord\" to a catalog plugin." +
		" Did you mean prod? SQLSTATE: 42P08"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	for _, pair := range [][2]string{{"a", "a"}, {"spark_catalog", "Spark_Catalog"}} {
		_, err := NewSet(SetConfig{Open: always(nil), Definitions: []Definition{define(t, pair[0], plain), define(t, pair[1], plain)}})
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%v: %v", pair, err)
		}
	}
	if _, err := NewSet(SetConfig{}); err == nil {
		t.Error("a set without an opener must fail")
	}
}

func TestSetOpensOnce(t *testing.T) {
	var opens atomic.Int32
	begun, goOn := make(chan struct{}), make(chan struct{})
	locations := storage.Map{{From: "a", To: "b"}}
	s, err := NewSet(SetConfig{Definitions: []Definition{define(t, "c", plain)}, Locations: locations,
		Open: func(_ context.Context, d Definition, m storage.Map) (Catalog, error) {
			if opens.Add(1) == 1 {
				close(begun)
			}
			if d.Name != "c" || len(m) != 1 {
				return nil, errors.New("not as configured")
			}
			<-goOn
			return &fake{}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	first, leave := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := s.Catalog(first, "c")
		gone <- err
	}()
	<-begun
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if _, err := s.Catalog(t.Context(), "c"); err != nil {
				t.Error(err)
			}
		})
	}
	for s.slots["c"].waiting() < 9 {
		runtime.Gosched()
	}
	leave() // the caller that began the open leaves; the others still get it
	if err := <-gone; !fault.Is(err, fault.Canceled) {
		t.Errorf("the caller that left: %v", err)
	}
	close(goOn)
	wait.Wait()
	if n := opens.Load(); n != 1 {
		t.Errorf("%d opens", n)
	}
}

// waiting counts the callers of the open in flight.
func (s *slot) waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opening == nil {
		return 0
	}
	return s.opening.waiters
}

func TestAFailedOpenIsTriedAgain(t *testing.T) {
	answers := []func() (Catalog, error){
		func() (Catalog, error) { return nil, fault.New(fault.Unavailable, "down") },
		func() (Catalog, error) { panic("boom") },
		func() (Catalog, error) { return nil, nil },
		func() (Catalog, error) { return &fake{}, nil },
	}
	n := 0
	s := newSet(t, func(context.Context, Definition, storage.Map) (Catalog, error) { n++; return answers[n-1]() }, nil, define(t, "c", plain))
	for i, kind := range []fault.Kind{fault.Unavailable, fault.Internal, fault.Internal} {
		if _, err := s.Catalog(t.Context(), "c"); err == nil || fault.KindOf(err) != kind || !strings.HasPrefix(err.Error(), "open catalog c: ") {
			t.Errorf("open %d: %v", i, err)
		}
	}
	for range 2 {
		if _, err := s.Catalog(t.Context(), "c"); err != nil {
			t.Error(err)
		}
	}
	if n != 4 {
		t.Errorf("%d opens", n)
	}
}

func TestAnOpenThatEverybodyLeftIsUndone(t *testing.T) {
	late := &fake{}
	begun, ended := make(chan struct{}), make(chan struct{})
	first := true
	s := newSet(t, func(ctx context.Context, _ Definition, _ storage.Map) (Catalog, error) {
		if !first {
			return &fake{}, nil
		}
		first = false
		close(begun)
		<-ctx.Done()
		<-ended
		return late, nil
	}, nil, define(t, "c", plain))
	ctx, leave := context.WithCancel(t.Context())
	go func() { <-begun; leave() }()
	if _, err := s.Catalog(ctx, "c"); !fault.Is(err, fault.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Catalog(t.Context(), "c"); err != nil {
		t.Errorf("the next caller: %v", err)
	}
	close(ended)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if late.closed != 1 {
		t.Errorf("the catalog that nobody waited for was closed %d times", late.closed)
	}
}

func TestSetClose(t *testing.T) {
	f := &fake{location: "/1"}
	began := make(chan struct{})
	s := newSet(t, func(ctx context.Context, d Definition, _ storage.Map) (Catalog, error) {
		if d.Name == "slow" {
			close(began)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return f, nil
	}, nil, define(t, "c", plain), define(t, "slow", plain), define(t, "unused", plain))
	c, err := s.Catalog(t.Context(), "c")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil || f.closed != 0 {
		t.Error("the catalog is the set's to close")
	}
	slow := make(chan error)
	go func() {
		_, err := s.Catalog(t.Context(), "slow")
		slow <- err
	}()
	<-began
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := <-slow; !fault.Is(err, fault.Unavailable) {
		t.Errorf("an open during the end: %v", err)
	}
	if f.closed != 1 {
		t.Errorf("closed %d times", f.closed)
	}
	if _, err := s.Load(t.Context(), "c", table.Identifier{"a", "t"}, "", ""); !fault.Is(err, fault.Unavailable) {
		t.Errorf("after the end: %v", err)
	}
}

func TestLoadAsksOldCatalogsForEverything(t *testing.T) {
	f := &fake{location: "/1"}
	now := time.Unix(1000, 0)
	s := newSet(t, always(f), func() time.Time { return now }, define(t, "c", plain))
	for range 2 {
		now = now.Add(time.Hour)
		if _, err := s.Load(t.Context(), "c", table.Identifier{"ns", "t"}, "", ""); err != nil || f.held() != "" {
			t.Errorf("held %q, %v", f.held(), err)
		}
	}
}

func TestLoadChecksTheAnswer(t *testing.T) {
	f := &fake{}
	s := newSet(t, always(f), nil, define(t, "spark_catalog", session))
	for location, kind := range map[string]fault.Kind{"": fault.Internal, "nil": fault.Internal} {
		f.move(location)
		if _, err := s.Load(t.Context(), "spark_catalog", table.Identifier{"ns", "t"}, "", ""); err == nil || fault.KindOf(err) != kind {
			t.Errorf("%q: %v", location, err)
		}
	}
	f.move("/1")
	f.kind = KindFiles
	_, err := s.Load(t.Context(), "SPARK_CATALOG", table.Identifier{"ns", "t"}, "", "")
	if !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), "spark_catalog.ns.t is no Iceberg table: tables of plain files (orc) are not supported") {
		t.Errorf("got %v", err)
	}
	if _, err := s.Load(t.Context(), "nope", table.Identifier{"t"}, "", ""); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v", err)
	}
}

// renaming answers every load with one table.
type renaming struct {
	fake
	answer table.Identifier
}

func (r *renaming) Load(context.Context, LoadRequest) (*Table, error) {
	return &Table{Identifier: r.answer, MetadataLocation: "/1"}, nil
}

func TestACatalogAnswersForTheTableThatWasAskedFor(t *testing.T) {
	for _, c := range []struct {
		answer table.Identifier
		good   bool
	}{{nil, true}, {table.Identifier{"ns", "t"}, true}, {table.Identifier{"NS", "T"}, true}, {table.Identifier{"ns", "u"}, false}, {table.Identifier{"t"}, false},
		{table.Identifier{"ns", "t", "x"}, false}} {
		s := newSet(t, always(&renaming{answer: c.answer}), nil, define(t, "prod", plain))
		got, err := s.Load(t.Context(), "prod", table.Identifier{"ns", "t"}, "", "")
		if c.good != (err == nil) || err != nil && (!fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "prod.ns.t")) {
			t.Errorf("answer %q: %v, %v", c.answer, got, err)
		}
	}
}

func TestSessionCatalogHasDefault(t *testing.T) {
	for _, c := range []struct{ has, want string }{
		{"", "default"}, {"a z", "a default z"}, {"default", "default"}, {"a default z", "a default z"}, {"a", "a default"}, {"x", "default x"}, {"a !", "a error"},
	} {
		f := &fake{spaces: strings.Fields(c.has)}
		s := newSet(t, always(f), nil, define(t, "spark_catalog", session), define(t, "other", plain))
		got, err := s.Catalog(t.Context(), "spark_catalog")
		if err != nil {
			t.Fatal(err)
		}
		if !got.Capabilities().NamespaceDefault {
			t.Error("the capability is missing")
		}
		var names []string
		for ns, err := range got.Namespaces(t.Context(), nil) {
			if err != nil {
				names = append(names, "error")
				continue
			}
			names = append(names, ns[0])
		}
		if strings.Join(names, " ") != c.want {
			t.Errorf("%q: %v", c.has, names)
		}
		for range got.Namespaces(t.Context(), nil) {
			break // must not go on after the caller stopped
		}
		if _, err := got.LoadNamespace(t.Context(), table.Identifier{"default"}); err != nil {
			t.Error(err)
		}
		if _, err := got.LoadNamespace(t.Context(), table.Identifier{"nope"}); !fault.Is(err, fault.NotFound) {
			t.Errorf("got %v", err)
		}
		n := 0
		for _, err := range got.Tables(t.Context(), table.Identifier{"default"}) {
			n++
			if err != nil {
				t.Error(err)
			}
		}
		if made := slices.Contains(f.spaces, "default"); made != (n == 1) {
			t.Errorf("%q: default has %d tables", c.has, n)
		}
		for _, err := range got.Tables(t.Context(), table.Identifier{"nope"}) {
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("got %v", err)
			}
		}
		plainCatalog, err := s.Catalog(t.Context(), "other")
		if err != nil || plainCatalog.Capabilities().NamespaceDefault {
			t.Errorf("a plain catalog has no namespace of its own: %v", err)
		}
	}
}

// TestOpeningIsSaidOnce: an opener that says itself what it was doing is not told to say it twice.
func TestOpeningIsSaidOnce(t *testing.T) {
	for said, want := range map[string]string{"no such file": "open catalog c: no such file", "open catalog c: its plugin ended": "open catalog c: its plugin ended"} {
		s, err := NewSet(SetConfig{Definitions: []Definition{{Name: "c"}}, Open: func(context.Context, Definition, storage.Map) (Catalog, error) {
			return nil, fault.New(fault.Unavailable, "%s", said)
		}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Catalog(t.Context(), "c"); err == nil || err.Error() != want || !fault.Is(err, fault.Unavailable) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
