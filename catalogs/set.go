package catalogs

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

// sparkCatalog is the one catalog whose name matches in any case.
const sparkCatalog = "spark_catalog"

// Opener opens a configured catalog. The Catalog it returns stays valid until it is closed: what serves it may die and is started again.
type Opener func(ctx context.Context, d Definition, locations storage.Map) (Catalog, error)

// SetConfig is what NewSet needs.
type SetConfig struct {
	Definitions []Definition
	Open        Opener
	Locations   storage.Map
	Now         func() time.Time // nil: time.Now
	Log         *slog.Logger     // nil: nothing is logged
}

// Set is the configured catalogs. Each is opened once, at its first use; an open that fails is tried again at the next. It is safe for
// concurrent use.
//
// Reads are never stale: every Load asks the catalog. What the Set remembers of a table, for as long as cache-enabled and
// cache.expiration-interval-ms say, is its metadata location, so that the catalog may answer "unchanged" instead of sending the metadata
// again. Those properties therefore change the cost of a load and never its answer.
type Set struct {
	definitions map[string]Definition
	slots       map[string]*slot
	names       []string
	held        held
	log         *slog.Logger
}

// NewSet checks that no two catalogs share a name, and opens nothing.
func NewSet(c SetConfig) (*Set, error) {
	if c.Open == nil {
		return nil, fault.New(fault.Internal, "catalogs: no opener")
	}
	s := &Set{definitions: map[string]Definition{}, slots: map[string]*slot{}, log: c.Log}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.held.now = c.Now; c.Now == nil {
		s.held.now = time.Now
	}
	for _, d := range c.Definitions {
		if _, taken := s.Definition(d.Name); taken {
			return nil, fault.New(fault.Invalid, "the catalog %s is configured twice", d.Name)
		}
		s.definitions[d.Name] = d
		s.slots[d.Name] = newSlot(func(ctx context.Context) (Catalog, error) { return c.Open(ctx, d, c.Locations) })
	}
	s.names = slices.Sorted(maps.Keys(s.definitions))
	return s, nil
}

// Names gives every configured catalog in byte order.
func (s *Set) Names() []string { return slices.Clone(s.names) }

// Definition finds a configured catalog; the name's case counts, except for spark_catalog.
func (s *Set) Definition(name string) (Definition, bool) {
	if d, ok := s.definitions[name]; ok {
		return d, true
	}
	if !strings.EqualFold(name, sparkCatalog) {
		return Definition{}, false
	}
	for k, d := range s.definitions {
		if strings.EqualFold(k, sparkCatalog) {
			return d, true
		}
	}
	return Definition{}, false
}

// Catalog gives a catalog, opened at its first use; callers that come meanwhile wait for the same open. The Set keeps and closes it: its own
// Close does nothing. An unknown name is fault.NotFound with the nearest one.
func (s *Set) Catalog(ctx context.Context, name string) (Catalog, error) {
	d, ok := s.Definition(name)
	if !ok {
		return nil, notFound(name, s.names)
	}
	c, err := s.slots[d.Name].get(ctx)
	if err != nil {
		if doing := "open catalog " + d.Name; !strings.Contains(err.Error(), doing) {
			return nil, fault.Wrap(err, "%s", doing)
		}
		return nil, err
	}
	if d.Class.Session {
		return sessionCatalog{handle{c}}, nil
	}
	return handle{c}, nil
}

// Load asks a catalog for a table or view. Catalog is filled in. Metadata is nil where the catalog says that the location handed out at the last
// load still holds, and where it knows only the location. Plain files are fault.Unsupported.
func (s *Set) Load(ctx context.Context, catalog string, id table.Identifier, reference, principal string) (*Table, error) {
	d, ok := s.Definition(catalog)
	if !ok {
		return nil, notFound(catalog, s.names)
	}
	c, err := s.Catalog(ctx, catalog)
	if err != nil {
		return nil, err
	}
	keep, err := d.retention()
	if err != nil {
		return nil, err
	}
	key := heldKey{catalog: d.Name, table: joined(id), reference: reference, principal: principal}
	req := LoadRequest{Identifier: id, Reference: reference, Principal: principal}
	if keep != 0 && c.Capabilities().Unchanged {
		req.Held = s.held.get(key, keep)
	}
	t, err := c.Load(ctx, req)
	if err != nil {
		if fault.Is(err, fault.NotFound) {
			s.held.drop(key)
		}
		return nil, err
	}
	out, err := s.accept(d, id, key, keep, t)
	if err == nil {
		out.renew = func(ctx context.Context) (*Table, error) { return s.renew(ctx, d, req) }
	}
	return out, err
}

// renew asks for a table that was loaded before, for credentials that nobody was given yet.
func (s *Set) renew(ctx context.Context, d Definition, req LoadRequest) (*Table, error) {
	c, err := s.Catalog(ctx, d.Name)
	if err != nil {
		return nil, err
	}
	req.Fresh = true
	return c.Load(ctx, req)
}

// accept checks what a catalog answered and remembers its location.
func (s *Set) accept(d Definition, id table.Identifier, key heldKey, keep time.Duration, t *Table) (*Table, error) {
	name := strings.Join(append([]string{d.Name}, id...), ".")
	if t == nil || (t.Kind != KindFiles && t.MetadataLocation == "" && len(t.Metadata) == 0) {
		return nil, fault.New(fault.Internal, "load %s: the catalog answered without metadata", name).In(name)
	}
	if t.Kind == KindFiles {
		return nil, fault.New(fault.Unsupported, "%s is no Iceberg table: tables of plain files are not supported", name).In(name)
	}
	out := *t
	out.Catalog = d.Name
	switch {
	case len(out.Identifier) == 0:
		out.Identifier = slices.Clone(id)
	case !slices.EqualFunc(out.Identifier, id, strings.EqualFold): // settings and caches go by the name
		return nil, fault.New(fault.Unavailable, "load %s: the catalog answered with another table, %q", name, out.Identifier).In(name)
	}
	if keep != 0 && out.MetadataLocation != "" {
		s.held.put(key, out.MetadataLocation)
	}
	return &out, nil
}

// Refresh forgets a table, for every reference and principal: the next Load brings its metadata again.
func (s *Set) Refresh(catalog string, id table.Identifier) {
	if d, ok := s.Definition(catalog); ok {
		s.held.dropTable(d.Name, joined(id))
	}
}

// Close ends opens that still run and closes every catalog. Later calls fail with fault.Unavailable.
func (s *Set) Close() error {
	var failed []error
	for _, name := range s.names {
		if err := s.slots[name].close(); err != nil {
			failed = append(failed, fault.Wrap(err, "close catalog %s", name))
		}
	}
	return errors.Join(failed...)
}

// notFound is Spark's error for a catalog that is not configured.
func notFound(name string, known []string) error {
	return fault.New(fault.NotFound, "The catalog `%s` not found. Consider to set the SQL config \"spark.sql.catalog.%s\" to a catalog plugin.%s",
		strings.ReplaceAll(name, "`", "``"), name, suggest(name, known)).With("CATALOG_NOT_FOUND", "42P08").Change("spark.sql.catalog." + name)
}
