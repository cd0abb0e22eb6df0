package plugins_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/plugins"
	"github.com/skua-data/skua/storage"
)

func TestEverythingCrosses(t *testing.T) {
	var opened catalogs.Config
	var typ string
	var asked catalogs.LoadRequest
	closed := make(chan struct{})
	f := &fake{
		capabilities: catalogs.Capabilities{NestedNamespaces: true, Views: true, Unchanged: true},
		namespaces: func(_ context.Context, parent table.Identifier) iter.Seq2[table.Identifier, error] {
			if parent == nil {
				return each(table.Identifier{"a"}, table.Identifier{"b\xff"})
			}
			return each(append(parent, "x"), append(parent, "y"))
		},
		properties: func(_ context.Context, ns table.Identifier) (iceberg.Properties, error) {
			return iceberg.Properties{"location": ns[0]}, nil
		},
		tables: func(_ context.Context, ns table.Identifier) iter.Seq2[catalogs.Entry, error] {
			return each(catalogs.Entry{Identifier: append(ns, "t")}, catalogs.Entry{Identifier: append(ns, "v"), Kind: catalogs.KindView},
				catalogs.Entry{Identifier: append(ns, "f"), Kind: catalogs.KindFiles})
		},
		load: func(_ context.Context, req catalogs.LoadRequest) (*catalogs.Table, error) {
			asked = req
			return &example, nil
		},
		close: func() error { close(closed); return nil },
	}
	server := plugins.NewServer(plugins.ServerConfig{Version: "1.2", Open: func(name string) (catalogs.Constructor, error) {
		typ = name
		return func(_ context.Context, config catalogs.Config) (catalogs.Catalog, error) {
			opened = config
			return f, nil
		}, nil
	}})
	client, _ := connect(t, server)
	config := catalogs.Config{Name: "prod", Properties: iceberg.Properties{"warehouse": "/w"}, Locations: storage.Map{{From: "file:/a", To: "/b"}, {From: "c", To: "d"}}}
	catalog, err := client.Open(t.Context(), "hadoop", config)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "type", typ, "hadoop")
	same(t, "config", opened, config)
	same(t, "capabilities", catalog.Capabilities(), f.capabilities)
	same(t, "version", catalog.Version(), "1.2")

	roots, err := collect(catalog.Namespaces(t.Context(), nil))
	same(t, "roots", roots, []table.Identifier{{"a"}, {"b\uFFFD"}}, err)
	children, err := collect(catalog.Namespaces(t.Context(), table.Identifier{"a", "b.c"}))
	same(t, "children", children, []table.Identifier{{"a", "b.c", "x"}, {"a", "b.c", "y"}}, err)
	properties, err := catalog.LoadNamespace(t.Context(), table.Identifier{"a"})
	same(t, "properties", properties, iceberg.Properties{"location": "a"}, err)
	entries, err := collect(catalog.Tables(t.Context(), table.Identifier{"a"}))
	same(t, "entries", entries, []catalogs.Entry{{Identifier: table.Identifier{"a", "t"}}, {Identifier: table.Identifier{"a", "v"}, Kind: catalogs.KindView},
		{Identifier: table.Identifier{"a", "f"}, Kind: catalogs.KindFiles}}, err)

	request := catalogs.LoadRequest{Identifier: table.Identifier{"a", "b", "t"}, Held: "h", Reference: "r", Principal: "p"}
	loaded, err := catalog.Load(t.Context(), request)
	same(t, "table", loaded, &example, err)
	same(t, "request", asked, request)

	if err := catalog.Close(); err != nil {
		t.Fatal(err)
	}
	await(t, "the catalog to close", closed)
	if _, err := catalog.LoadNamespace(t.Context(), nil); err == nil {
		t.Error("a call after Close must fail")
	}
}

func same(t *testing.T, what string, got, want any, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %#v, want %#v", what, got, want)
	}
}

func TestMetadataOfAnySizeCrosses(t *testing.T) {
	before := runtime.NumGoroutine()
	big := bytes.Repeat([]byte("0123456789abcde\n"), 4<<20) // 64 MiB
	t.Run("sizes", func(t *testing.T) {
		var metadata []byte
		catalog := remote(t, &fake{load: func(context.Context, catalogs.LoadRequest) (*catalogs.Table, error) {
			return &catalogs.Table{MetadataLocation: "m", Metadata: metadata}, nil
		}}, nil)
		for _, metadata = range [][]byte{nil, {}, big[:1], big[:1<<20-1], big[:1<<20], big[:1<<20+1], big} {
			loaded, err := catalog.Load(t.Context(), catalogs.LoadRequest{})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(loaded.Metadata, metadata) || (loaded.Metadata == nil) != (metadata == nil) {
				t.Errorf("got %d bytes (nil: %t), want %d (nil: %t)", len(loaded.Metadata), loaded.Metadata == nil, len(metadata), metadata == nil)
			}
		}
	})
	settled(t, before)
}

