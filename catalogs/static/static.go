// Package static reads a catalog that is one JSON file: table names with their metadata locations, and for tables whose files moved the
// prefixes under which their paths lie now. It serves tables that are pinned to a state, mirrored or handed over. Nothing is written; the file is looked at
// at every call and read again when it changed.
package static

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

// maxFile bounds the catalog's file, in bytes.
const maxFile = 64 << 20

// catalog is one file.
type catalog struct {
	name   string
	store  storage.Store
	at     storage.Location
	closed atomic.Bool

	mu      sync.Mutex
	key     string // of the file that content was read from; empty: none yet
	content *content
}

var _ catalogs.Catalog = (*catalog)(nil)

// New gives the constructor of static catalogs, whose file may lie in any of the stores given. The property uri names the file.
func New(kinds []storage.Kind) catalogs.Constructor {
	return func(_ context.Context, c catalogs.Config) (catalogs.Catalog, error) {
		at := c.Properties["uri"]
		if at == "" {
			return nil, fault.New(fault.Invalid, "the catalog type static needs the location of its JSON file").Change("spark.sql.catalog." + c.Name + ".uri")
		}
		return &catalog{name: c.Name, at: at, store: storage.NewMux(kinds, c.Locations).For(c.Properties, nil)}, nil
	}
}

// Capabilities says that namespaces nest, and that tables may lie at the root.
func (c *catalog) Capabilities() catalogs.Capabilities {
	return catalogs.Capabilities{NestedNamespaces: true, RootTables: true}
}

// Close makes later calls fail.
func (c *catalog) Close() error {
	c.closed.Store(true)
	return nil
}

// current gives what the file says now. A file that became unreadable or wrong is an error: what it said before may no longer hold.
func (c *catalog) current(ctx context.Context) (*content, error) {
	if c.closed.Load() {
		return nil, fault.New(fault.Unavailable, "the catalog is closed")
	}
	if err := ctx.Err(); err != nil {
		return nil, fault.Wrap(err, "read the catalog file %s", c.at)
	}
	file, err := c.store.Open(ctx, c.at, -1)
	if err != nil {
		return nil, c.unreadable(err)
	}
	key := file.Key()
	if err := file.Close(); err != nil {
		return nil, c.unreadable(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.key == key && c.content != nil {
		return c.content, nil
	}
	data, err := c.store.ReadAll(ctx, c.at, maxFile)
	if err != nil {
		return nil, c.unreadable(err)
	}
	read, err := parse(data, c.name, c.at)
	if err != nil {
		return nil, fault.New(fault.Corrupt, "the catalog file %s: %w", c.at, err).In(c.at)
	}
	c.key, c.content = key, read
	return read, nil
}

// unreadable says that it is the catalog that is not there, not a table of it.
func (c *catalog) unreadable(err error) error {
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.Unavailable, "the catalog file does not exist: %v", err).Change("spark.sql.catalog." + c.name + ".uri")
	}
	return fault.Wrap(err, "read the catalog file %s", c.at)
}
