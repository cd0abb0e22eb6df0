// Package hive reads the tables that a Hive metastore (version 2, 3 or 4) lists, over its Thrift interface: Iceberg tables and views by the metadata location
// in their parameters, tables of Parquet files by their columns and partitions, and other tables by their format's name. Nothing is written. Kerberos, and transports other than plain or TLS sockets, are refused by
// name.
package hive

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

// catalog is one metastore, which may be served by several servers.
type catalog struct {
	name  string
	store *metastore
}

var _ catalogs.Catalog = (*catalog)(nil)

// New gives the constructor of hive catalogs. The metastore is named by the property uri, else by hive.metastore.uris in the properties (with or without
// hadoop. in front) or in hive-site.xml of a configuration folder. The catalog answers with locations only, so it opens no store.
func New([]storage.Kind) catalogs.Constructor {
	return func(_ context.Context, c catalogs.Config) (catalogs.Catalog, error) {
		s, err := readSettings(c.Name, c.Properties)
		if err != nil {
			return nil, err
		}
		return &catalog{name: c.Name, store: &metastore{pool: newPool(c.Name, s)}}, nil
	}
}

func key(name, property string) string { return "spark.sql.catalog." + name + "." + property }

// Capabilities says that views and tables of plain files are listed, and those tables' partitions; there is one level of namespaces.
func (c *catalog) Capabilities() catalogs.Capabilities {
	return catalogs.Capabilities{Views: true, Files: true, Partitions: true}
}

// Close ends every connection.
func (c *catalog) Close() error {
	c.store.pool.close()
	return nil
}

// Namespaces yields the databases; none has another in it.
func (c *catalog) Namespaces(ctx context.Context, parent table.Identifier) iter.Seq2[table.Identifier, error] {
	return catalogs.Flat(ctx, parent, c.store.databases, c.LoadNamespace)
}

// LoadNamespace gives a database's parameters, its location, and its comment and owner where it has them.
func (c *catalog) LoadNamespace(ctx context.Context, namespace table.Identifier) (iceberg.Properties, error) {
	if len(namespace) != 1 || !sound(namespace[0]) {
		return nil, noNamespace(namespace)
	}
	database, err := c.store.database(ctx, namespace[0])
	if fault.Is(err, fault.NotFound) {
		return nil, noNamespace(namespace)
	}
	if err != nil {
		return nil, fault.Wrap(err, "load namespace %s", namespace[0])
	}
	out := iceberg.Properties(database.texts(4))
	for property, field := range map[string]int16{"comment": 2, "location": 3, "hive.metastore.database.owner": 6} {
		if v := database.text(field); v != "" {
			out[property] = v
		}
	}
	return out, nil
}

// Tables yields a database's tables and views.
func (c *catalog) Tables(ctx context.Context, namespace table.Identifier) iter.Seq2[catalogs.Entry, error] {
	return func(yield func(catalogs.Entry, error) bool) {
		// The metastore lists nothing for a database that is not there.
		if _, err := c.LoadNamespace(ctx, namespace); err != nil {
			yield(catalogs.Entry{}, err)
			return
		}
		names, err := c.store.tableNames(ctx, namespace[0])
		if err == nil {
			slices.Sort(names)
			for some := range slices.Chunk(names, batch) {
				var entries []catalogs.Entry
				if entries, err = c.entries(ctx, namespace, some); err != nil {
					break
				}
				for _, e := range entries {
					if !yield(e, nil) {
						return
					}
				}
			}
		}
		if err != nil {
			yield(catalogs.Entry{}, fault.Wrap(err, "list tables of %s", namespace[0]))
		}
	}
}

// entries gives what the names are, in byte order.
func (c *catalog) entries(ctx context.Context, namespace table.Identifier, names []string) ([]catalogs.Entry, error) {
	var out []catalogs.Entry
	err := c.store.tables(ctx, namespace[0], names, func(t record) {
		out = append(out, catalogs.Entry{Identifier: table.Identifier{namespace[0], t.text(1)}, Kind: kindOf(t)})
	})
	slices.SortFunc(out, func(a, b catalogs.Entry) int { return strings.Compare(a.Identifier[1], b.Identifier[1]) })
	return out, err
}

// Load gives the metadata location of an Iceberg table or view, or the format of what is none.
func (c *catalog) Load(ctx context.Context, req catalogs.LoadRequest) (*catalogs.Table, error) {
	if req.Reference != "" {
		return nil, fault.New(fault.Unsupported, "references of the whole catalog (%q) are not supported by the catalog type hive", req.Reference)
	}
	name := strings.Join(req.Identifier, ".")
	if len(req.Identifier) != 2 || !sound(req.Identifier[0]) || !sound(req.Identifier[1]) {
		return nil, noTable(name)
	}
	t, err := c.store.table(ctx, req.Identifier[0], req.Identifier[1])
	if fault.Is(err, fault.NotFound) {
		return nil, noTable(name)
	}
	if err != nil {
		return nil, fault.Wrap(err, "load table %s", name)
	}
	out := &catalogs.Table{Identifier: table.Identifier{t.text(2), t.text(1)}, Kind: kindOf(t), MetadataLocation: t.texts(9)["metadata_location"]}
	switch {
	case out.Kind == catalogs.KindFiles:
		return out, storedOf(t).Table(out)
	case out.MetadataLocation == "" && isIceberg(t):
		return nil, fault.New(fault.Corrupt, "the metastore has no metadata_location for %s", name).In(name)
	case out.MetadataLocation == "":
		return nil, fault.New(fault.Unsupported, "%s is a view of Hive: only Iceberg's views are known", name).In(name)
	}
	return out, nil
}

// maxName bounds a name; the metastore's own columns hold 256 characters.
const maxName = 1000

// sound reports whether a name can be one of the metastore's. A name with @ and # would lead into another catalog of it.
func sound(name string) bool {
	return name != "" && len(name) <= maxName && !strings.ContainsAny(name, "\x00@#")
}

func noNamespace(namespace table.Identifier) error {
	return fault.New(fault.NotFound, "Namespace does not exist: %s", strings.Join(namespace, "."))
}

func noTable(name string) error { return fault.New(fault.NotFound, "Table does not exist: %s", name) }
