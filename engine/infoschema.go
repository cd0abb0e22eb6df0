package engine

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan"
	"github.com/skua-data/skua/session"
)

// SchemaEntry is a namespace as clients list it: nested levels dotted, back-quoted where needed.
type SchemaEntry struct{ Catalog, Schema string }

// TableFilter says which tables a client asks for. Patterns are SQL's LIKE with a backslash as escape; a nil one matches everything.
type TableFilter struct {
	Catalog                    *string // exact; empty: tables without a catalog, of which there are none
	SchemaPattern, NamePattern *string
	Types                      []string // TABLE or BASE TABLE, VIEW; none: all
	WithSchema                 bool
}

// TableEntry is a table as clients list it. Columns is set for WithSchema only, and has no fields where the table cannot be read.
type TableEntry struct {
	Catalog, Schema, Name, Type string
	Columns                     *arrow.Schema
}

// The types of TableEntry.
const (
	TypeTable = "TABLE"
	TypeView  = "VIEW"
)

// CatalogNames gives every configured catalog in byte order.
func (e *Engine) CatalogNames() []string { return e.config.Catalogs.Names() }

// maxNamespaces bounds a listing of one catalog, and maxDepth how deep its namespaces nest.
const (
	maxNamespaces = 100_000
	maxDepth      = 32
)

// Schemas yields the namespaces of a catalog, or of all, in order, nested ones after their parents. A catalog that fails ends the listing with its
// error if it was asked for by name; otherwise it is logged and left out.
func (e *Engine) Schemas(ctx context.Context, _ session.State, catalog *string, pattern *string) iter.Seq2[SchemaEntry, error] {
	match := likePattern(pattern)
	return func(yield func(SchemaEntry, error) bool) {
		for n, err := range e.namespaces(ctx, catalog, likeBelow(pattern)) {
			if err != nil {
				yield(SchemaEntry{}, err)
				return
			}
			if name := SchemaName(n.levels); match(name) && !yield(SchemaEntry{Catalog: n.catalog, Schema: name}, nil) {
				return
			}
		}
	}
}

// place is a namespace of a catalog; no levels mean its root.
type place struct {
	catalog string
	levels  []string
}

// namespaces walks the namespaces of the catalogs asked for, and goes below those whose spelling, with the dot after it, below is true of.
func (e *Engine) namespaces(ctx context.Context, only *string, below matcher) iter.Seq2[place, error] {
	return func(yield func(place, error) bool) {
		for _, name := range e.CatalogNames() {
			if only != nil && name != *only {
				continue
			}
			c, err := e.config.Catalogs.Catalog(ctx, name)
			if err == nil {
				w := &walk{catalog: name, source: c, below: below, yield: yield}
				err = w.children(ctx, nil)
				if w.stopped {
					return
				}
			}
			if err == nil {
				continue
			}
			if only != nil || ctx.Err() != nil {
				yield(place{}, fault.Wrap(err, "list catalog %s", name))
				return
			}
			e.config.Log.Warn("catalog left out of a listing", "catalog", name, "error", err.Error())
		}
	}
}

// walk goes through one catalog's namespaces, parents first.
type walk struct {
	catalog string
	source  catalogs.Catalog
	below   matcher
	yield   func(place, error) bool
	count   int
	stopped bool
}

func (w *walk) children(ctx context.Context, parent table.Identifier) error {
	if len(parent) >= maxDepth {
		return nil
	}
	var below []table.Identifier
	for n, err := range w.source.Namespaces(ctx, parent) {
		if err != nil {
			return err
		}
		if w.count++; w.count > maxNamespaces {
			return fault.New(fault.Exhausted, "catalog %s has more than %d namespaces", w.catalog, maxNamespaces)
		}
		below = append(below, slices.Clone(n))
	}
	for _, n := range below {
		if !w.yield(place{w.catalog, n}, nil) {
			w.stopped = true
			return nil
		}
		if !w.source.Capabilities().NestedNamespaces || !w.below(SchemaName(n)+".") {
			continue
		}
		if err := w.children(ctx, n); err != nil || w.stopped {
			return err
		}
	}
	return nil
}

// Tables yields the tables and views that f asks for, namespace by namespace, those at a catalog's root first. What fails is left out with a log
// line; only a catalog asked for by name ends the listing with its error.
func (e *Engine) Tables(ctx context.Context, _ session.State, f TableFilter) iter.Seq2[TableEntry, error] {
	schemas, names := likePattern(f.SchemaPattern), likePattern(f.NamePattern)
	return func(yield func(TableEntry, error) bool) {
		if entries, known := e.points(ctx, f); known {
			for _, entry := range entries {
				if !yield(entry, nil) {
					return
				}
			}
			return
		}
		for p, err := range e.places(ctx, f.Catalog, likeBelow(f.SchemaPattern)) {
			if err != nil {
				yield(TableEntry{}, err)
				return
			}
			if !schemas(SchemaName(p.levels)) {
				continue
			}
			if err := e.tablesOfPlace(ctx, p, names, f, yield); err != nil {
				if err != errStopped {
					yield(TableEntry{}, err)
				}
				return
			}
		}
	}
}