func TestLongListingsCrossWholeAndInOrder(t *testing.T) {
	const n = 1234
	catalog := remote(t, &fake{tables: func(context.Context, table.Identifier) iter.Seq2[catalogs.Entry, error] {
		return func(yield func(catalogs.Entry, error) bool) {
			for i := range n {
				if !yield(catalogs.Entry{Identifier: table.Identifier{"a", fmt.Sprintf("t%04d", i)}}, nil) {
					return
				}
			}
			yield(catalogs.Entry{}, missing(table.Identifier{"late"}))
		}
	}}, nil)
	entries, err := collect(catalog.Tables(t.Context(), table.Identifier{"a"}))
	if len(entries) != n || entries[n-1].Identifier[1] != "t1233" || !fault.Is(err, fault.NotFound) {
		t.Errorf("got %d entries and %v", len(entries), err)
	}
}

// TestTenThousandTablesStream: the first entries are there before the catalog has made the last.
func TestTenThousandTablesStream(t *testing.T) {
	const n = 10_000
	seen := make(chan struct{})
	catalog := remote(t, &fake{tables: func(ctx context.Context, _ table.Identifier) iter.Seq2[catalogs.Entry, error] {
		return func(yield func(catalogs.Entry, error) bool) {
			for i := range n {
				if i == n/2 {
					select {
					case <-seen:
					case <-ctx.Done():
						return
					}
				}
				if !yield(catalogs.Entry{Identifier: table.Identifier{"a", fmt.Sprintf("t%05d", i)}}, nil) {
					return
				}
			}
		}
	}}, nil)
	got := 0
	for e, err := range catalog.Tables(t.Context(), table.Identifier{"a"}) {
		if want := fmt.Sprintf("t%05d", got); err != nil || e.Identifier[1] != want {
			t.Fatalf("%v, %v, want %s", e, err, want)
		}
		if got++; got == 1 {
			close(seen)
		}
	}
	if got != n {
		t.Errorf("%d entries", got)
	}
}

func TestErrorsKeepWhatTheySay(t *testing.T) {
	for _, c := range []struct {
		name string
		give error
		want fault.Error
	}{
		{"all fields", missing(table.Identifier{"x"}), fault.Error{Kind: fault.NotFound, Message: "The namespace `x` cannot be found.", Condition: "SCHEMA_NOT_FOUND",
			SQLState: "42704", Object: "[x]", Setting: "some.key"}},
		{"foreign", errors.New("disk on fire"), fault.Error{Kind: fault.Internal, Message: "disk on fire"}},
		{"wrapped", fmt.Errorf("list: %w", fault.New(fault.Denied, "no")), fault.Error{Kind: fault.Denied, Message: "list: no"}},
		{"corrupt", fault.New(fault.Corrupt, "bad json").In("m.json"), fault.Error{Kind: fault.Corrupt, Message: "bad json", Object: "m.json"}},
		{"unsupported", fault.New(fault.Unsupported, "views are not supported"), fault.Error{Kind: fault.Unsupported, Message: "views are not supported"}},
		{"unavailable", fault.New(fault.Unavailable, "refused"), fault.Error{Kind: fault.Unavailable, Message: "refused"}},
		{"a deadline of the catalog's own", context.DeadlineExceeded, fault.Error{Kind: fault.Unavailable, Message: "context deadline exceeded"}},
		{"bytes that are no text", errors.New("a\xffb"), fault.Error{Kind: fault.Internal, Message: "a\uFFFDb"}},
		{"too long", errors.New(strings.Repeat("x", 1<<20)), fault.Error{Kind: fault.Internal, Message: strings.Repeat("x", 16<<10) + "…"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			catalog := remote(t, &fake{
				properties: func(context.Context, table.Identifier) (iceberg.Properties, error) { return nil, c.give },
				load:       func(context.Context, catalogs.LoadRequest) (*catalogs.Table, error) { return nil, c.give },
				namespaces: func(context.Context, table.Identifier) iter.Seq2[table.Identifier, error] {
					return func(yield func(table.Identifier, error) bool) { yield(nil, c.give) }
				},
			}, nil)
			_, ofNamespace := catalog.LoadNamespace(t.Context(), nil)
			_, ofTable := catalog.Load(t.Context(), catalogs.LoadRequest{})
			_, ofListing := collect(catalog.Namespaces(t.Context(), nil))
			for _, err := range []error{ofNamespace, ofTable, ofListing} {
				var got *fault.Error
				if !errors.As(err, &got) {
					t.Fatalf("got %v", err)
				}
				if *got != c.want {
					t.Errorf("got %+v, want %+v", *got, c.want)
				}
			}
		})
	}
}

