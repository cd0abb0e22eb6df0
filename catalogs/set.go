package catalogs

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
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
// A table that was loaded is given out from memory for as long as cache-enabled and cache.expiration-interval-ms say, counted from its load, so a commit of
// others shows after that time at the latest, or at once after REFRESH TABLE. A table whose credentials end soon is loaded again before. After that time
// the catalog is asked, and told what is held, so that it may answer "unchanged" instead of sending the metadata again.
type Set struct {
	definitions map[string]Definition
	slots       map[string]*slot
	names       []string
	cache       cache
	guards      map[string]*breaker
	reports     reports            // sent from Open on
	opening     sync.WaitGroup     // of Open
	leave       context.CancelFunc // ends what Open began
	log         *slog.Logger
}

// NewSet checks that no two catalogs share a name, and opens nothing.
func NewSet(c SetConfig) (*Set, error) {
	if c.Open == nil {
		return nil, fault.New(fault.Internal, "catalogs: no opener")
	}
	s := &Set{definitions: map[string]Definition{}, slots: map[string]*slot{}, guards: map[string]*breaker{}, log: c.Log, leave: func() {}}
	s.reports.queue = make(chan report, maxReports)
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.cache.now = c.Now; c.Now == nil {
		s.cache.now = time.Now
	}
	for _, d := range c.Definitions {
		if _, taken := s.Definition(d.Name); taken {
			return nil, fault.New(fault.Invalid, "the catalog %s is configured twice", d.Name)
		}
		s.definitions[d.Name] = d
		s.guards[d.Name] = &breaker{name: d.Name, now: s.cache.now}
		s.slots[d.Name] = newSlot(func(ctx context.Context) (Catalog, error) { return openWhole(ctx, c.Open, d, c.Locations) })
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
	h := handle{Catalog: c, breaker: s.guards[d.Name], files: d.Class.Session}
	if d.Class.Session {
		return sessionCatalog{h}, nil
	}
	return h, nil
}

// Load gives a table or view, from memory or by the catalog. Catalog is filled in. Metadata is nil where the catalog knows only the location. Plain files that are
// not Parquet are fault.Unsupported.
func (s *Set) Load(ctx context.Context, catalog string, id table.Identifier, reference, principal string) (*Table, error) {
	d, ok := s.Definition(catalog)
	if !ok {
		return nil, notFound(catalog, s.names)
	}
	keep, err := d.retention()
	if err != nil {
		return nil, err
	}
	if keep == 0 {
		return s.ask(ctx, d, LoadRequest{Identifier: id, Reference: reference, Principal: principal}, nil)
	}
	known, whole, forgotten := s.cache.get(d.cacheKey(id, reference, principal), keep)
	if whole {
		return known.copied(), nil
	}
	return s.ask(ctx, d, LoadRequest{Identifier: id, Reference: reference, Principal: principal, Fresh: forgotten}, known)
}

// cacheKey names a load of the catalog's; cache.case-sensitive=false makes one of names that differ in case alone.
func (d Definition) cacheKey(id table.Identifier, reference, principal string) cacheKey {
	name := joined(id)
	if strings.EqualFold(d.Properties["cache.case-sensitive"], "false") {
		name = strings.ToLower(name)
	}
	return cacheKey{catalog: d.Name, table: name, reference: reference, principal: principal}
}

// ask loads by the catalog. known is what an earlier load gave, whose metadata an answer of "unchanged" stands for; nil: nothing.
func (s *Set) ask(ctx context.Context, d Definition, req LoadRequest, known *Table) (*Table, error) {
	c, err := s.Catalog(ctx, d.Name)
	if err != nil {
		return nil, err
	}
	if req.Reference != "" && !c.Capabilities().References {
		return nil, fault.New(fault.Unsupported, "catalog %s has no branches, tags and commits of its own: it cannot be read at %q", d.Name, req.Reference).
			Change("skua.catalog-reference." + d.Name)
	}
	key := d.cacheKey(req.Identifier, req.Reference, req.Principal)
	if known != nil && c.Capabilities().Unchanged {
		req.Held = known.MetadataLocation
	}
	era := s.cache.era()
	t, err := c.Load(ctx, req)
	if err != nil {
		if fault.Is(err, fault.NotFound) {
			s.cache.drop(key)
		}
		return nil, err
	}
	out, err := s.accept(d, req.Identifier, t)
	if err != nil {
		return nil, err
	}
	if out.Metadata == nil && req.Held != "" && out.MetadataLocation == req.Held {
		out.Metadata = known.Metadata
	}
	again := req
	again.Held, again.Fresh = "", true
	out.renew = func(ctx context.Context) (*Table, error) { return s.ask(ctx, d, again, nil) }
	if out.Kind == KindFiles && out.Files.Listed {
		out.partitions = func(ctx context.Context, names []string) iter.Seq2[Partition, error] {
			return s.listPartitions(ctx, d, PartitionRequest{Identifier: req.Identifier, Principal: req.Principal, Names: names})
		}
	}
	if keep, err := d.retention(); err == nil && keep != 0 {
		s.cache.put(key, out, era)
		return out.copied(), nil
	}
	return out, nil
}

// accept checks what a catalog answered.
func (s *Set) accept(d Definition, id table.Identifier, t *Table) (*Table, error) {
	name := strings.Join(append([]string{d.Name}, id...), ".")
	if t == nil || (t.Kind != KindFiles && t.MetadataLocation == "" && len(t.Metadata) == 0) {
		return nil, fault.New(fault.Internal, "load %s: the catalog answered without metadata", name).In(name)
	}
	switch {
	case t.Kind != KindFiles:
	case t.Format != "parquet":
		return nil, fault.New(fault.Unsupported, "%s is no Iceberg table: tables of plain files (%s) are not supported, only Parquet files are", name, t.Format).In(name)
	case t.Files == nil:
		return nil, fault.New(fault.Unsupported, "%s is no Iceberg table, and its catalog's plugin does not tell where its files are", name).In(name)
	}
	out := *t
	out.Catalog = d.Name
	switch {
	case len(out.Identifier) == 0:
		out.Identifier = slices.Clone(id)
	case !slices.EqualFunc(out.Identifier, id, strings.EqualFold): // settings and caches go by the name
		return nil, fault.New(fault.Unavailable, "load %s: the catalog answered with another table, %q", name, out.Identifier).In(name)
	}
	return &out, nil
}

// listPartitions asks a catalog for the partitions of a table that it loaded.
func (s *Set) listPartitions(ctx context.Context, d Definition, req PartitionRequest) iter.Seq2[Partition, error] {
	c, err := s.Catalog(ctx, d.Name)
	if err != nil {
		return func(yield func(Partition, error) bool) { yield(Partition{}, err) }
	}
	return partitionsOf(ctx, c, req)
}

// Refresh forgets a table, for every reference and principal: the next Load brings its metadata again.
func (s *Set) Refresh(catalog string, id table.Identifier) {
	if d, ok := s.Definition(catalog); ok {
		s.cache.forget(d.Name, d.cacheKey(id, "", "").table)
	}
}

// Open begins to open every catalog, all at once, and returns without waiting for them; it is called at most once, before Close. A catalog that fails is logged, and
// opened again at its first use.
func (s *Set) Open(ctx context.Context) {
	ctx, s.leave = context.WithCancel(context.WithoutCancel(ctx))
	s.reports.sender.Go(func() { s.sendReports(ctx) })
	for _, name := range s.names {
		s.opening.Go(func() {
			if _, err := s.slots[name].get(ctx); err != nil && ctx.Err() == nil {
				s.log.Warn("a catalog cannot be opened", "catalog", name, "error", err.Error())
			}
		})
	}
}

// Close ends opens that still run and closes every catalog. Later calls fail with fault.Unavailable.
func (s *Set) Close() error {
	s.leave()
	s.opening.Wait()
	s.reports.sender.Wait()
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