// errStopped ends a listing whose receiver wants no more.
var errStopped = errors.New("stopped")

// tablesOfPlace yields the tables of one namespace. A namespace that fails is left out with a log line.
func (e *Engine) tablesOfPlace(ctx context.Context, p place, names matcher, f TableFilter, yield func(TableEntry, error) bool) error {
	var pending []listed
	flush := func() error {
		if f.WithSchema {
			e.addColumns(ctx, p.catalog, pending)
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		for _, t := range pending {
			if !yield(t.out, nil) {
				return errStopped
			}
		}
		pending = pending[:0]
		return nil
	}
	schema := SchemaName(p.levels)
	for entry, err := range e.tablesOf(ctx, p) {
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			e.config.Log.Warn("namespace left out of a listing", "catalog", p.catalog, "namespace", schema, "error", err.Error())
			break
		}
		entry.Identifier = slices.Clone(entry.Identifier)
		out := TableEntry{Catalog: p.catalog, Schema: schema, Name: entry.Identifier[len(entry.Identifier)-1], Type: typeOfEntry(entry)}
		if !names(out.Name) || !wanted(out.Type, f.Types) {
			continue
		}
		if pending = append(pending, listed{entry, out}); len(pending) < columnsTogether {
			continue
		}
		if err := flush(); err != nil {
			return err
		}
	}
	return flush()
}

// places yields the root of each catalog in front of its namespaces.
func (e *Engine) places(ctx context.Context, only *string, below matcher) iter.Seq2[place, error] {
	return func(yield func(place, error) bool) {
		for _, name := range e.CatalogNames() {
			if only != nil && name != *only {
				continue
			}
			if !yield(place{catalog: name}, nil) {
				return
			}
			for p, err := range e.namespaces(ctx, &name, below) {
				if err != nil && only == nil && ctx.Err() == nil {
					e.config.Log.Warn("catalog left out of a listing", "catalog", name, "error", err.Error())
					break
				}
				if !yield(p, err) {
					return
				}
			}
		}
	}
}

func (e *Engine) tablesOf(ctx context.Context, p place) iter.Seq2[catalogs.Entry, error] {
	c, err := e.config.Catalogs.Catalog(ctx, p.catalog)
	switch {
	case err != nil:
		return func(yield func(catalogs.Entry, error) bool) { yield(catalogs.Entry{}, err) }
	case len(p.levels) == 0 && !c.Capabilities().RootTables:
		return func(func(catalogs.Entry, error) bool) {}
	}
	return c.Tables(ctx, p.levels)
}

func typeOfEntry(e catalogs.Entry) string {
	if e.Kind == catalogs.KindView {
		return TypeView
	}
	return TypeTable
}

func wanted(typ string, types []string) bool {
	if len(types) == 0 {
		return true
	}
	return slices.Contains(types, typ) || (typ == TypeTable && slices.Contains(types, "BASE TABLE"))
}

var noColumns = arrow.NewSchema(nil, nil)

// columnsOf gives a table's columns as SELECT * would, with their comments, which belong into a listing. A table that cannot be read has none.
func (e *Engine) columnsOf(ctx context.Context, catalog string, entry catalogs.Entry) *arrow.Schema {
	schema, err := e.currentSchema(ctx, catalog, entry)
	if err != nil {
		e.config.Log.Warn("columns left out of a listing", "catalog", catalog, "table", syntax.QuoteName(entry.Identifier), "error", err.Error())
		return noColumns
	}
	fields := make([]arrow.Field, 0, schema.NumFields())
	for _, f := range schema.Fields() {
		out := arrow.Field{Name: f.Name, Type: withoutMetadata(f.Type), Nullable: f.Nullable}
		if comment := commentOf(f); comment != "" {
			out.Metadata = arrow.NewMetadata([]string{scan.CommentKey}, []string{comment})
		}
		fields = append(fields, out)
	}
	return arrow.NewSchema(fields, nil)
}

func (e *Engine) currentSchema(ctx context.Context, catalog string, entry catalogs.Entry) (*arrow.Schema, error) {
	if entry.Kind == catalogs.KindView {
		schema, _, err := e.viewSource(ctx, catalog, entry.Identifier)
		return schema, err
	}
	source, err := e.currentSource(ctx, catalog, entry.Identifier)
	if err != nil {
		return nil, err
	}
	return source.Schema(), nil
}

func (e *Engine) currentSource(ctx context.Context, catalog string, identifier []string) (source scan.Source, err error) {
	defer fault.Recover(&err, fault.Internal, "read %s", syntax.QuoteName(identifier))
	loaded, err := e.config.Catalogs.Load(ctx, catalog, identifier, "", "")
	if err != nil {
		return nil, err
	}
	opened, err := e.open(ctx, loaded)
	if err != nil {
		return nil, err
	}
	return opened.Source(ctx, scan.Reference{})
}
