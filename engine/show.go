package engine

import (
	"context"
	"regexp"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
)

// like reads an optional [LIKE] 'pattern'.
func like(p *syntax.Parser) (matcher, error) {
	if !p.Keyword("LIKE") && p.End() == nil {
		return everything, nil
	}
	pattern, err := p.String()
	return showPattern(pattern), err
}

// likeNamed is like for commands that list tables, which catalogs are told of; nil: every table.
func likeNamed(p *syntax.Parser) (*regexp.Regexp, error) {
	if !p.Keyword("LIKE") && p.End() == nil {
		return nil, nil
	}
	pattern, err := p.String()
	return showNames(pattern), err
}

// in reads an optional FROM or IN with a name.
func in(p *syntax.Parser) ([]string, error) {
	if !p.Keyword("FROM") && !p.Keyword("IN") {
		return nil, nil
	}
	name, err := p.Name()
	return syntax.Texts(name), err
}

func parseShowCatalogs(p *syntax.Parser) (*command, error) {
	match, err := like(p)
	if err != nil {
		return nil, err
	}
	return &command{name: "SHOW CATALOGS", columns: columns(text("catalog")), run: func(_ context.Context, s *statement) ([]row, error) {
		var rows []row
		for _, n := range s.engine.config.Catalogs.Names() {
			if match(n) {
				rows = append(rows, row{n})
			}
		}
		return rows, nil
	}}, p.End()
}

func parseShowCurrent(p *syntax.Parser) (*command, error) {
	if !p.Keyword("NAMESPACE") && !p.Keyword("SCHEMA") && !p.Keyword("DATABASE") {
		return nil, unsupported("SHOW CURRENT is not supported but for NAMESPACE")
	}
	return &command{name: "SHOW CURRENT NAMESPACE", moment: true, columns: columns(text("catalog"), text("namespace")), run: func(_ context.Context, s *statement) ([]row, error) {
		st := s.session.State()
		return []row{{st.Catalog, syntax.QuoteName(st.Namespace)}}, nil
	}}, p.End()
}

func parseShowNamespaces(p *syntax.Parser) (*command, error) {
	from, err := in(p)
	if err != nil {
		return nil, err
	}
	match, err := like(p)
	if err != nil {
		return nil, err
	}
	return &command{name: "SHOW NAMESPACES", columns: columns(text("namespace")), run: func(ctx context.Context, s *statement) ([]row, error) {
		catalog, parent, err := s.namespace(ctx, from)
		if err != nil {
			return nil, err
		}
		if from == nil {
			parent = nil // the current catalog's, not the current namespace's
		}
		c, err := s.engine.config.Catalogs.Catalog(ctx, catalog)
		if err != nil {
			return nil, err
		}
		var rows []row
		for n, err := range c.Namespaces(ctx, parent) {
			if err != nil {
				return nil, err
			}
			if name := syntax.QuoteName(n); match(name) {
				rows = append(rows, row{name})
			}
		}
		return rows, nil
	}}, p.End()
}

// parseShowDatabases reads SHOW DATABASES, which is SHOW NAMESPACES. Alone it is what Power BI asks first, for a column of another name than Spark's.
func parseShowDatabases(p *syntax.Parser) (*command, error) {
	alone := p.End() == nil
	c, err := parseShowNamespaces(p)
	if alone && err == nil {
		c.columns, c.spark, c.moment = columns(text("database_name")), c.columns, true
	}
	return c, err
}

// viewColumn is what SHOW VIEWS calls the names of views.
const viewColumn = "viewName"

// listing makes the command that lists the entries of one kind in a namespace.
func listing(p *syntax.Parser, name, column string, kinds ...catalogs.Kind) (*command, error) {
	from, err := in(p)
	if err != nil {
		return nil, err
	}
	names, err := likeNamed(p)
	if err != nil {
		return nil, err
	}
	match := matching(names)
	schema := columns(text("namespace"), text(column), boolean("isTemporary"))
	return &command{name: name, views: true, columns: schema, run: func(ctx context.Context, s *statement) ([]row, error) {
		if s.isInformationSchema(from) {
			return systemEntries(match, kinds), nil
		}
		catalog, namespace, err := s.namespace(ctx, from)
		if err != nil {
			return nil, err
		}
		rows, err := s.entries(catalogs.WithNames(ctx, names), catalog, namespace, func(e catalogs.Entry) (row, bool) {
			last := e.Identifier[len(e.Identifier)-1]
			return row{syntax.QuoteName(namespace), last, false}, oneOf(e.Kind, kinds) && match(last)
		})
		if err != nil || column != viewColumn && catalog != sessionCatalog {
			return rows, err
		}
		for _, v := range s.fresh().state.Objects.Views() { // Spark lists them beside a catalog's views, and beside the tables of its own catalog
			if match(v.Name) {
				rows = append(rows, row{"", v.Name, true})
			}
		}
		return rows, nil
	}}, p.End()
}

func oneOf(kind catalogs.Kind, kinds []catalogs.Kind) bool {
	for _, k := range kinds {
		if k == kind {
			return true
		}
	}
	return false
}

// entries lists a namespace and keeps the rows that pick takes. A catalog without tables at its root has none there.
func (s *statement) entries(ctx context.Context, catalog string, namespace []string, pick func(catalogs.Entry) (row, bool)) ([]row, error) {
	c, err := s.engine.config.Catalogs.Catalog(ctx, catalog)
	if err != nil {
		return nil, err
	}
	if len(namespace) == 0 && !c.Capabilities().RootTables {
		return nil, nil
	}
	var rows []row
	for entry, err := range c.Tables(ctx, namespace) {
		if err != nil {
			return nil, err
		}
		if r, ok := pick(entry); ok {
			rows = append(rows, r)
		}
	}
	return rows, nil
}

func parseShowTables(p *syntax.Parser) (*command, error) {
	return listing(p, "SHOW TABLES", "tableName", catalogs.KindTable, catalogs.KindFiles)
}

func parseShowViews(p *syntax.Parser) (*command, error) {
	return listing(p, "SHOW VIEWS", viewColumn, catalogs.KindView)
}

// parseShowColumns reads SHOW COLUMNS (FROM | IN) table [(FROM | IN) namespace].
func parseShowColumns(p *syntax.Parser) (*command, error) {
	name, err := in(p)
	if err != nil {
		return nil, err
	}
	namespace, err := in(p)
	if err != nil {
		return nil, err
	}
	if name == nil {
		return nil, fault.New(fault.Invalid, "SHOW COLUMNS needs a table: SHOW COLUMNS IN table").With("PARSE_SYNTAX_ERROR", "42601")
	}
	if namespace != nil {
		name = append(namespace, name[len(name)-1])
	}
	return &command{name: "SHOW COLUMNS", columns: columns(text("col_name")), run: func(ctx context.Context, s *statement) ([]row, error) {
		d, _, err := s.describe(ctx, name)
		if err != nil {
			return nil, err
		}
		var rows []row
		for _, c := range d.Columns {
			rows = append(rows, row{c.Name})
		}
		return rows, nil
	}}, p.End()
}

// parseShowOther reads SHOW FUNCTIONS, before which words may stand, and names the SHOW that is not built.
func parseShowOther(p *syntax.Parser) (*command, error) {
	if c, err := parseShowFunctions(p); c != nil || err != nil {
		return c, err
	}
	for _, what := range []string{"PROCEDURES", "ROLES", "GRANTS"} {
		if p.Keyword(what) {
			return nil, unsupported("SHOW %s is not supported", what)
		}
	}
	return nil, unsupported("this form of SHOW is not supported")
}
