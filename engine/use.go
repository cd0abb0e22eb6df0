package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/session"
)

const (
	sessionCatalog = "spark_catalog"
	defaultCatalog = "spark.sql.defaultCatalog"
)

// parseUse reads USE [CATALOG | NAMESPACE | DATABASE | SCHEMA] name.
func parseUse(p *syntax.Parser) (*command, error) {
	onlyCatalog := p.Keyword("CATALOG")
	onlyNamespace := !onlyCatalog && (p.Keyword("NAMESPACE") || p.Keyword("DATABASE") || p.Keyword("SCHEMA"))
	name, err := p.Name()
	if err != nil {
		return nil, err
	}
	parts := syntax.Texts(name)
	return &command{name: "USE", update: true, columns: affectedRows, run: func(ctx context.Context, s *statement) ([]row, error) {
		e := s.engine
		catalog, isCatalog := e.catalogName(parts[0])
		switch {
		case onlyCatalog && len(parts) == 1:
			return noEffect, e.Use(ctx, s.session, parts[0], nil, true, false)
		case onlyCatalog:
			return nil, e.catalogNotFound(strings.Join(parts, "."))
		case isCatalog && !onlyNamespace:
			return noEffect, e.Use(ctx, s.session, catalog, parts[1:], true, len(parts) > 1)
		}
		return noEffect, e.Use(ctx, s.session, "", parts, false, true)
	}}, p.End()
}

// Use changes a session's current catalog, its current namespace, or both: what USE and a driver's catalog and schema options do. A new
// catalog without a namespace begins at the catalog's default one. The namespace must exist.
func (e *Engine) Use(ctx context.Context, s *session.Session, catalog string, namespace []string, setCatalog, setNamespace bool) error {
	next := s.State()
	if setCatalog {
		name, ok := e.catalogName(catalog)
		if !ok {
			return e.catalogNotFound(catalog)
		}
		if _, err := e.config.Catalogs.Catalog(ctx, name); err != nil {
			return err
		}
		next.Catalog, next.Namespace = name, e.defaultNamespace(name)
	}
	if setNamespace {
		if err := e.namespaceExists(ctx, next.Catalog, namespace); err != nil {
			return err
		}
		next.Namespace = slices.Clone(namespace)
	}
	return s.Update(func(st session.State) (session.State, error) {
		st.Catalog, st.Namespace = next.Catalog, next.Namespace
		return st, nil
	})
}

// namespaceExists gives SCHEMA_NOT_FOUND for a namespace that the catalog lacks. The root always exists.
func (e *Engine) namespaceExists(ctx context.Context, catalog string, namespace []string) error {
	if catalog == "" {
		return noCatalog()
	}
	if len(namespace) == 0 {
		return nil
	}
	c, err := e.config.Catalogs.Catalog(ctx, catalog)
	if err != nil {
		return err
	}
	_, err = c.LoadNamespace(ctx, namespace)
	if fault.Is(err, fault.NotFound) {
		return schemaNotFound(append([]string{catalog}, namespace...), e.nearNamespace(ctx, catalog, namespace))
	}
	return err
}

// nearNamespace suggests a sibling, or a catalog that is spelled alike.
func (e *Engine) nearNamespace(ctx context.Context, catalog string, namespace []string) string {
	c, err := e.config.Catalogs.Catalog(ctx, catalog)
	if err != nil {
		return ""
	}
	last := len(namespace) - 1
	var known []string
	for n, err := range c.Namespaces(ctx, table.Identifier(namespace[:last])) {
		if err != nil || len(known) == maxListed {
			break
		}
		known = append(known, n[len(n)-1])
	}
	if last == 0 {
		known = append(known, e.config.Catalogs.Names()...)
	}
	return didYouMean(namespace[last], known)
}

// maxListed bounds how many names are listed to find a near one.
const maxListed = 2000

func noCatalog() error {
	return fault.New(fault.NotFound, "no catalog is current: choose one with USE, or name it in front of the namespace").Change(defaultCatalog)
}

// catalogName gives a configured catalog's name as configured. Names are case-sensitive but for spark_catalog.
func (e *Engine) catalogName(name string) (string, bool) {
	d, ok := e.config.Catalogs.Definition(name)
	return d.Name, ok
}

func (e *Engine) defaultNamespace(catalog string) []string {
	d, _ := e.config.Catalogs.Definition(catalog)
	return d.DefaultNamespace()
}

// NewState gives the state of a fresh session: startup is the operator's configuration. The current catalog is the one of
// spark.sql.defaultCatalog, else spark_catalog if it is configured, else the only configured one, else none.
func (e *Engine) NewState(startup session.Conf) (session.State, error) {
	st := session.State{Startup: startup}
	name, set := startup.Get(defaultCatalog)
	names := e.config.Catalogs.Names()
	switch {
	case set:
		if _, ok := e.catalogName(name); !ok {
			return st, e.catalogNotFound(name)
		}
	case len(names) == 1:
		name = names[0]
	default:
		name = sessionCatalog
	}
	if found, ok := e.catalogName(name); ok {
		st.Catalog, st.Namespace = found, e.defaultNamespace(found)
	}
	return st, nil
}
