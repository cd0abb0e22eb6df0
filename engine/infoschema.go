package engine

import (
	"context"
	"iter"
	"regexp"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
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
	// Encode writes an entry's columns down as the client gets them. What it gives is kept for as long as the table's metadata stays the same, so that it is the same function
	// for everybody and reads nothing but the entry's columns and names. Nil: they are not written down.
	Encode  func(TableEntry) []byte
	withKey bool     // the identifier fields are looked up, too
	names   nameTest // what else is asked of the names
}

// tableNames is what the names of tables match that a filter asks for; nil: any may be.
func (f TableFilter) tableNames() *regexp.Regexp {
	if names := likeNames(f.NamePattern); names != nil {
		return names
	}
	return f.names.tables
}

// TableEntry is a table as clients list it. Columns is set for WithSchema only, and has no fields where the table cannot be read; Encoded is what the filter's Encode gave.
type TableEntry struct {
	Catalog, Schema, Name, Type string
	Columns                     *arrow.Schema
	Encoded                     []byte // not to be changed
	key                         []string
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
	match, below := likePattern(pattern), likeBelow(pattern)
	return eachCatalog(ctx, e, catalog, func(ctx context.Context, name string, yield func(SchemaEntry) bool) error {
		return e.namespaces(ctx, name, below, func(levels []string) error {
			if schema := SchemaName(levels); match(schema) && !yield(SchemaEntry{Catalog: name, Schema: schema}) {
				return errStopped
			}
			return nil
		})
	})
}

// namespaces calls each for the namespaces of a catalog, and goes below those whose spelling, with the dot after it, below is true of.
func (e *Engine) namespaces(ctx context.Context, catalog string, below matcher, each func(levels []string) error) error {
	c, err := e.config.Catalogs.Catalog(ctx, catalog)
	if err != nil {
		return err
	}
	w := &walk{engine: e, catalog: catalog, source: c, below: below, each: each}
	return w.children(ctx, nil)
}

// walk goes through one catalog's namespaces, parents first.
type walk struct {
	engine  *Engine
	catalog string
	source  catalogs.Catalog
	below   matcher
	each    func(levels []string) error
	count   int
}

func (w *walk) children(ctx context.Context, parent table.Identifier) error {
	if len(parent) >= maxDepth {
		return nil
	}
	var below []table.Identifier
	for n, err := range w.source.Namespaces(ctx, parent) {
		if err != nil && len(parent) > 0 && hidden(err) {
			w.engine.leftOut(w.catalog, SchemaName(parent), err)
			break
		}
		if err != nil {
			return err
		}
		if w.count++; w.count > maxNamespaces {
			return fault.New(fault.Exhausted, "catalog %s has more than %d namespaces", w.catalog, maxNamespaces)
		}
		below = append(below, slices.Clone(n))
	}
	for _, n := range below {
		if err := w.each(n); err != nil {
			return err
		}
		if !w.source.Capabilities().NestedNamespaces || !w.below(SchemaName(n)+".") {
			continue
		}
		if err := w.children(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// hidden is true of what a catalog says of a namespace that is gone by now, or that is not the caller's to see: it is left out of every listing.
func hidden(err error) bool { return fault.Is(err, fault.NotFound) || fault.Is(err, fault.Denied) }

// away is true of a failure that is no one object's: the catalog, or the store, does not answer.
func away(err error) bool {
	switch fault.KindOf(err) {
	case fault.Unavailable, fault.Deadline, fault.Canceled, fault.Unauthenticated:
		return true
	}
	return false
}

func (e *Engine) leftOut(catalog, schema string, err error) {
	e.config.Log.Warn("namespace left out of a listing", "catalog", catalog, "namespace", schema, "error", err.Error())
}

// Tables yields the tables and views that f asks for, namespace by namespace, those at a catalog's root first. A catalog asked for by name that fails ends the
// listing with its error, whatever came before; of others, what fails is left out with a log line. A table whose own metadata is broken has no columns.
func (e *Engine) Tables(ctx context.Context, _ session.State, f TableFilter) iter.Seq2[TableEntry, error] {
	return e.tables(e.listingContext(ctx), f)
}

// listingContext has what a listing keeps in memory count as the process's.
func (e *Engine) listingContext(ctx context.Context) context.Context {
	return resource.With(ctx, e.config.Pool.NewStatement(newID()))
}

// tables is Tables on the account of a statement.
func (e *Engine) tables(ctx context.Context, f TableFilter) iter.Seq2[TableEntry, error] {
	schemas, names, below := likePattern(f.SchemaPattern), f.tableNames(), likeBelow(f.SchemaPattern)
	return eachCatalog(ctx, e, f.Catalog, func(ctx context.Context, catalog string, yield func(TableEntry) bool) error {
		entry, known, err := e.point(ctx, catalog, f)
		if err != nil {
			return err
		}
		if known {
			if entry != nil && !yield(*entry) {
				return errStopped
			}
			return nil
		}
		places := 0
		each := func(levels []string) error {
			if !schemas(SchemaName(levels)) {
				return nil
			}
			p := place{catalog, levels}
			if places++; places <= maxPoints {
				if known, err := e.pointIn(ctx, p, f, yield); known || err != nil {
					return err
				}
			}
			return e.tablesOfPlace(catalogs.WithNames(ctx, names), p, likePattern(f.NamePattern), f, yield)
		}
		if err := each(nil); err != nil {
			return err
		}
		return e.namespaces(ctx, catalog, below, each)
	})
}

// place is a namespace of a catalog; no levels mean its root.
type place struct {
	catalog string
	levels  []string
}

// tablesOfPlace yields the tables of one namespace.
func (e *Engine) tablesOfPlace(ctx context.Context, p place, names matcher, f TableFilter, yield func(TableEntry) bool) error {
	var pending []listed
	flush := func() error {
		pending = f.names.chosen(pending)
		if err := e.lookUp(ctx, p.catalog, f, pending); err != nil {
			return err
		}
		for _, t := range pending {
			if !yield(t.out) {
				return errStopped
			}
		}
		pending = pending[:0]
		return nil
	}
	schema := SchemaName(p.levels)
	for entry, err := range e.tablesOf(ctx, p) {
		if err != nil {
			if ctx.Err() != nil || !hidden(err) && (f.Catalog != nil || away(err)) {
				return err
			}
			e.leftOut(p.catalog, schema, err)
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
