package plugins_test

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/catalogs/catalogtest"
	"github.com/skua-data/skua/fault"
)

var content = catalogtest.Expected{
	Capabilities: catalogs.Capabilities{NestedNamespaces: true, RootTables: true, Views: true, Files: true, Unchanged: true},
	Namespaces: []catalogtest.Namespace{
		{Identifier: table.Identifier{"a"}, Properties: iceberg.Properties{"location": "s3://b/a", "comment": "☃\n\x00"}},
		{Identifier: table.Identifier{"a", "b.c"}}, {Identifier: table.Identifier{"a", "b.c", "d e"}}, {Identifier: table.Identifier{"empty"}},
	},
	Tables: []catalogtest.Table{
		{Identifier: table.Identifier{"rooted"}, MetadataLocation: "s3://b/r"},
		{Identifier: table.Identifier{"a", "t"}, MetadataLocation: "s3://b/t"},
		{Identifier: table.Identifier{"a", "uni ☃"}, Kind: catalogs.KindView, MetadataLocation: "s3://b/u"},
		{Identifier: table.Identifier{"a", "b.c", "d e", "f"}, Kind: catalogs.KindFiles, MetadataLocation: "s3://b/f", LocationOnly: true},
	},
}

// inMemory is a catalog of content.
func inMemory() *fake {
	key := func(id table.Identifier) string { return strings.Join(append([]string{"root"}, id...), "\x01") }
	properties, loaded := map[string]iceberg.Properties{"root": nil}, map[string]catalogtest.Table{}
	for _, ns := range content.Namespaces {
		properties[key(ns.Identifier)] = ns.Properties
	}
	for _, t := range content.Tables {
		loaded[key(t.Identifier)] = t
	}
	exists := func(ctx context.Context, ns table.Identifier) error {
		if _, ok := properties[key(ns)]; !ok {
			return fault.New(fault.NotFound, "no namespace %q", ns)
		}
		return ctx.Err()
	}
	child := func(parent, id table.Identifier) bool {
		return len(id) == len(parent)+1 && slices.Equal(id[:len(parent)], parent)
	}
	return &fake{
		capabilities: content.Capabilities,
		namespaces: func(ctx context.Context, parent table.Identifier) iter.Seq2[table.Identifier, error] {
			return func(yield func(table.Identifier, error) bool) {
				if err := exists(ctx, parent); err != nil {
					yield(nil, err)
					return
				}
				for _, name := range slices.Sorted(maps.Keys(properties)) {
					if id := table.Identifier(strings.Split(name, "\x01")[1:]); child(parent, id) && !yield(id, nil) {
						return
					}
				}
			}
		},
		properties: func(ctx context.Context, ns table.Identifier) (iceberg.Properties, error) {
			return properties[key(ns)], exists(ctx, ns)
		},
		tables: func(ctx context.Context, ns table.Identifier) iter.Seq2[catalogs.Entry, error] {
			return func(yield func(catalogs.Entry, error) bool) {
				if err := exists(ctx, ns); err != nil {
					yield(catalogs.Entry{}, err)
					return
				}
				for _, name := range slices.Sorted(maps.Keys(loaded)) {
					if t := loaded[name]; child(ns, t.Identifier) && !yield(catalogs.Entry{Identifier: t.Identifier, Kind: t.Kind}, nil) {
						return
					}
				}
			}
		},
		load: func(ctx context.Context, req catalogs.LoadRequest) (*catalogs.Table, error) {
			t, ok := loaded[key(req.Identifier)]
			if !ok {
				return nil, fault.New(fault.NotFound, "no table %q", req.Identifier)
			}
			out := &catalogs.Table{Identifier: t.Identifier, Kind: t.Kind, MetadataLocation: t.MetadataLocation}
			if !t.LocationOnly && req.Held != t.MetadataLocation {
				out.Metadata = []byte(`{}`)
			}
			return out, ctx.Err()
		},
	}
}

func TestACatalogPassesTheSuiteAcrossTheProtocol(t *testing.T) {
	catalogtest.Run(t, func(t *testing.T) (catalogs.Catalog, catalogtest.Expected) {
		return remote(t, inMemory(), nil), content
	})
}
