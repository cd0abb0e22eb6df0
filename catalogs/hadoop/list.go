package hadoop

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

// Namespaces yields the folders under parent that are no tables.
func (c *catalog) Namespaces(ctx context.Context, parent table.Identifier) iter.Seq2[table.Identifier, error] {
	return func(yield func(table.Identifier, error) bool) {
		for child, err := range c.children(ctx, parent, everyName, remembered) {
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
		wanted := everyName
		if names := catalogs.Names(ctx); names != nil {
			wanted = names.MatchString
		}
		for child, err := range c.children(ctx, namespace, wanted, 0) {
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

func everyName(string) bool { return true }

// child is a folder in a namespace.
type child struct {
	id    table.Identifier
	table bool
}

// What is looked into together, and how much of it at once: a store that is far answers many questions as fast as one.
const (
	foldersTogether = 64
	foldersAtOnce   = 16
)

// children yields a namespace's folders in byte order; of those that are tables only those wanted. A namespace that is missing, or is a table or a file, is
// fault.NotFound. What was a table not longer than trust ago is one.
func (c *catalog) children(ctx context.Context, namespace table.Identifier, wanted func(name string) bool, trust time.Duration) iter.Seq2[child, error] {
	return func(yield func(child, error) bool) {
		folder, err := c.namespace(ctx, namespace)
		if err != nil {
			yield(child{}, err)
			return
		}
		var pending []looked
		flush := func() bool {
			c.look(ctx, pending, trust)
			for _, l := range pending {
				if l.err != nil {
					yield(child{}, l.err)
					return false
				}
				if !yield(child{append(slices.Clone(namespace), base(l.folder)), l.table}, nil) {
					return false
				}
			}
			pending = pending[:0]
			return true
		}
		for info, err := range c.list(ctx, folder) {
			if fault.Is(err, fault.NotFound) {
				err = c.noNamespace(namespace)
			}
			if err != nil {
				if flush() {
					yield(child{}, err)
				}
				return
			}
			if !info.Folder || !wanted(base(info.Location)) {
				continue
			}
			if pending = append(pending, looked{folder: info.Location}); len(pending) == foldersTogether && !flush() {
				return
			}
		}
		flush()
	}
}

// looked is a folder that is looked into, and what it turned out to be.
type looked struct {
	folder storage.Location
	table  bool
	err    error
}

// look looks into folders: one after the other where that is cheap, else side by side.
func (c *catalog) look(ctx context.Context, folders []looked, trust time.Duration) {
	var far []*looked
	for i := range folders {
		l := &folders[i]
		if l.table = c.stillTable(ctx, l.folder, trust); !l.table {
			far = append(far, l)
		}
	}
	var workers sync.WaitGroup
	var next atomic.Int64
	for range min(foldersAtOnce, len(far)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(far); i = int(next.Add(1)) - 1 {
				func() {
					defer fault.Recover(&far[i].err, fault.Internal, "look into %s", far[i].folder)
					far[i].table, far[i].err = c.isTable(ctx, far[i].folder)
				}()
			}
		})
	}
	workers.Wait()
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
			c.known.forget(folder)
			return false, nil
		case err != nil:
			return false, err
		}
		name := base(info.Location)
		if strings.HasSuffix(name, ".metadata.json") || strings.HasSuffix(name, ".metadata.json.gz") {
			c.known.add(folder, name)
			return true, nil
		}
	}
	c.known.forget(folder)
	return false, nil
}

// remembered is for how long a folder that was a table is no namespace without being looked at: as long as a loaded table is given out from memory.
const remembered = 30 * time.Second

// stillTable reports whether a folder that was a table still holds the file that made it one, or did not longer than trust ago. A store that does not tell so at little
// cost is not asked.
func (c *catalog) stillTable(ctx context.Context, folder storage.Location, trust time.Duration) bool {
	was := c.known.get(folder)
	p, ok := c.store.(storage.Prober)
	switch {
	case was.name == "":
		return false
	case trust > 0 && time.Since(was.seen) < trust:
		return true
	case !ok:
		return false
	}
	found := p.Probe(ctx, under(under(folder, "metadata"), was.name))
	if found {
		c.known.add(folder, was.name)
	}
	return found
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
