package sdk_test

import (
	"context"
	"iter"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/plugins/sdk"
)

// single is a catalog with one table, sales.orders, whose metadata file the property metadata-location names.
type single struct{ location string }

var orders = table.Identifier{"sales", "orders"}

func (c single) Capabilities() catalogs.Capabilities { return catalogs.Capabilities{Unchanged: true} }
func (c single) Close() error                        { return nil }

func (c single) Namespaces(_ context.Context, parent table.Identifier) iter.Seq2[table.Identifier, error] {
	return func(yield func(table.Identifier, error) bool) {
		if len(parent) == 0 {
			yield(orders[:1], nil)
		}
	}
}

func (c single) LoadNamespace(_ context.Context, ns table.Identifier) (iceberg.Properties, error) {
	if len(ns) != 1 || ns[0] != orders[0] {
		return nil, fault.New(fault.NotFound, "namespace %v does not exist", ns)
	}
	return iceberg.Properties{"comment": "of the example"}, nil
}

func (c single) Tables(_ context.Context, _ table.Identifier) iter.Seq2[catalogs.Entry, error] {
	return func(yield func(catalogs.Entry, error) bool) { yield(catalogs.Entry{Identifier: orders}, nil) }
}

func (c single) Load(_ context.Context, req catalogs.LoadRequest) (*catalogs.Table, error) {
	if len(req.Identifier) != 2 || req.Identifier[0] != orders[0] || req.Identifier[1] != orders[1] {
		return nil, fault.New(fault.NotFound, "table %v does not exist", req.Identifier)
	}
	return &catalogs.Table{Identifier: orders, MetadataLocation: c.location}, nil // the server reads the file
}

func open(_ context.Context, config catalogs.Config) (catalogs.Catalog, error) {
	location := config.Properties["metadata-location"]
	if location == "" {
		return nil, fault.New(fault.Invalid, "catalog %s: metadata-location is not set", config.Name)
	}
	return single{location}, nil
}

// A whole plugin: Example stands for its main function.
func Example() {
	sdk.Serve(func(string) (catalogs.Constructor, error) { return open, nil }, sdk.WithVersion("1.0.0"))
}
