package main

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
)

// suffix ends the name of a table's file.
const suffix = ".metadata.json"

// folder is the catalog. It is asked concurrently, so it holds nothing that changes.
type folder struct {
	files  fs.FS
	root   string
	closed atomic.Bool
}

var _ catalogs.Catalog = (*folder)(nil)

// Capabilities promise only what the methods below keep; the suite checks them.
func (f *folder) Capabilities() catalogs.Capabilities { return catalogs.Capabilities{} }

// Close makes later calls fail.
func (f *folder) Close() error {
	f.closed.Store(true)
	return nil
}

// list gives the names in a folder, sorted. A folder that is missing is no error of the catalog's: it is fault.NotFound.
func (f *folder) list(ctx context.Context, name string) ([]fs.DirEntry, error) {
	if f.closed.Load() {
		return nil, fault.New(fault.Unavailable, "the catalog is closed")
	}
	if err := ctx.Err(); err != nil {
		return nil, fault.Wrap(err, "list %s", name)
	}
	if !fs.ValidPath(name) {
		return nil, fault.New(fault.NotFound, "%q is no folder", name)
	}
	found, err := fs.ReadDir(f.files, name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) || err != nil && strings.Contains(err.Error(), "not a directory") || err != nil && strings.Contains(err.Error(), "too long") {
		return nil, fault.New(fault.NotFound, "there is no folder %q", name)
	}
	return found, fault.As(fault.Unavailable, err)
}

// namespace gives the folder of a namespace of one level.
func namespace(id table.Identifier) (string, error) {
	if len(id) != 1 || id[0] == "." || strings.ContainsAny(id[0], "/\\\x00") {
		return "", fault.New(fault.NotFound, "Namespace does not exist: %s", strings.Join(id, "."))
	}
	return id[0], nil
}

// Namespaces yields the folders; below them there are no more.
func (f *folder) Namespaces(ctx context.Context, parent table.Identifier) iter.Seq2[table.Identifier, error] {
	return func(yield func(table.Identifier, error) bool) {
		if len(parent) > 0 {
			if _, err := f.LoadNamespace(ctx, parent); err != nil {
				yield(nil, err)
			}
			return
		}
		found, err := f.list(ctx, ".")
		if err != nil {
			yield(nil, err)
			return
		}
		for _, e := range found {
			if e.IsDir() && !yield(table.Identifier{e.Name()}, nil) {
				return
			}
		}
	}
}

// LoadNamespace gives the folder's location.
func (f *folder) LoadNamespace(ctx context.Context, id table.Identifier) (iceberg.Properties, error) {
	name, err := namespace(id)
	if err == nil {
		_, err = f.list(ctx, name)
	}
	if err != nil {
		return nil, err
	}
	return iceberg.Properties{"location": f.root + "/" + name}, nil
}

// Tables yields the tables of a namespace in byte order.
func (f *folder) Tables(ctx context.Context, id table.Identifier) iter.Seq2[catalogs.Entry, error] {
	return func(yield func(catalogs.Entry, error) bool) {
		name, err := namespace(id)
		var found []fs.DirEntry
		if err == nil {
			found, err = f.list(ctx, name)
		}
		if err != nil {
			yield(catalogs.Entry{}, err)
			return
		}
		var names []string
		for _, e := range found {
			if table, ok := strings.CutSuffix(e.Name(), suffix); ok && !e.IsDir() {
				names = append(names, table)
			}
		}
		slices.Sort(names)
		for _, n := range names {
			if !yield(catalogs.Entry{Identifier: table.Identifier{name, n}}, nil) {
				return
			}
		}
	}
}

// Load gives where the metadata lies; the server reads it. A catalog that has the JSON at hand would set Metadata too.
func (f *folder) Load(ctx context.Context, req catalogs.LoadRequest) (*catalogs.Table, error) {
	missing := fault.New(fault.NotFound, "Table does not exist: %s", strings.Join(req.Identifier, "."))
	if len(req.Identifier) != 2 {
		return nil, missing
	}
	name, err := namespace(req.Identifier[:1])
	var found []fs.DirEntry
	if err == nil {
		found, err = f.list(ctx, name)
	}
	if err != nil {
		return nil, err
	}
	for _, e := range found {
		if e.Name() == req.Identifier[1]+suffix {
			return &catalogs.Table{Identifier: slices.Clone(req.Identifier), MetadataLocation: f.root + "/" + name + "/" + e.Name()}, nil
		}
	}
	return nil, missing
}
