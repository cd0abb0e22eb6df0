package catalogs

import (
	"context"
	"iter"
	"slices"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/fault"
)

// Flat is Namespaces of a catalog with one level of them: those that names gives in any order, and nothing below one that load knows.
func Flat(ctx context.Context, parent table.Identifier, names func(context.Context) ([]string, error),
	load func(context.Context, table.Identifier) (iceberg.Properties, error)) iter.Seq2[table.Identifier, error] {
	return func(yield func(table.Identifier, error) bool) {
		if len(parent) > 0 {
			if _, err := load(ctx, parent); err != nil {
				yield(nil, err)
			}
			return
		}
		all, err := names(ctx)
		if err != nil {
			yield(nil, fault.Wrap(err, "list namespaces"))
			return
		}
		slices.Sort(all)
		for _, name := range all {
			if !yield(table.Identifier{name}, nil) {
				return
			}
		}
	}
}
