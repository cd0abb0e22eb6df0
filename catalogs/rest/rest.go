// Package rest reads catalogs that speak Iceberg's REST protocol. A catalog's own configuration is asked for at the first use and laid over the properties;
// tables come with their metadata, and with store credentials where the catalog hands them out. Nothing is written.
package rest

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/httpapi"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

// catalog is one REST service with one warehouse.
type catalog struct {
	name       string
	properties iceberg.Properties
	client     *httpapi.Client // without the service's own configuration
	shared     shared          // the session, once there is one
	ends       context.Context // when the catalog is closed
	end        context.CancelFunc
	closed     atomic.Bool
	tokens     tableTokens // that tables came with
}

var (
	_ catalogs.Catalog  = (*catalog)(nil)
	_ catalogs.Reporter = (*catalog)(nil)
)

// New gives the constructor of rest catalogs. The property uri is required. The service answers with metadata, so no store is opened.
func New([]storage.Kind) catalogs.Constructor {
	return func(ctx context.Context, c catalogs.Config) (catalogs.Catalog, error) {
		if err := refuse(c.Name, c.Properties); err != nil {
			return nil, err
		}
		client, err := newClient(c.Name, c.Properties)
		if err != nil {
			return nil, err
		}
		if _, err := authorizer(c.Name, c.Properties, client); err != nil {
			return nil, err
		}
		out := &catalog{name: c.Name, properties: c.Properties, client: client}
		out.ends, out.end = context.WithCancel(context.WithoutCancel(ctx))
		out.shared = newShared(out.open)
		return out, nil
	}
}

// key is the configuration key of a property.
func key(name, property string) string { return "spark.sql.catalog." + name + "." + property }

// Capabilities says that namespaces nest, that views are listed, that credentials may be handed out, that Held is honoured, and that
// reports of scans are taken.
func (c *catalog) Capabilities() catalogs.Capabilities {
	return catalogs.Capabilities{NestedNamespaces: true, Views: true, VendsCredentials: true, Unchanged: true, Reports: true}
}

// Close ends calls that run and makes later ones fail.
func (c *catalog) Close() error {
	c.closed.Store(true)
	c.end()
	c.client.Close()
	return nil
}

// call runs work on the session, until the catalog is closed.
func (c *catalog) call(ctx context.Context, work func(context.Context, *session) error) error {
	if c.closed.Load() {
		return fault.New(fault.Unavailable, "the catalog is closed")
	}
	bounded, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ends, cancel)()
	err := ctx.Err()
	if err == nil {
		var s *session
		if s, err = c.shared.get(bounded); err == nil {
			err = work(bounded, s)
		}
	}
	if err != nil && c.closed.Load() && ctx.Err() == nil {
		return fault.New(fault.Unavailable, "the catalog was closed during the call")
	}
	return err
}

// LoadNamespace gives a namespace's properties.
func (c *catalog) LoadNamespace(ctx context.Context, namespace table.Identifier) (iceberg.Properties, error) {
	if !sound(namespace) {
		return nil, noNamespace(namespace)
	}
	var said struct {
		Properties iceberg.Properties `json:"properties"`
	}
	err := c.call(ctx, func(ctx context.Context, s *session) error {
		answer, err := s.client.Do(ctx, httpapi.Request{Path: s.namespace(namespace)})
		if err != nil {
			return err
		}
		return answer.Decode(&said)
	})
	if fault.Is(err, fault.NotFound) {
		return nil, noNamespace(namespace)
	}
	if err != nil {
		return nil, fault.Wrap(err, "load namespace %s", strings.Join(namespace, "."))
	}
	if said.Properties == nil {
		said.Properties = iceberg.Properties{}
	}
	return said.Properties, nil
}

// Report posts a report of a scan, where the service takes any. It is tried once: nobody waits for it.
func (c *catalog) Report(ctx context.Context, id table.Identifier, report []byte) error {
	if !sound(id) || len(id) < 2 {
		return noTable(id)
	}
	return c.call(ctx, func(ctx context.Context, s *session) error {
		if !s.offers("POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics") {
			return nil
		}
		client, _ := s.clientOf(c, id)
		_, err := client.Do(ctx, httpapi.Request{Method: http.MethodPost, Path: s.child("tables", id) + "/metrics", Body: report, Type: "application/json"})
		return fault.Wrap(err, "report a scan of %s", strings.Join(id, "."))
	})
}

func noNamespace(namespace table.Identifier) error {
	return fault.New(fault.NotFound, "Namespace does not exist: %s", strings.Join(namespace, "."))
}

func noTable(id table.Identifier) error {
	return fault.New(fault.NotFound, "Table does not exist: %s", strings.Join(id, "."))
}
