// Package jdbc reads catalogs that Iceberg's JdbcCatalog keeps in a database: one table of tables and views, one of namespace properties, in
// the layout V0 (no iceberg_type) or V1. PostgreSQL, MySQL, MariaDB and SQLite are known, named by JDBC URLs and with the settings of their JDBC drivers. Databases
// are asked read-only and nothing in them is ever made or changed; beside a database with a write-ahead log, SQLite itself keeps its -wal and -shm files, which
// readers share with writers.
package jdbc

import (
	"context"
	"strconv"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

// catalog is the rows of one catalog_name in one database.
type catalog struct {
	name      string // the catalog_name of its rows
	warehouse string // may be empty
	database  *database
}

var _ catalogs.Catalog = (*catalog)(nil)

// New gives the constructor of jdbc catalogs. The property uri is required, the catalog's own name selects its rows; warehouse says where
// namespaces without a location lie. The catalog answers with metadata locations only, so it opens no store.
func New([]storage.Kind) catalogs.Constructor {
	return func(_ context.Context, c catalogs.Config) (catalogs.Catalog, error) {
		key := "spark.sql.catalog." + c.Name + "."
		uri := c.Properties["uri"]
		if uri == "" {
			return nil, fault.New(fault.Invalid, "JDBC connection URI is required").Change(key + "uri")
		}
		database, err := openDatabase(c.Properties)
		if err != nil {
			return nil, setting(err, key+"uri")
		}
		clients := 2 // Iceberg's default
		if text, ok := c.Properties["clients"]; ok {
			if clients, err = strconv.Atoi(text); err != nil || clients < 1 {
				return nil, fault.New(fault.Invalid, "clients must be a number above 0: %q", text).Change(key + "clients")
			}
		}
		database.pool.SetMaxOpenConns(clients)
		return &catalog{name: c.Name, warehouse: strings.TrimRight(c.Properties["warehouse"], "/"), database: database}, nil
	}
}

func setting(err error, key string) error {
	if e, ok := err.(*fault.Error); ok {
		return e.Change(key)
	}
	return err
}

// Capabilities says that namespaces nest and that views are listed.
func (c *catalog) Capabilities() catalogs.Capabilities {
	return catalogs.Capabilities{NestedNamespaces: true, Views: true}
}

// LoadNamespace gives a namespace's stored properties, and the location that Iceberg would give it where none is stored. A namespace that only
// tables or deeper namespaces imply exists too.
func (c *catalog) LoadNamespace(ctx context.Context, namespace table.Identifier) (iceberg.Properties, error) {
	all, err := c.database.namespaces(ctx, c.name)
	if err != nil {
		return nil, err
	}
	if !exists(all, namespace) {
		return nil, noNamespace(namespace)
	}
	properties, err := c.database.properties(ctx, c.name, encode(namespace))
	if err != nil {
		return nil, err
	}
	delete(properties, "exists") // Iceberg's mark of a namespace without properties
	if _, ok := properties["location"]; !ok && c.warehouse != "" {
		properties["location"] = c.warehouse + "/" + strings.Join(namespace, "/")
	}
	return properties, nil
}

// Load gives the metadata location of a table or view; the server reads it.
func (c *catalog) Load(ctx context.Context, req catalogs.LoadRequest) (*catalogs.Table, error) {
	if req.Reference != "" {
		return nil, fault.New(fault.Unsupported, "references of the whole catalog (%q) are not supported by the catalog type jdbc", req.Reference)
	}
	name := strings.Join(req.Identifier, ".")
	if len(req.Identifier) == 0 {
		return nil, noTable(name)
	}
	last := len(req.Identifier) - 1
	for e, err := range c.database.entries(ctx, c.name, encode(req.Identifier[:last]), &req.Identifier[last]) {
		if err != nil {
			return nil, err
		}
		kind, err := e.kind()
		if err != nil {
			return nil, fault.Wrap(err, "load %s", name)
		}
		if e.location == "" {
			return nil, fault.New(fault.Corrupt, "the catalog has no metadata location for %s", name).In(name)
		}
		return &catalogs.Table{Identifier: append(table.Identifier(nil), req.Identifier...), Kind: kind, MetadataLocation: e.location}, nil
	}
	return nil, noTable(name)
}

// Close closes the database; calls that still run fail.
func (c *catalog) Close() error {
	return fault.As(fault.Unavailable, c.database.pool.Close())
}

func noNamespace(namespace table.Identifier) error {
	return fault.New(fault.NotFound, "Namespace does not exist: %s", strings.Join(namespace, "."))
}

func noTable(name string) error { return fault.New(fault.NotFound, "Table does not exist: %s", name) }
