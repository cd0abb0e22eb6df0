package plugins

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	catalogv1 "github.com/skua-data/skua/plugins/proto/skua/catalog/v1"
)

// Client is the server's end of a connection to a plugin whose catalog is not open yet.
type Client struct {
	// Patience is how long a call waits for the plugin's next answer before it fails with fault.Unavailable; zero: a minute. Calls whose caller is
	// less patient end earlier.
	Patience time.Duration

	rpc  catalogv1.CatalogServiceClient
	shut func() error
}

// defaultPatience is long: a catalog may list a slow store. A call without any bound would hold its statement for ever.
const defaultPatience = time.Minute

// Open sends the configuration, secrets included, and gives the catalog. It works once a process. The context bounds opening alone.
func (c *Client) Open(ctx context.Context, typ string, config catalogs.Config) (*Catalog, error) {
	redact := NewRedactor(config.Properties)
	request, err := configToWire(typ, config)
	if err != nil {
		return nil, err
	}
	response, err := c.rpc.Open(ctx, request)
	if err != nil {
		return nil, decodeError(ctx, err, redact)
	}
	patience := c.Patience
	if patience <= 0 {
		patience = defaultPatience
	}
	return &Catalog{
		rpc: c.rpc, shut: c.shut, redact: redact, patience: patience, version: redact.String(response.GetVersion()),
		capabilities: capabilitiesFromWire(response.GetCapabilities()),
	}, nil
}

// Catalog is the server's end of an open catalog. When the plugin's process ended, every call fails with ErrDisconnected in the chain. It does not
// own the connection: whoever launched the process ends both, after Close.
type Catalog struct {
	rpc          catalogv1.CatalogServiceClient
	shut         func() error
	redact       *Redactor
	patience     time.Duration
	capabilities catalogs.Capabilities
	version      string
}

var _ catalogs.Catalog = (*Catalog)(nil)

// Version is the plugin's own, as it told; it may be empty.
func (c *Catalog) Version() string { return c.version }

// Capabilities are those the plugin announced when it was opened.
func (c *Catalog) Capabilities() catalogs.Capabilities { return c.capabilities }

// Namespaces implements catalogs.Catalog. Stopping the iterator ends the call in the plugin too.
func (c *Catalog) Namespaces(ctx context.Context, parent table.Identifier) iter.Seq2[table.Identifier, error] {
	request := &catalogv1.ListNamespacesRequest{Parent: identifierToWire(parent)}
	open := func(ctx context.Context) (receiver[*catalogv1.ListNamespacesResponse], error) {
		return c.rpc.ListNamespaces(ctx, request)
	}
	return func(yield func(table.Identifier, error) bool) {
		listed := listed{what: "list namespaces", under: request.GetParent()}
		listing(ctx, c, open, func(response *catalogv1.ListNamespacesResponse, yield func(table.Identifier, error) bool) bool {
			for _, namespace := range response.GetNamespaces() {
				err := listed.accept(namespace)
				if !yield(identifierFromWire(namespace), err) || err != nil {
					return false
				}
			}
			return true
		})(yield)
	}
}

// LoadNamespace implements catalogs.Catalog.
func (c *Catalog) LoadNamespace(ctx context.Context, namespace table.Identifier) (iceberg.Properties, error) {
	call := c.call(ctx)
	defer call.end()
	response, err := c.rpc.LoadNamespace(call.ctx, &catalogv1.LoadNamespaceRequest{Namespace: identifierToWire(namespace)})
	if err != nil {
		return nil, call.failed(err)
	}
	return response.GetProperties(), nil
}

// Tables implements catalogs.Catalog. Stopping the iterator ends the call in the plugin too.
func (c *Catalog) Tables(ctx context.Context, namespace table.Identifier) iter.Seq2[catalogs.Entry, error] {
	request := &catalogv1.ListTablesRequest{Namespace: identifierToWire(namespace)}
	if names := catalogs.Names(ctx); names != nil {
		request.Names = names.String()
	}
	open := func(ctx context.Context) (receiver[*catalogv1.ListTablesResponse], error) {
		return c.rpc.ListTables(ctx, request)
	}
	return func(yield func(catalogs.Entry, error) bool) {
		listed := listed{what: "list tables", under: request.GetNamespace()}
		listing(ctx, c, open, func(response *catalogv1.ListTablesResponse, yield func(catalogs.Entry, error) bool) bool {
			for _, line := range response.GetEntries() {
				err := listed.accept(line.GetIdentifier())
				var entry catalogs.Entry
				if err == nil {
					entry, err = entryFromWire(line)
				}
				if !yield(entry, err) || err != nil {
					return false
				}
			}
			return true
		})(yield)
	}
}

// Load implements catalogs.Catalog. Metadata arrives in chunks and may be large; it is held whole.
func (c *Catalog) Load(ctx context.Context, req catalogs.LoadRequest) (*catalogs.Table, error) {
	call := c.call(ctx)
	defer call.end() // ends the stream when its answer is refused half way
	stream, err := c.rpc.LoadTable(call.ctx, requestToWire(req))
	if err != nil {
		return nil, call.failed(err)
	}
	first, err := next(call, stream)
	if errors.Is(err, io.EOF) {
		return nil, fault.New(fault.Unavailable, "load table: the plugin's answer ended before the table's head")
	}
	if err != nil {
		return nil, err
	}
	loaded, size, err := headFromWire(first.GetHead())
	if err != nil || size < 0 {
		return loaded, err
	}
	if loaded.Metadata, err = metadata(call, stream, size); err != nil {
		return nil, err
	}
	return loaded, nil
}

// metadata collects size bytes of chunks and nothing more.
func metadata(call *call, stream receiver[*catalogv1.LoadTableResponse], size int64) ([]byte, error) {
	out := make([]byte, 0, min(size, preallocatedMetadata))
	for {
		response, err := next(call, stream)
		if errors.Is(err, io.EOF) && int64(len(out)) == size {
			return out, nil
		}
		if errors.Is(err, io.EOF) {
			return nil, fault.New(fault.Unavailable, "load table: the plugin sent %d of %d bytes of metadata", len(out), size)
		}
		if err != nil {
			return nil, err
		}
		chunk := response.GetMetadata()
		if int64(len(out)+len(chunk)) > size {
			return nil, fault.New(fault.Unavailable, "load table: the plugin sent more metadata than the %d bytes that it announced", size)
		}
		out = append(out, chunk...)
	}
}

// Report implements catalogs.Reporter.
func (c *Catalog) Report(ctx context.Context, table table.Identifier, report []byte) error {
	call := c.call(ctx)
	defer call.end()
	if _, err := c.rpc.ReportScan(call.ctx, &catalogv1.ReportScanRequest{Identifier: identifierToWire(table), Report: report}); err != nil {
		return call.failed(err)
	}
	return nil
}

// Close closes the plugin's catalog; calls that still run fail. The process goes on, without a catalog. A plugin that does not answer is not waited for
// longer than a few seconds.
func (c *Catalog) Close() error { return c.redact.Error(c.shut()) }
