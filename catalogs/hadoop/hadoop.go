// Package hadoop reads a warehouse laid out by Iceberg's HadoopCatalog: a table is a folder that holds metadata/*.metadata.json, a namespace is
// any other folder, and the current metadata file is found by version-hint.text and by the files' own names. Nothing is written.
package hadoop

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

// catalog is one warehouse.
type catalog struct {
	name      string
	store     storage.Store
	warehouse storage.Location // in the form of Hadoop's Path
	lenient   bool             // suppress-permission-error: a folder that may not be looked into is no table
	delivered delivered
	known     known
	closed    atomic.Bool
}

var _ catalogs.Catalog = (*catalog)(nil)

// New gives the constructor of hadoop catalogs over the stores given. The property warehouse is required; a scheme that no store serves
// fails the first call.
func New(kinds []storage.Kind) catalogs.Constructor {
	return func(_ context.Context, c catalogs.Config) (catalogs.Catalog, error) {
		warehouse := c.Properties["warehouse"]
		if warehouse == "" {
			return nil, fault.New(fault.Invalid, "Cannot initialize HadoopCatalog because warehousePath must not be null or empty").
				Change("spark.sql.catalog." + c.Name + ".warehouse")
		}
		return &catalog{
			name:      c.Name,
			store:     storage.NewMux(kinds, c.Locations).For(c.Properties, nil),
			warehouse: pathForm(warehouse),
			lenient:   strings.EqualFold(c.Properties["suppress-permission-error"], "true"),
		}, nil
	}
}

// Capabilities says that namespaces nest, that tables may lie at the root, and that Held is honoured.
func (c *catalog) Capabilities() catalogs.Capabilities {
	return catalogs.Capabilities{NestedNamespaces: true, RootTables: true, Unchanged: true}
}

// LoadNamespace gives location, the only property that a folder has. The root has none and counts as missing, as in Iceberg.
func (c *catalog) LoadNamespace(ctx context.Context, namespace table.Identifier) (iceberg.Properties, error) {
	if len(namespace) == 0 {
		return nil, c.noNamespace(namespace)
	}
	folder, err := c.namespace(ctx, namespace)
	if err != nil {
		return nil, err
	}
	for _, err := range c.list(ctx, folder) {
		if fault.Is(err, fault.NotFound) {
			return nil, c.noNamespace(namespace)
		}
		if err != nil {
			return nil, err
		}
		break
	}
	return iceberg.Properties{"location": folder}, nil
}

// Close makes later calls fail, and running ones at their next step.
func (c *catalog) Close() error {
	c.closed.Store(true)
	return nil
}

// check fails when the catalog is closed or the caller has left.
func (c *catalog) check(ctx context.Context) error {
	if c.closed.Load() {
		return fault.New(fault.Unavailable, "the catalog is closed")
	}
	return fault.Wrap(ctx.Err(), "read the warehouse %s", c.warehouse)
}

// noNamespace has Iceberg's text; where the warehouse itself is missing it says so, since an empty name tells nobody anything.
func (c *catalog) noNamespace(namespace table.Identifier) error {
	if len(namespace) == 0 {
		return fault.New(fault.NotFound, "Namespace does not exist: (the warehouse folder %s does not exist)", c.warehouse).Change("spark.sql.catalog." + c.name + ".warehouse")
	}
	return fault.New(fault.NotFound, "Namespace does not exist: %s", strings.Join(namespace, "."))
}

func noTable(id table.Identifier) error {
	return fault.New(fault.NotFound, "Table does not exist: %s", strings.Join(id, "."))
}
