package engine

import (
	"context"
	"slices"
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

// point finds the one table that a filter may mean in a catalog, where it names schema and table in full: a catalog of very many tables is then
// not listed. It does not know where it is no such filter, or where the catalog does not answer. The error is of its columns, as lookUp has it.
func (e *Engine) point(ctx context.Context, catalog string, f TableFilter) (entry *TableEntry, known bool, err error) {
	schema, exact := onlyMatch(f.SchemaPattern)
	if !exact || schema == "" {
		return nil, false, nil
	}
	if _, exact = onlyMatch(f.NamePattern); !exact {
		return nil, false, nil
	}
	levels, err := ParseSchemaName(schema)
	if err != nil || SchemaName(levels) != schema {
		return nil, err == nil, nil // listings never spell a schema so
	}
	return e.pointAt(ctx, place{catalog, levels}, f)
}

// pointIn yields the one table of a namespace that a filter may mean, where it names the table in full. It does not know as point does not.
func (e *Engine) pointIn(ctx context.Context, p place, f TableFilter, yield func(TableEntry) bool) (known bool, err error) {
	if _, exact := onlyMatch(f.NamePattern); !exact || len(p.levels) == 0 {
		return false, nil
	}
	entry, known, err := e.pointAt(ctx, p, f)
	if err == nil && entry != nil && !yield(*entry) {
		err = errStopped
	}
	return known, err
}

// pointAt finds the table of a namespace that has the name which the filter's pattern means.
func (e *Engine) pointAt(ctx context.Context, p place, f TableFilter) (entry *TableEntry, known bool, err error) {
	name, _ := onlyMatch(f.NamePattern)
	identifier := append(slices.Clone(p.levels), name)
	loaded, err := e.config.Catalogs.Load(ctx, p.catalog, identifier, "", "")
	if err != nil {
		return nil, fault.Is(err, fault.NotFound), nil
	}
	t := listed{entry: catalogs.Entry{Identifier: identifier, Kind: loaded.Kind}}
	t.out = TableEntry{Catalog: p.catalog, Schema: SchemaName(p.levels), Name: name, Type: typeOfEntry(t.entry)}
	if !wanted(t.out.Type, f.Types) {
		return nil, true, nil
	}
	one := []listed{t}
	if err := e.lookUp(ctx, p.catalog, f, one); err != nil {
		return nil, false, err
	}
	return &one[0].out, true, nil
}
