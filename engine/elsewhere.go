package engine

import (
	"context"
	"slices"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/engine/syntax"
)

// maxAsked bounds how many schemas are asked for a table whose name says none.
const maxAsked = 20

// elsewhere suggests the table of that name in another schema of the current catalog, for a name of one part: some tools leave the schema out that they were given.
func (s *statement) elsewhere(ctx context.Context, c catalogs.Catalog, f *found) string {
	if len(f.written) != 1 {
		return ""
	}
	asked := 0
	for schema, err := range c.Namespaces(ctx, nil) {
		if asked++; err != nil || asked > maxAsked {
			break
		}
		name := append(slices.Clone(schema), f.written[0])
		if _, err := s.engine.config.Catalogs.Load(ctx, f.catalog, name, s.catalogReference(f.catalog), s.principal); err == nil {
			return " Did you mean " + syntax.BackQuote(name...) + "?"
		}
	}
	return ""
}
