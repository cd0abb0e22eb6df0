package engine

import (
	"context"
	"strings"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
)

// onlyMatch gives the one text that a pattern matches, if it is only one.
func onlyMatch(pattern *string) (string, bool) {
	if pattern == nil {
		return "", false
	}
	var b strings.Builder
	for p := *pattern; p != ""; p = p[1:] {
		switch p[0] {
		case '%', '_':
			return "", false
		case '\\':
			if p = p[1:]; p == "" {
				return "", false
			}
		}
		b.WriteByte(p[0])
	}
	return b.String(), true
}

// points finds the tables that a filter may mean in each of its catalogs; false: they must be listed.
func (e *Engine) points(ctx context.Context, f TableFilter) (out []TableEntry, known bool) {
	for _, name := range e.CatalogNames() {
		if f.Catalog != nil && *f.Catalog != name {
			continue
		}
		entry, known := e.point(ctx, name, f)
		if !known {
			return nil, false
		}
		if entry != nil {
			out = append(out, *entry)
		}
	}
	return out, true
}

// point finds the one table that a filter may mean in a catalog, where it names schema and table in full: a catalog of very many tables is then
// not listed. It does not know where it is no such filter, or where the catalog does not answer.
func (e *Engine) point(ctx context.Context, catalog string, f TableFilter) (entry *TableEntry, known bool) {
	schema, exactSchema := onlyMatch(f.SchemaPattern)
	name, exactName := onlyMatch(f.NamePattern)
	if !exactSchema || !exactName || schema == "" {
		return nil, false
	}
	levels, err := ParseSchemaName(schema)
	if err != nil || SchemaName(levels) != schema {
		return nil, err == nil // listings never spell a schema so
	}
	loaded, err := e.config.Catalogs.Load(ctx, catalog, append(levels, name), "", "")
	if err != nil {
		return nil, fault.Is(err, fault.NotFound)
	}
	found := catalogs.Entry{Identifier: append(levels, name), Kind: loaded.Kind}
	out := &TableEntry{Catalog: catalog, Schema: schema, Name: name, Type: typeOfEntry(found)}
	if !wanted(out.Type, f.Types) {
		return nil, true
	}
	if f.WithSchema {
		out.Columns = e.columnsOf(ctx, catalog, found)
	}
	return out, true
}
