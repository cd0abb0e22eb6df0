package engine

import (
	"context"
	"iter"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/session"
)

// KeyEntry is a column of a table's key: one of its identifier fields.
type KeyEntry struct {
	Catalog, Schema, Table, Column string
	Sequence                       int // from 1
}

// Keys yields the identifier fields of the tables that f asks for. A table that cannot be read has none, with a log line; a catalog asked for by
// name that fails ends the listing with its error, as for Tables.
func (e *Engine) Keys(ctx context.Context, st session.State, f TableFilter) iter.Seq2[KeyEntry, error] {
	f.WithSchema, f.Types = false, []string{TypeTable}
	return func(yield func(KeyEntry, error) bool) {
		for t, err := range e.Tables(ctx, st, f) {
			if err != nil {
				yield(KeyEntry{}, err)
				return
			}
			columns, err := e.identifierOf(ctx, t)
			if err != nil && f.Catalog != nil && away(err) {
				yield(KeyEntry{}, fault.Wrap(err, "list catalog %s", t.Catalog))
				return
			}
			if err != nil {
				e.config.Log.Warn("key left out of a listing", "catalog", t.Catalog, "table", syntax.QuoteName([]string{t.Schema, t.Name}), "error", err.Error())
			}
			for i, column := range columns {
				if !yield(KeyEntry{Catalog: t.Catalog, Schema: t.Schema, Table: t.Name, Column: column, Sequence: i + 1}, nil) {
					return
				}
			}
		}
	}
}

// identifierOf gives the names of a table's identifier fields.
func (e *Engine) identifierOf(ctx context.Context, t TableEntry) ([]string, error) {
	identifier, err := entryIdentifier(t)
	if err != nil {
		return nil, err
	}
	loaded, err := e.config.Catalogs.Load(ctx, t.Catalog, identifier, "", "")
	if err != nil {
		return nil, err
	}
	opened, err := e.open(ctx, loaded)
	if err != nil {
		return nil, err
	}
	d, err := opened.Describe("")
	return d.Identifier, err
}

// entryIdentifier takes the spelling of an entry's schema apart.
func entryIdentifier(t TableEntry) ([]string, error) {
	if t.Schema == "" {
		return []string{t.Name}, nil
	}
	levels, err := ParseSchemaName(t.Schema)
	return append(levels, t.Name), err
}
