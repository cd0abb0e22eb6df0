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

// point finds the one table that a filter may mean in a catalog, where it names schema and table in full: a catalog of very many tables is then
// not listed. It does not know where it is no such filter, or where the catalog does not answer. The error is of its columns, as lookUp has it.
func (e *Engine) point(ctx context.Context, catalog string, f TableFilter) (entry *TableEntry, known bool, err error) {
	schema, exactSchema := onlyMatch(f.SchemaPattern)
	name, exactName := onlyMatch(f.NamePattern)
	if !exactSchema || !exactName || schema == "" {
		return nil, false, nil
	}
	levels, err := ParseSchemaName(schema)
	if err != nil || SchemaName(levels) != schema {
		return nil, err == nil, nil // listings never spell a schema so
	}
	loaded, err := e.config.Catalogs.Load(ctx, catalog, append(levels, name), "", "")
	if err != nil {
		return nil, fault.Is(err, fault.NotFound), nil
	}
	t := listed{entry: catalogs.Entry{Identifier: append(levels, name), Kind: loaded.Kind}}
	t.out = TableEntry{Catalog: catalog, Schema: schema, Name: name, Type: typeOfEntry(t.entry)}
	if !wanted(t.out.Type, f.Types) {
		return nil, true, nil
	}
	one := []listed{t}
	if err := e.lookUp(ctx, catalog, f, one); err != nil {
		return nil, false, err
	}
	return &one[0].out, true, nil
}
