package plugins

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	catalogv1 "github.com/skua-data/skua/plugins/proto/skua/catalog/v1"
)

// Client is the server's end of a connection to a plugin whose catalog is not open yet.
type Client struct {
	rpc  catalogv1.CatalogServiceClient
	shut func() error
}

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
	return &Catalog{
		rpc: c.rpc, shut: c.shut, redact: redact, version: redact.String(response.GetVersion()),
		capabilities: capabilitiesFromWire(response.GetCapabilities()),
	}, nil
}

// Catalog is the server's end of an open catalog. When the plugin's process ended, every call fails with ErrDisconnected in the chain. It does not
// own the connection: whoever launched the process ends both, after Close.
type Catalog struct {
	rpc          catalogv1.CatalogServiceClient
	shut         func() error
	redact       *Redactor
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
	open := func(ctx context.Context) (receiver[*catalogv1.ListNamespacesResponse], error) {
		return c.rpc.ListNamespaces(ctx, &catalogv1.ListNamespacesRequest{Parent: identifierToWire(parent)})
	}
	return listing(ctx, c.redact, open, func(response *catalogv1.ListNamespacesResponse, yield func(table.Identifier, error) bool) bool {
		for _, namespace := range response.GetNamespaces() {
			if len(namespace.GetParts()) == 0 {
				yield(nil, fault.New(fault.Unavailable, "list namespaces: the plugin sent a namespace without a name"))
				return false
			}
			if !yield(identifierFromWire(namespace), nil) {
				return false
			}
		}
		return true
	})
}

// LoadNamespace implements catalogs.Catalog.
func (c *Catalog) LoadNamespace(ctx context.Context, namespace table.Identifier) (iceberg.Properties, error) {
	response, err := c.rpc.LoadNamespace(ctx, &catalogv1.LoadNamespaceRequest{Namespace: identifierToWire(namespace)})
	if err != nil {
		return nil, decodeError(ctx, err, c.redact)
	}
	return response.GetProperties(), nil
}

// Tables implements catalogs.Catalog. Stopping the iterator ends the call in the plugin too.
func (c *Catalog) Tables(ctx context.Context, namespace table.Identifier) iter.Seq2[catalogs.Entry, error] {
	open := func(ctx context.Context) (receiver[*catalogv1.ListTablesResponse], error) {
		return c.rpc.ListTables(ctx, &catalogv1.ListTablesRequest{Namespace: identifierToWire(namespace)})
	}
	return listing(ctx, c.redact, open, func(response *catalogv1.ListTablesResponse, yield func(catalogs.Entry, error) bool) bool {
		for _, line := range response.GetEntries() {
			entry, err := entryFromWire(line)
			if !yield(entry, err) || err != nil {
				return false
			}
		}
		return true
	})
}

// Load implements catalogs.Catalog. Metadata arrives in chunks and may be large; it is held whole.
func (c *Catalog) Load(ctx context.Context, req catalogs.LoadRequest) (*catalogs.Table, error) {
	call, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream when its answer is refused half way
	stream, err := c.rpc.LoadTable(call, requestToWire(req))
	if err != nil {
		return nil, decodeError(ctx, err, c.redact)
	}
	first, err := stream.Recv()
	if errors.Is(err, io.EOF) {
		return nil, fault.New(fault.Unavailable, "load table: the plugin's answer ended before the table's head")
	}
	if err != nil {
		return nil, decodeError(ctx, err, c.redact)
	}
	loaded, size, err := headFromWire(first.GetHead())
	if err != nil || size < 0 {
		return loaded, err
	}
	if loaded.Metadata, err = c.metadata(ctx, stream, size); err != nil {
		return nil, err
	}
	return loaded, nil
}

// metadata collects size bytes of chunks and nothing more.
func (c *Catalog) metadata(ctx context.Context, stream receiver[*catalogv1.LoadTableResponse], size int64) ([]byte, error) {
	out := make([]byte, 0, min(size, preallocatedMetadata))
	for {
		response, err := stream.Recv()
		if errors.Is(err, io.EOF) && int64(len(out)) == size {
			return out, nil
		}
		if errors.Is(err, io.EOF) {
			return nil, fault.New(fault.Unavailable, "load table: the plugin sent %d of %d bytes of metadata", len(out), size)
		}
		if err != nil {
			return nil, decodeError(ctx, err, c.redact)
		}
		chunk := response.GetMetadata()
		if int64(len(out)+len(chunk)) > size {
			return nil, fault.New(fault.Unavailable, "load table: the plugin sent more metadata than the %d bytes that it announced", size)
		}
		out = append(out, chunk...)
	}
}

// Close closes the plugin's catalog; calls that still run fail. The process goes on, without a catalog. A plugin that does not answer is not waited for
// longer than a few seconds.
func (c *Catalog) Close() error { return c.redact.Error(c.shut()) }

// receiver is the reading end of a stream of the plugin's answers.
type receiver[T any] interface{ Recv() (T, error) }

// listing reads a stream of answers to its end, its first error, or until the reader of the iterator stops; the stream is ended then.
func listing[T, E any](ctx context.Context, redact *Redactor, open func(context.Context) (receiver[T], error),
	each func(T, func(E, error) bool) bool) iter.Seq2[E, error] {
	return func(yield func(E, error) bool) {
		call, cancel := context.WithCancel(ctx)
		defer cancel()
		var none E
		stream, err := open(call)
		if err != nil {
			yield(none, decodeError(ctx, err, redact))
			return
		}
		for {
			response, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(none, decodeError(ctx, err, redact))
				return
			}
			if !each(response, yield) {
				return
			}
		}
	}
}
