package plugins_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/hashicorp/go-plugin"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/plugins"
	"github.com/skua-data/skua/storage"
)

// fake is a catalog whose every method is a field.
type fake struct {
	capabilities catalogs.Capabilities
	namespaces   func(ctx context.Context, parent table.Identifier) iter.Seq2[table.Identifier, error]
	properties   func(ctx context.Context, ns table.Identifier) (iceberg.Properties, error)
	tables       func(ctx context.Context, ns table.Identifier) iter.Seq2[catalogs.Entry, error]
	load         func(ctx context.Context, req catalogs.LoadRequest) (*catalogs.Table, error)
	close        func() error
}

func (f *fake) Capabilities() catalogs.Capabilities { return f.capabilities }
func (f *fake) Namespaces(ctx context.Context, parent table.Identifier) iter.Seq2[table.Identifier, error] {
	return f.namespaces(ctx, parent)
}
func (f *fake) LoadNamespace(ctx context.Context, ns table.Identifier) (iceberg.Properties, error) {
	return f.properties(ctx, ns)
}
func (f *fake) Tables(ctx context.Context, ns table.Identifier) iter.Seq2[catalogs.Entry, error] {
	return f.tables(ctx, ns)
}
func (f *fake) Load(ctx context.Context, req catalogs.LoadRequest) (*catalogs.Table, error) {
	return f.load(ctx, req)
}
func (f *fake) Close() error {
	if f.close == nil {
		return nil
	}
	return f.close()
}

// opening is a server that opens f for any type.
func opening(f *fake) *plugins.Server {
	return plugins.NewServer(plugins.ServerConfig{Version: "1.2", Open: func(string) (catalogs.Constructor, error) {
		return func(context.Context, catalogs.Config) (catalogs.Catalog, error) { return f, nil }, nil
	}})
}

// connect gives the client of a server over go-plugin's in-memory connection. stop breaks it.
func connect(t *testing.T, server *plugins.Server) (client *plugins.Client, stop func()) {
	t.Helper()
	connection, end := plugin.TestPluginGRPCConn(t, false, map[string]plugin.Plugin{plugins.Name: &plugins.Plugin{Served: server}})
	t.Cleanup(func() { _ = connection.Close() }) // stops the server too
	dispensed, err := connection.Dispense(plugins.Name)
	if err != nil {
		t.Fatal(err)
	}
	return dispensed.(*plugins.Client), end.Stop
}

// remote gives f as seen through the connection.
func remote(t *testing.T, f *fake, properties iceberg.Properties) *plugins.Catalog {
	t.Helper()
	client, _ := connect(t, opening(f))
	catalog, err := client.Open(t.Context(), "fake", catalogs.Config{Name: "prod", Properties: properties})
	if err != nil {
		t.Fatal(err)
	}
	return catalog
}

// settled fails when there stay more goroutines than before.
func settled(t *testing.T, before int) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// await waits for a channel to close.
func await(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatal("timed out waiting for " + what)
	}
}

func each[E any](list ...E) iter.Seq2[E, error] {
	return func(yield func(E, error) bool) {
		for _, entry := range list {
			if !yield(entry, nil) {
				return
			}
		}
	}
}

func collect[E any](list iter.Seq2[E, error]) ([]E, error) {
	var out []E
	for entry, err := range list {
		if err != nil {
			return out, err
		}
		out = append(out, entry)
	}
	return out, nil
}

var (
	expiry  = time.Date(2031, 2, 3, 4, 5, 6, 7000, time.UTC)
	example = catalogs.Table{
		Identifier: table.Identifier{"a", "b", "t"}, Kind: catalogs.KindView, MetadataLocation: "s3://b/m.json", Metadata: []byte(`{"unknown-field": 1}`),
		Config: iceberg.Properties{"s3.endpoint": "http://x"}, Format: "parquet",
		Locations: storage.Map{{From: "s3://b/deep/", To: "/first/"}, {From: "s3://", To: "/then"}},
		Credentials: []storage.Credential{
			{Prefix: "s3://b/", Properties: map[string]string{"s3.session-token": "tok"}, Expires: expiry},
			{Prefix: "s3://c/", Properties: map[string]string{"k": "v"}},
		},
	}
)

func missing(ns table.Identifier) error {
	return fault.New(fault.NotFound, "The namespace `%s` cannot be found.", strings.Join(ns, ".")).With("SCHEMA_NOT_FOUND", "42704").In(fmt.Sprint(ns)).Change("some.key")
}
