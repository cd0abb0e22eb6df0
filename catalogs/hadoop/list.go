package hadoop

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

// Namespaces yields the folders under parent that are no tables.
func (c *catalog) Namespaces(ctx context.Context, parent table.Identifier) iter.Seq2[table.Identifier, error] {
	return func(yield func(table.Identifier, error) bool) {
		for child, err := range c.children(ctx, parent) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !child.table && !yield(child.id, nil) {
				return
			}
		}
	}
}

// Tables yields the folders under a namespace that are tables, the root's included.
func (c *catalog) Tables(ctx context.Context, namespace table.Identifier) iter.Seq2[catalogs.Entry, error] {
	return func(yield func(catalogs.Entry, error) bool) {
		for child, err := range c.children(ctx, namespace) {
			if err != nil {
				yield(catalogs.Entry{}, err)
				return
			}
			if child.table && !yield(catalogs.Entry{Identifier: child.id, Kind: catalogs.KindTable}, nil) {
				return
			}
		}
	}
}

// child is a folder in a namespace.
type child struct {
	id    table.Identifier
	table bool
}

// children yields a namespace's folders in byte order. A namespace that is missing, or is a table or a file, is fault.NotFound.
func (c *catalog) children(ctx context.Context, namespace table.Identifier) iter.Seq2[child, error] {
	return func(yield func(child, error) bool) {
		folder, err := c.namespace(ctx, namespace)
		if err != nil {
			yield(child{}, err)
			return
		}
		for info, err := range c.list(ctx, folder) {
			if fault.Is(err, fault.NotFound) {
				err = c.noNamespace(namespace)
			}
			if err != nil {
				yield(child{}, err)
				return
			}
			if !info.Folder {
				continue
			}
			isTable, err := c.isTable(ctx, info.Location)
			if err != nil {
				yield(child{}, err)
				return
			}
			if !yield(child{append(slices.Clone(namespace), base(info.Location)), isTable}, nil) {
				return
			}
		}
	}
}

// namespace gives the folder of a namespace, which may be missing but is no table.
func (c *catalog) namespace(ctx context.Context, id table.Identifier) (storage.Location, error) {
	folder, ok := c.folder(id)
	if !ok {
		return "", c.noNamespace(id)
	}
	if len(id) == 0 {
		return folder, c.check(ctx)
	}
	isTable, err := c.isTable(ctx, folder)
	if err != nil {
		return "", err
	}
	if isTable {
		return "", c.noNamespace(id)
	}
	return folder, nil
}

// isTable reports whether a folder holds metadata of a table.
func (c *catalog) isTable(ctx context.Context, folder storage.Location) (bool, error) {
	for info, err := range c.list(ctx, under(folder, "metadata")) {
		switch {
		case fault.Is(err, fault.NotFound), c.lenient && fault.Is(err, fault.Denied):
			return false, nil
		case err != nil:
			return false, err
		}
		name := base(info.Location)
		if strings.HasSuffix(name, ".metadata.json") || strings.HasSuffix(name, ".metadata.json.gz") {
			return true, nil
		}
	}
	return false, nil
}

// list lists a folder, until the catalog is closed.
func (c *catalog) list(ctx context.Context, folder storage.Location) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		if err := c.check(ctx); err != nil {
			yield(storage.Info{}, err)
			return
		}
		for info, err := range c.store.List(ctx, folder) {
			if err == nil {
				err = c.check(ctx)
			}
			if !yield(info, err) || err != nil {
				return
			}
		}
	}
}