func TestEveryKindCrosses(t *testing.T) {
	for kind := fault.Internal; kind < fault.Canceled; kind++ {
		catalog := remote(t, &fake{properties: func(context.Context, table.Identifier) (iceberg.Properties, error) { return nil, fault.New(kind, "x") }}, nil)
		if _, err := catalog.LoadNamespace(t.Context(), nil); fault.KindOf(err) != kind {
			t.Errorf("%s arrives as %s", kind, fault.KindOf(err))
		}
	}
}

func TestBrokenCatalogsFailTheirCallOnly(t *testing.T) {
	var log bytes.Buffer
	f := &fake{
		properties: func(context.Context, table.Identifier) (iceberg.Properties, error) { panic("boom hunter22") },
		load:       func(context.Context, catalogs.LoadRequest) (*catalogs.Table, error) { return nil, nil },
		tables: func(context.Context, table.Identifier) iter.Seq2[catalogs.Entry, error] {
			return func(func(catalogs.Entry, error) bool) { panic("boom") }
		},
		namespaces: func(context.Context, table.Identifier) iter.Seq2[table.Identifier, error] {
			return each(table.Identifier{"a"})
		},
	}
	server := plugins.NewServer(plugins.ServerConfig{Log: slog.New(slog.NewTextHandler(&log, nil)), Open: func(string) (catalogs.Constructor, error) {
		return func(context.Context, catalogs.Config) (catalogs.Catalog, error) { return f, nil }, nil
	}})
	client, _ := connect(t, server)
	catalog, err := client.Open(t.Context(), "x", catalogs.Config{Properties: iceberg.Properties{"password": "hunter22"}})
	if err != nil {
		t.Fatal(err)
	}
	_, panicked := catalog.LoadNamespace(t.Context(), nil)
	_, inListing := collect(catalog.Tables(t.Context(), nil))
	_, nothing := catalog.Load(t.Context(), catalogs.LoadRequest{})
	for name, err := range map[string]error{"panic": panicked, "panic in a listing": inListing, "no table": nothing} {
		if !fault.Is(err, fault.Internal) || strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if !strings.Contains(panicked.Error(), "panic: boom [redacted]") {
		t.Errorf("got %v", panicked)
	}
	if !strings.Contains(log.String(), "plugin_test.go") || strings.Contains(log.String(), "hunter22") {
		t.Errorf("the log must hold the stack and no secret:\n%s", &log)
	}
	if names, err := collect(catalog.Namespaces(t.Context(), nil)); err != nil || len(names) != 1 {
		t.Errorf("the next call must work: %v, %v", names, err)
	}
}

func TestOpenFailures(t *testing.T) {
	fails := func(err error) func(string) (catalogs.Constructor, error) {
		return func(string) (catalogs.Constructor, error) {
			return func(context.Context, catalogs.Config) (catalogs.Catalog, error) { return nil, err }, nil
		}
	}
	for _, c := range []struct {
		name       string
		open       func(string) (catalogs.Constructor, error)
		properties iceberg.Properties
		kind       fault.Kind
		want       string
	}{
		{"unknown type", func(typ string) (catalogs.Constructor, error) {
			return nil, fault.New(fault.Unsupported, "Unknown catalog type: %s", typ)
		}, nil, fault.Unsupported, "Unknown catalog type: x"},
		{"constructor", fails(fault.New(fault.Invalid, "bad uri jdbc://u:pw123@h?password=pw123")), iceberg.Properties{"jdbc.password": "pw123"}, fault.Invalid,
			"bad uri jdbc://[redacted]@h?password=[redacted]"},
		{"no constructor", func(string) (catalogs.Constructor, error) { return nil, nil }, nil, fault.Internal, "no constructor"},
		{"no catalog", fails(nil), nil, fault.Internal, "returned no catalog"},
		{"property that is no text", fails(nil), iceberg.Properties{"k": "\xff"}, fault.Invalid, `property "k"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, _ := connect(t, plugins.NewServer(plugins.ServerConfig{Open: c.open}))
			_, err := client.Open(t.Context(), "x", catalogs.Config{Name: "c", Properties: c.properties})
			if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "pw123") {
				t.Errorf("got %v", err)
			}
		})
	}
	client, _ := connect(t, opening(&fake{}))
	if _, err := client.Open(t.Context(), "x", catalogs.Config{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Open(t.Context(), "x", catalogs.Config{}); err == nil {
		t.Error("a process serves one catalog")
	}
}

func TestContextsReachThePlugin(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("calls", func(t *testing.T) {
		entered, left := make(chan struct{}, 8), make(chan error, 8)
		wait := func(ctx context.Context) error {
			entered <- struct{}{}
			<-ctx.Done()
			left <- ctx.Err()
			return ctx.Err()
		}
		catalog := remote(t, &fake{
			properties: func(ctx context.Context, _ table.Identifier) (iceberg.Properties, error) { return nil, wait(ctx) },
			load:       func(ctx context.Context, _ catalogs.LoadRequest) (*catalogs.Table, error) { return nil, wait(ctx) },
			tables: func(ctx context.Context, _ table.Identifier) iter.Seq2[catalogs.Entry, error] {
				return func(yield func(catalogs.Entry, error) bool) { yield(catalogs.Entry{}, wait(ctx)) }
			},
		}, nil)
		for name, call := range map[string]func(context.Context) error{
			"load":      func(ctx context.Context) error { _, err := catalog.Load(ctx, catalogs.LoadRequest{}); return err },
			"namespace": func(ctx context.Context) error { _, err := catalog.LoadNamespace(ctx, nil); return err },
			"tables":    func(ctx context.Context) error { _, err := collect(catalog.Tables(ctx, nil)); return err },
		} {
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-entered; cancel() }()
			if err := call(ctx); !fault.Is(err, fault.Canceled) || !errors.Is(err, context.Canceled) {
				t.Errorf("%s: a cancelled call gives %v", name, err)
			}
			<-left
			ctx, cancel = context.WithTimeout(t.Context(), 30*time.Millisecond)
			if err := call(ctx); !fault.Is(err, fault.Deadline) {
				t.Errorf("%s: a late call gives %v", name, err)
			}
			cancel()
			<-entered
			<-left
		}
	})
	settled(t, before)
}

func TestStoppedListingsStopInThePlugin(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("listings", func(t *testing.T) {
		stopped := make(chan struct{}, 2)
		forever := func(ctx context.Context, give func() bool) {
			for ctx.Err() == nil && give() {
			}
			stopped <- struct{}{}
		}
		catalog := remote(t, &fake{
			tables: func(ctx context.Context, _ table.Identifier) iter.Seq2[catalogs.Entry, error] {
				return func(yield func(catalogs.Entry, error) bool) {
					forever(ctx, func() bool { return yield(catalogs.Entry{Identifier: table.Identifier{"t"}}, nil) })
				}
			},
			namespaces: func(ctx context.Context, _ table.Identifier) iter.Seq2[table.Identifier, error] {
				return func(yield func(table.Identifier, error) bool) {
					forever(ctx, func() bool { return yield(table.Identifier{"n"}, nil) })
				}
			},
		}, nil)
		seen := 0
		for _, err := range catalog.Tables(t.Context(), nil) {
			if seen++; err != nil || seen == 150 {
				break
			}
		}
		for _, err := range catalog.Namespaces(t.Context(), nil) {
			if seen++; err != nil || seen == 200 {
				break
			}
		}
		for range 2 {
			select {
			case <-stopped:
			case <-time.After(5 * time.Second):
				t.Fatal("the plugin goes on listing")
			}
		}
		if seen != 200 {
			t.Errorf("saw %d entries", seen)
		}
	})
	settled(t, before)
}

func TestABrokenConnectionIsTold(t *testing.T) {
	entered := make(chan struct{})
	client, stop := connect(t, opening(&fake{load: func(ctx context.Context, _ catalogs.LoadRequest) (*catalogs.Table, error) {
		close(entered)
		<-ctx.Done()
		return nil, ctx.Err()
	}}))
	catalog, err := client.Open(t.Context(), "x", catalogs.Config{})
	if err != nil {
		t.Fatal(err)
	}
	stopped := make(chan struct{})
	go func() { <-entered; stop(); close(stopped) }()
	defer func() { <-stopped }()
	for range 2 {
		if _, err := catalog.Load(t.Context(), catalogs.LoadRequest{}); !errors.Is(err, plugins.ErrDisconnected) || !fault.Is(err, fault.Unavailable) {
			t.Fatalf("got %v", err)
		}
	}
}
