package jdbc

import (
	"context"
	"iter"
	"slices"

	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
)

// Namespaces yields the children of parent that rows name or imply. A parent that neither does is fault.NotFound; the root is always there.
func (c *catalog) Namespaces(ctx context.Context, parent table.Identifier) iter.Seq2[table.Identifier, error] {
	return func(yield func(table.Identifier, error) bool) {
		all, err := c.database.namespaces(ctx, c.name)
		if err == nil && len(parent) > 0 && !exists(all, parent) {
			err = noNamespace(parent)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		for _, ns := range children(all, parent) {
			if !yield(slices.Clone(ns), nil) {
				return
			}
		}
	}
}

// Tables yields the tables and views of a namespace. Rows of a type that is neither are left out of listings; loading one says why.
func (c *catalog) Tables(ctx context.Context, namespace table.Identifier) iter.Seq2[catalogs.Entry, error] {
	return func(yield func(catalogs.Entry, error) bool) {
		all, err := c.database.namespaces(ctx, c.name)
		if err == nil && !exists(all, namespace) {
			err = noNamespace(namespace)
		}
		if err != nil {
			yield(catalogs.Entry{}, err)
			return
		}
		for e, err := range c.database.entries(ctx, c.name, encode(namespace), nil) {
			if err != nil {
				yield(catalogs.Entry{}, err)
				return
			}
			kind, err := e.kind()
			if err != nil {
				continue
			}
			if !yield(catalogs.Entry{Identifier: append(slices.Clone(namespace), e.name), Kind: kind}, nil) {
				return
			}
		}
	}
}
