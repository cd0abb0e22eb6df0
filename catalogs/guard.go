package catalogs

import (
	"context"
	"iter"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/fault"
)

// handle is the Catalog that a Set gives out: closing it is the Set's business, its errors name catalog and operation, and while it rests it is not asked.
type handle struct {
	Catalog
	breaker *breaker
	files   bool // tables of plain files are shown
}

var _ Catalog = handle{}

// Close does nothing.
func (handle) Close() error { return nil }

// Capabilities are the catalog's; only a session catalog shows tables of plain files.
func (h handle) Capabilities() Capabilities {
	c := h.Catalog.Capabilities()
	c.Files = c.Files && h.files
	return c
}

// run makes one call.
func (h handle) run(ctx context.Context, operation string, call func() error) error {
	attempt, err := h.breaker.begin(ctx, operation)
	if err != nil {
		return err
	}
	err = call()
	h.breaker.end(ctx, attempt, err)
	return h.named(operation, err)
}

// named adds catalog and operation where an error does not tell them. What is missing is the statement's to name.
func (h handle) named(operation string, err error) error {
	if err == nil || fault.Is(err, fault.NotFound) {
		return err
	}
	text := err.Error()
	if !strings.Contains(text, operation) {
		err = fault.Wrap(err, "%s", operation)
	}
	if !strings.Contains(text, "catalog "+h.breaker.name) {
		err = fault.Wrap(err, "catalog %s", h.breaker.name)
	}
	return err
}

// LoadNamespace implements Catalog.
func (h handle) LoadNamespace(ctx context.Context, ns table.Identifier) (p iceberg.Properties, err error) {
	err = h.run(ctx, "load namespace "+strings.Join(ns, "."), func() (err error) { p, err = h.Catalog.LoadNamespace(ctx, ns); return err })
	return p, err
}

// Load implements Catalog. A plain catalog has only Iceberg's tables and views.
func (h handle) Load(ctx context.Context, req LoadRequest) (t *Table, err error) {
	name := strings.Join(req.Identifier, ".")
	err = h.run(ctx, "load table "+name, func() (err error) {
		t, err = h.Catalog.Load(ctx, req)
		if err == nil && t != nil && t.Kind == KindFiles && !h.files {
			err = fault.New(fault.NotFound, "Table does not exist: %s (it is no Iceberg table; a session catalog shows it)", name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Namespaces implements Catalog.
func (h handle) Namespaces(ctx context.Context, parent table.Identifier) iter.Seq2[table.Identifier, error] {
	return guarded(ctx, h, of("list namespaces", parent), h.Catalog.Namespaces(ctx, parent))
}

// Tables implements Catalog. A plain catalog shows only Iceberg's tables and views.
func (h handle) Tables(ctx context.Context, ns table.Identifier) iter.Seq2[Entry, error] {
	all := guarded(ctx, h, of("list tables", ns), h.Catalog.Tables(ctx, ns))
	if h.files {
		return all
	}
	return func(yield func(Entry, error) bool) {
		for e, err := range all {
			if (err != nil || e.Kind != KindFiles) && !yield(e, err) {
				return
			}
		}
	}
}

// of names an operation on a namespace.
func of(operation string, ns table.Identifier) string {
	if len(ns) == 0 {
		return operation
	}
	return operation + " of " + strings.Join(ns, ".")
}

// guarded is a listing as one call. Time that the reader takes does not count against the catalog.
func guarded[E any](ctx context.Context, h handle, operation string, listing iter.Seq2[E, error]) iter.Seq2[E, error] {
	return func(yield func(E, error) bool) {
		var none E
		attempt, err := h.breaker.begin(ctx, operation)
		if err != nil {
			yield(none, err)
			return
		}
		for e, err := range listing {
			if err != nil {
				h.breaker.end(ctx, attempt, err)
				yield(none, h.named(operation, err))
				return
			}
			if !yield(e, nil) {
				break
			}
			attempt.began = h.breaker.now()
		}
		h.breaker.end(ctx, attempt, nil)
	}
}
