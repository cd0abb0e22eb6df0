package plugins

import (
	"context"
	"regexp"

	"google.golang.org/grpc"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	catalogv1 "github.com/skua-data/skua/plugins/proto/skua/catalog/v1"
)

const (
	chunkBytes  = 1 << 20 // of metadata in a message
	listingSize = 100     // entries in a message of a listing
)

// service is the wire form of a Server.
type service struct {
	catalogv1.UnimplementedCatalogServiceServer
	server *Server
}

var _ catalogv1.CatalogServiceServer = (*service)(nil)

// call runs work on the open catalog.
func (s *service) call(ctx context.Context, what string, work func(catalogs.Catalog) error) error {
	open, err := s.server.current()
	if err != nil {
		return encodeError(err)
	}
	return s.server.guard(ctx, what, open.redact, func() error { return work(open.catalog) })
}

// Open implements catalogv1.CatalogServiceServer.
func (s *service) Open(ctx context.Context, req *catalogv1.OpenRequest) (*catalogv1.OpenResponse, error) {
	response := &catalogv1.OpenResponse{Version: s.server.config.Version}
	redact := NewRedactor(req.GetProperties())
	err := s.server.guard(ctx, "open catalog", redact, func() error {
		capabilities, err := s.server.construct(ctx, req.GetType(), configFromWire(req), redact)
		response.Capabilities = capabilitiesToWire(capabilities)
		return err
	})
	if err != nil {
		return nil, err
	}
	return response, nil
}

// ListNamespaces implements catalogv1.CatalogServiceServer.
func (s *service) ListNamespaces(req *catalogv1.ListNamespacesRequest, stream grpc.ServerStreamingServer[catalogv1.ListNamespacesResponse]) error {
	return s.call(stream.Context(), "list namespaces", func(catalog catalogs.Catalog) error {
		batch := &catalogv1.ListNamespacesResponse{}
		send := func() error {
			if len(batch.Namespaces) == 0 {
				return nil
			}
			full := batch
			batch = &catalogv1.ListNamespacesResponse{}
			return stream.Send(full)
		}
		for namespace, err := range catalog.Namespaces(stream.Context(), identifierFromWire(req.GetParent())) {
			if err != nil {
				return firstError(send(), err)
			}
			batch.Namespaces = append(batch.Namespaces, identifierToWire(namespace))
			if len(batch.Namespaces) >= listingSize {
				if err := send(); err != nil {
					return err
				}
			}
		}
		return send()
	})
}

// LoadNamespace implements catalogv1.CatalogServiceServer.
func (s *service) LoadNamespace(ctx context.Context, req *catalogv1.LoadNamespaceRequest) (*catalogv1.LoadNamespaceResponse, error) {
	var response *catalogv1.LoadNamespaceResponse
	err := s.call(ctx, "load namespace", func(catalog catalogs.Catalog) error {
		properties, err := catalog.LoadNamespace(ctx, identifierFromWire(req.GetNamespace()))
		response = &catalogv1.LoadNamespaceResponse{Properties: propertiesToWire(properties)}
		return err
	})
	if err != nil {
		return nil, err
	}
	return response, nil
}

// ListTables implements catalogv1.CatalogServiceServer.
func (s *service) ListTables(req *catalogv1.ListTablesRequest, stream grpc.ServerStreamingServer[catalogv1.ListTablesResponse]) error {
	return s.call(stream.Context(), "list tables", func(catalog catalogs.Catalog) error {
		batch := &catalogv1.ListTablesResponse{}
		send := func() error {
			if len(batch.Entries) == 0 {
				return nil
			}
			full := batch
			batch = &catalogv1.ListTablesResponse{}
			return stream.Send(full)
		}
		names := namesFromWire(req.GetNames())
		for entry, err := range catalog.Tables(catalogs.WithNames(stream.Context(), names), identifierFromWire(req.GetNamespace())) {
			if err != nil {
				return firstError(send(), err)
			}
			if names != nil && len(entry.Identifier) > 0 && !names.MatchString(entry.Identifier[len(entry.Identifier)-1]) {
				continue
			}
			batch.Entries = append(batch.Entries, &catalogv1.TableEntry{Identifier: identifierToWire(entry.Identifier), Kind: kindToWire(entry.Kind)})
			if len(batch.Entries) >= listingSize {
				if err := send(); err != nil {
					return err
				}
			}
		}
		return send()
	})
}

// maxNames bounds the expression of names that is heeded, in bytes.
const maxNames = 1 << 20

// namesFromWire gives the names that a listing is for; nil, which wants all, also where the expression cannot be read.
func namesFromWire(text string) *regexp.Regexp {
	if text == "" || len(text) > maxNames {
		return nil
	}
	names, err := regexp.Compile(text)
	if err != nil {
		return nil
	}
	return names
}

// LoadTable implements catalogv1.CatalogServiceServer.
func (s *service) LoadTable(req *catalogv1.LoadTableRequest, stream grpc.ServerStreamingServer[catalogv1.LoadTableResponse]) error {
	return s.call(stream.Context(), "load table", func(catalog catalogs.Catalog) error {
		loaded, err := catalog.Load(stream.Context(), requestFromWire(req))
		if err != nil {
			return err
		}
		if loaded == nil {
			return fault.New(fault.Internal, "load table: the catalog returned no table")
		}
		if err := stream.Send(&catalogv1.LoadTableResponse{Part: &catalogv1.LoadTableResponse_Head{Head: headToWire(loaded)}}); err != nil {
			return err
		}
		for rest := loaded.Metadata; len(rest) > 0; {
			n := min(len(rest), chunkBytes)
			if err := stream.Send(&catalogv1.LoadTableResponse{Part: &catalogv1.LoadTableResponse_Metadata{Metadata: rest[:n]}}); err != nil {
				return err
			}
			rest = rest[n:]
		}
		return nil
	})
}

// ReportScan implements catalogv1.CatalogServiceServer.
func (s *service) ReportScan(ctx context.Context, req *catalogv1.ReportScanRequest) (*catalogv1.ReportScanResponse, error) {
	err := s.call(ctx, "report a scan", func(catalog catalogs.Catalog) error {
		reporter, ok := catalog.(catalogs.Reporter)
		if !ok {
			return fault.New(fault.Unsupported, "the catalog takes no reports of scans")
		}
		return reporter.Report(ctx, identifierFromWire(req.GetIdentifier()), req.GetReport())
	})
	if err != nil {
		return nil, err
	}
	return &catalogv1.ReportScanResponse{}, nil
}

// Close implements catalogv1.CatalogServiceServer.
func (s *service) Close(ctx context.Context, _ *catalogv1.CloseRequest) (*catalogv1.CloseResponse, error) {
	if err := s.server.guard(ctx, "close catalog", NewRedactor(nil), s.server.Close); err != nil {
		return nil, err
	}
	return &catalogv1.CloseResponse{}, nil
}

// firstError keeps the error that happened first.
func firstError(first, second error) error {
	if first != nil {
		return first
	}
	return second
}
