package catalogs

import (
	"context"
	"iter"
	"slices"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/fault"
)

// sessionNamespace is the namespace that a session catalog always has.
const sessionNamespace = "default"

// sessionCatalog stands for Spark's own catalog in front of an Iceberg one: the namespace default is there even where nobody made it, and
// tables of plain files are shown where the catalog knows them.
type sessionCatalog struct{ handle }

var _ Catalog = sessionCatalog{}

// Capabilities adds the namespace default.
func (s sessionCatalog) Capabilities() Capabilities {
	c := s.handle.Capabilities()
	c.NamespaceDefault = true
	return c
}

// Namespaces adds default to the root's.
func (s sessionCatalog) Namespaces(ctx context.Context, parent table.Identifier) iter.Seq2[table.Identifier, error] {
	if len(parent) > 0 {
		return s.handle.Namespaces(ctx, parent)
	}
	return func(yield func(table.Identifier, error) bool) {
		given := false
		for ns, err := range s.handle.Namespaces(ctx, nil) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !given && len(ns) > 0 && ns[0] >= sessionNamespace {
				given = true
				if ns[0] != sessionNamespace && !yield(table.Identifier{sessionNamespace}, nil) {
					return
				}
			}
			if !yield(ns, nil) {
				return
			}
		}
		if !given {
			yield(table.Identifier{sessionNamespace}, nil)
		}
	}
}

// LoadNamespace gives default no properties where nobody made it.
func (s sessionCatalog) LoadNamespace(ctx context.Context, ns table.Identifier) (iceberg.Properties, error) {
	p, err := s.handle.LoadNamespace(ctx, ns)
	if fault.Is(err, fault.NotFound) && isDefault(ns) {
		return iceberg.Properties{}, nil
	}
	return p, err
}

// Tables gives default no tables where nobody made it.
func (s sessionCatalog) Tables(ctx context.Context, ns table.Identifier) iter.Seq2[Entry, error] {
	if !isDefault(ns) {
		return s.handle.Tables(ctx, ns)
	}
	return func(yield func(Entry, error) bool) {
		for e, err := range s.handle.Tables(ctx, ns) {
			if fault.Is(err, fault.NotFound) {
				return
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

func isDefault(ns table.Identifier) bool { return slices.Equal(ns, table.Identifier{sessionNamespace}) }
