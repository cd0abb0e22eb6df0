package plugins

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
)

// ServerConfig is what the plugin's end needs.
type ServerConfig struct {
	// Open finds the constructor of a type: a bundled type, or the name that catalog-impl gave.
	Open func(typ string) (catalogs.Constructor, error)
	// Version of the plugin, for the server's log. Empty: unknown.
	Version string
	// Log receives panics, with their stacks. Nil: they are dropped.
	Log *slog.Logger
}

// Server is the plugin's end: one catalog, opened by the first call. It is safe for concurrent use.
type Server struct {
	config ServerConfig

	mu     sync.Mutex
	open   *opened // nil before Open and after Close
	closed bool
}

// opened is the catalog and what keeps its secrets.
type opened struct {
	catalog catalogs.Catalog
	redact  *Redactor
}

// NewServer makes the plugin's end. It owns the catalog that it opens.
func NewServer(config ServerConfig) *Server {
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	return &Server{config: config}
}

// Close closes the catalog, if one is open. Closing again does nothing.
func (s *Server) Close() error {
	s.mu.Lock()
	open := s.open
	s.open, s.closed = nil, true
	s.mu.Unlock()
	if open == nil {
		return nil
	}
	return open.redact.Error(open.catalog.Close())
}

// construct opens the catalog; there is one for the life of a process.
func (s *Server) construct(ctx context.Context, typ string, config catalogs.Config, redact *Redactor) (catalogs.Capabilities, error) {
	constructor, err := s.config.Open(typ)
	if err != nil {
		return catalogs.Capabilities{}, err
	}
	if constructor == nil {
		return catalogs.Capabilities{}, fault.New(fault.Internal, "the plugin has no constructor for catalog type %s", typ)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open != nil || s.closed {
		return catalogs.Capabilities{}, fault.New(fault.Internal, "the plugin's catalog is open already, or closed")
	}
	catalog, err := constructor(ctx, config)
	if err != nil {
		return catalogs.Capabilities{}, err
	}
	if catalog == nil {
		return catalogs.Capabilities{}, fault.New(fault.Internal, "the constructor of catalog type %s returned no catalog", typ)
	}
	capabilities := catalog.Capabilities()
	if _, ok := catalog.(catalogs.Reporter); capabilities.Reports && !ok {
		return catalogs.Capabilities{}, errors.Join(fault.New(fault.Internal, "the catalog announces reports of scans and has no method Report"), catalog.Close())
	}
	if _, ok := catalog.(catalogs.PartitionLister); capabilities.Partitions && !ok {
		return catalogs.Capabilities{}, errors.Join(fault.New(fault.Internal, "the catalog announces partitions and has no method Partitions"), catalog.Close())
	}
	s.open = &opened{catalog: catalog, redact: redact}
	return capabilities, nil
}

// current gives the open catalog.
func (s *Server) current() (*opened, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fault.New(fault.Unavailable, "the catalog is closed")
	}
	if s.open == nil {
		return nil, fault.New(fault.Internal, "the plugin's catalog is not open")
	}
	return s.open, nil
}

// guard runs work so that neither a panic nor a secret leaves it.
func (s *Server) guard(ctx context.Context, what string, redact *Redactor, work func() error) error {
	run := func() (err error) {
		defer fault.Recover(&err, fault.Internal, "%s", what)
		return work()
	}
	err := run()
	var panicked *fault.Panic
	if errors.As(err, &panicked) {
		s.config.Log.ErrorContext(ctx, redact.String(err.Error()), "stack", redact.String(string(panicked.Stack)))
	}
	return encodeError(redact.Error(err))
}
