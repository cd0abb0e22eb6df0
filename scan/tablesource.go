package scan

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/scan/parquet"
)

// tableSource is an Iceberg table at a snapshot.
type tableSource struct {
	table    *Table
	at       at
	schema   *arrow.Schema
	metadata *arrow.Schema
	paths    map[int]fieldPath
	top      []arrow.Field               // of schema, then of metadata: what the paths index
	fields   map[int]iceberg.NestedField // of every schema, nested ones too
	types    map[int]iceberg.Type        // of top-level columns of every schema
	specs    map[int]*spec
	union    []iceberg.NestedField // fields of all specs
	names    *parquet.NameMapping  // nil: none
	columns  int                   // how many fields of schema are the table's
	span     *span                 // of an incremental scan; nil: the snapshot's rows
	changes  bool                  // it is the changelog
}

var _ Source = (*tableSource)(nil)

// Source is the table at a reference. A property that cannot be parsed and that the scan needs is refused here.
func (t *Table) Source(_ context.Context, r Reference) (Source, error) {
	if err := t.refuseReference(r); err != nil {
		return nil, err
	}
	where, err := t.resolve(r)
	if err != nil {
		return nil, err
	}
	if err := t.refuseUnbuilt(); err != nil {
		return nil, err
	}
	s := &tableSource{table: t, at: where, schema: t.files.exactSchema(arrowSchema(where.schema.Fields())), metadata: arrowSchema(t.metadataFields()),
		specs: specs(t.metadata), types: topTypes(t.metadata)}
	s.columns = s.schema.NumFields()
	if r.Kind == RefRange {
		if err := t.incremental(s, r.Range); err != nil {
			return nil, err
		}
	}
	s.union = unionPartition(s.specs)
	s.top = append(append([]arrow.Field(nil), s.schema.Fields()...), s.metadata.Fields()...)
	s.paths = paths(s.top)
	s.fields = s.everyField()
	if text, ok := t.metadata.Properties()[nameMappingProperty]; ok {
		if s.names, err = parquet.ParseNameMapping(text); err != nil {
			return nil, fault.Wrap(err, "table %s: property %s", t.Name(), nameMappingProperty)
		}
	}
	return s, nil
}

const nameMappingProperty = "schema.name-mapping.default"

// refuseUnbuilt names what a table uses that no scan of it can do without.
func (t *Table) refuseUnbuilt() error {
	for range t.metadata.EncryptionKeys() {
		return fault.New(fault.Unsupported, "table encryption is not supported yet: %s", t.Name()).In(t.Name())
	}
	if key := t.metadata.Properties()["encryption.key-id"]; key != "" {
		return fault.New(fault.Unsupported, "table encryption is not supported yet: %s", t.Name()).In(t.Name())
	}
	return nil
}

func (s *tableSource) Schema() *arrow.Schema          { return s.schema }
func (s *tableSource) MetadataColumns() *arrow.Schema { return s.metadata }

// Plan reads manifests, leaves out what cannot match, and packs the rest.
func (s *tableSource) Plan(ctx context.Context, req Request) (Plan, error) {
	p := &tablePlan{source: s, request: req, filter: simplified(req.Filter)}
	var err error
	if p.projection, err = newProjection(s, req.Fields, p.filter); err != nil {
		return nil, err
	}
	if best := req.Best; best != nil && !p.projection.test(best.Field.ID) {
		p.request.Best = nil
	}
	kind := scanData
	if s.table.files != nil {
		kind = scanFiles
	}
	p.options, err = resolveOptions(req.Options, s.table.metadata.Properties(), kind)
	if keepsNothing(p.filter) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	find := p.findFiles
	switch {
	case s.table.files != nil:
		find = p.findListed
	case s.at.snapshot == nil:
		return p, nil
	}
	if s.span != nil {
		find, p.options.Adaptive = p.findChanges, p.options.Adaptive && !s.span.changelog
	}
	files, err := find(ctx)
	if err != nil {
		return nil, fault.Wrap(err, "plan a scan of %s", s.table.Name())
	}
	if p.keys, err = s.keyFields(files); err != nil {
		return nil, err
	}
	p.deletes.limit = s.table.scanner.config.DeleteMemory
	if err := p.split(files); err != nil {
		return nil, err
	}
	if err := p.checkListing(); err != nil {
		return nil, err
	}
	p.counting = p.newCounting()
	if err := p.hold(ctx, p.size(files)); err != nil {
		return nil, err
	}
	return p, nil
}

// keepsNothing is true of a filter that no row can pass. Spark folds such a scan away before it looks at a read option, so its options are not
// checked here either.
func keepsNothing(e predicate.Expr) bool { return e == predicate.False || e == predicate.Null }

// simplified gives nil for a filter that keeps every row.
func simplified(e predicate.Expr) predicate.Expr {
	if e == nil {
		return nil
	}
	if e = predicate.Simplify(e); e == predicate.True {
		return nil
	}
	return e
}
