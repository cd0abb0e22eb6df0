package engine

import (
	"context"
	"iter"

	"github.com/skua-data/skua/session"
)

// KeyEntry is a column of a table's key: one of its identifier fields.
type KeyEntry struct {
	Catalog, Schema, Table, Column string
	Sequence                       int // from 1
}

// Keys yields the identifier fields of the tables that f asks for. A table that cannot be read has none, with a log line; a catalog asked for by
// name that fails ends the listing with its error, as for Tables.
func (e *Engine) Keys(ctx context.Context, _ session.State, f TableFilter) iter.Seq2[KeyEntry, error] {
	return e.keys(e.listingContext(ctx), f)
}

// keys is Keys on the account of a statement.
func (e *Engine) keys(ctx context.Context, f TableFilter) iter.Seq2[KeyEntry, error] {
	f.WithSchema, f.withKey, f.Types = false, true, []string{TypeTable}
	return func(yield func(KeyEntry, error) bool) {
		for t, err := range e.tables(ctx, f) {
			if err != nil {
				yield(KeyEntry{}, err)
				return
			}
			for i, column := range t.key {
				if !yield(KeyEntry{Catalog: t.Catalog, Schema: t.Schema, Table: t.Name, Column: column, Sequence: i + 1}, nil) {
					return
				}
			}
		}
	}
}
