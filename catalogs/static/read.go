package static

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
)

// Namespaces yields the namespaces under parent that tables imply.
func (c *catalog) Namespaces(ctx context.Context, parent table.Identifier) iter.Seq2[table.Identifier, error] {
	return func(yield func(table.Identifier, error) bool) {
		now, err := c.under(ctx, parent)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, ns := range now.namespaces {
			if child(ns, parent) && !yield(slices.Clone(ns), nil) {
				return
			}
		}
	}
}

// LoadNamespace gives no properties: a namespace is its name.
func (c *catalog) LoadNamespace(ctx context.Context, namespace table.Identifier) (iceberg.Properties, error) {
	now, err := c.current(ctx)
	if err != nil {
		return nil, err
	}
	if !now.has(namespace) {
		return nil, noNamespace(namespace)
	}
	return iceberg.Properties{}, nil
}

// Tables yields the tables of a namespace, the root's included.
func (c *catalog) Tables(ctx context.Context, namespace table.Identifier) iter.Seq2[catalogs.Entry, error] {
	return func(yield func(catalogs.Entry, error) bool) {
		now, err := c.under(ctx, namespace)
		if err != nil {
			yield(catalogs.Entry{}, err)
			return
		}
		for _, t := range now.tables {
			if child(t.identifier, namespace) && !yield(catalogs.Entry{Identifier: slices.Clone(t.identifier), Kind: catalogs.KindTable}, nil) {
				return
			}
		}
	}
}

// Load gives a table's metadata location and where its paths lie; the server reads the metadata.
func (c *catalog) Load(ctx context.Context, req catalogs.LoadRequest) (*catalogs.Table, error) {
	if req.Reference != "" {
		return nil, fault.New(fault.Unsupported, "references of the whole catalog (%q) are not supported by the catalog type static", req.Reference)
	}
	now, err := c.current(ctx)
	if err != nil {
		return nil, err
	}
	at, found := slices.BinarySearchFunc(now.tables, req.Identifier, func(t tableEntry, id table.Identifier) int { return slices.Compare(t.identifier, id) })
	if !found {
		return nil, fault.New(fault.NotFound, "Table does not exist: %s", strings.Join(req.Identifier, "."))
	}
	t := now.tables[at]
	return &catalogs.Table{Identifier: slices.Clone(t.identifier), Kind: catalogs.KindTable, MetadataLocation: t.metadata, Locations: slices.Clone(t.locations)}, nil
}

// under gives the content for a listing of a namespace that must exist; the root always does.
func (c *catalog) under(ctx context.Context, namespace table.Identifier) (*content, error) {
	now, err := c.current(ctx)
	if err != nil {
		return nil, err
	}
	if len(namespace) > 0 && !now.has(namespace) {
		return nil, noNamespace(namespace)
	}
	return now, nil
}

func (c *content) has(namespace table.Identifier) bool {
	_, found := slices.BinarySearchFunc(c.namespaces, namespace, func(a, b table.Identifier) int { return slices.Compare(a, b) })
	return found
}

// child reports whether id lies directly in parent.
func child(id, parent table.Identifier) bool {
	return len(id) == len(parent)+1 && slices.Equal(id[:len(parent)], parent)
}

func noNamespace(namespace table.Identifier) error {
	return fault.New(fault.NotFound, "Namespace does not exist: %s", strings.Join(namespace, "."))
}
