package engine

import (
	"context"
	"regexp"
	"strings"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// parseShowExtended reads SHOW TABLE EXTENDED [(FROM | IN) namespace] LIKE 'pattern'.
func parseShowExtended(p *syntax.Parser) (*command, error) {
	from, err := in(p)
	if err != nil {
		return nil, err
	}
	if !p.Keyword("LIKE") {
		return nil, p.Unexpected()
	}
	pattern, err := p.String()
	if err != nil {
		return nil, err
	}
	if p.Keyword("PARTITION") {
		return nil, unsupported("SHOW TABLE EXTENDED … PARTITION is not supported: Iceberg tables have no partition management").
			With("INVALID_PARTITION_OPERATION.PARTITION_MANAGEMENT_IS_UNSUPPORTED", "42601")
	}
	tables := showNames(pattern)
	schema := columns(text("namespace"), text("tableName"), boolean("isTemporary"), text("information"))
	return &command{name: "SHOW TABLE EXTENDED", views: true, columns: schema, run: func(ctx context.Context, s *statement) ([]row, error) {
		return s.showExtended(ctx, from, tables)
	}}, p.End()
}

func (s *statement) showExtended(ctx context.Context, from []string, tables *regexp.Regexp) ([]row, error) {
	match := matching(tables)
	catalog, namespace, err := s.namespace(ctx, from)
	if err != nil {
		return nil, err
	}
	names, err := s.entries(catalogs.WithNames(ctx, tables), catalog, namespace, func(e catalogs.Entry) (row, bool) {
		last := e.Identifier[len(e.Identifier)-1]
		return row{last}, e.Kind != catalogs.KindView && match(last)
	})
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, n := range names {
		name := n[0].(string)
		information, err := s.information(ctx, catalog, namespace, name)
		if fault.Is(err, fault.NotFound) {
			continue // dropped since it was listed
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{syntax.QuoteName(namespace), name, false, information})
	}
	return append(rows, s.shownTempViews(ctx, match)...), nil
}

// information is the text of one table, a fact a line. Spark spells the list of properties letter by letter; so do we, for those who parse it.
// A table that cannot be described says why and does not hide the others.
func (s *statement) information(ctx context.Context, catalog string, namespace []string, name string) (string, error) {
	var b strings.Builder
	line := func(key, value string) { b.WriteString(key + ": " + value + "\n") }
	line("Catalog", catalog)
	line("Namespace", syntax.QuoteName(namespace))
	line("Table", name)
	d, _, err := s.describe(ctx, append(append([]string{catalog}, namespace...), name))
	switch {
	case fault.Is(err, fault.Corrupt) || fault.Is(err, fault.Unsupported):
		line("Error", err.Error())
		return b.String(), nil
	case err != nil:
		return "", err
	}
	for _, p := range tableDetails(d) {
		line(p.Key, p.Value)
	}
	letters := strings.Split(propertyList(d.Properties), "")
	line("Table Properties", "["+strings.Join(letters, ", ")+"]")
	line("Schema", schemaTree(d.Columns))
	return b.String(), nil
}
