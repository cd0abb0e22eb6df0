package scan

import (
	"context"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan/metatable"
)

// metaSource is a metadata table.
type metaSource struct {
	table  *Table
	at     at
	rows   metatable.Table
	schema *arrow.Schema
	paths  map[int]fieldPath
}

var _ Source = (*metaSource)(nil)

// MetadataSource is a metadata table, named in any case, at a reference; false if there is none of that name.
func (t *Table) MetadataSource(ctx context.Context, name string, r Reference) (Source, bool, error) {
	if !metatable.Known(name) {
		return nil, false, nil
	}
	if err := t.refuseMetadata(name); err != nil {
		return nil, true, err
	}
	if strings.EqualFold(name, changesName) {
		s, err := t.changelog(ctx, r)
		return s, true, err
	}
	if r.Kind == RefRange {
		return nil, true, fault.New(fault.Invalid, "Cannot read a range of snapshots of the metadata table %s", name).In(t.Name())
	}
	where, err := t.resolve(r)
	if err != nil {
		return nil, true, err
	}
	rows, _, err := metatable.Open(t.metaInput(where, r.Kind != RefCurrent), name)
	if err != nil {
		return nil, true, fault.Wrap(err, "table %s", t.Name())
	}
	s := &metaSource{table: t, at: where, rows: rows, schema: arrowSchema(rows.Fields)}
	s.paths = paths(s.schema.Fields())
	return s, true, nil
}

func (t *Table) metaInput(where at, travelled bool) metatable.Input {
	all := specs(t.metadata)
	reader := &metaReader{table: t, specs: all, union: unionPartition(all)}
	return metatable.Input{Metadata: t.metadata, Location: t.location, Size: t.size, Snapshot: where.snapshot, Travelled: travelled, Reader: reader}
}

func (s *metaSource) Schema() *arrow.Schema          { return s.schema }
func (s *metaSource) MetadataColumns() *arrow.Schema { return arrow.NewSchema(nil, nil) }

// Plan lists the table's tasks and packs them as Iceberg does; their rows are made when they are opened.
func (s *metaSource) Plan(ctx context.Context, req Request) (Plan, error) {
	kind := scanMetadata
	if s.rows.Name == "position_deletes" {
		kind = scanPositionDeletes
	}
	p := &metaPlan{source: s, request: req, filter: simplified(req.Filter)}
	var err error
	if p.projection, err = project(s.schema.Fields(), s.paths, s.schema.NumFields(), req.Fields, p.filter, true); err != nil {
		return nil, err
	}
	p.options, err = resolveOptions(req.Options, s.table.metadata.Properties(), kind)
	if keepsNothing(p.filter) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	if p.tasks, err = s.rows.Tasks(ctx); err != nil {
		return nil, fault.Wrap(err, "plan a scan of %s.%s", s.table.Name(), s.rows.Name)
	}
	if err := p.pack(); err != nil {
		return nil, err
	}
	return p, nil
}

// metaReader gives package metatable what lies in the table's files.
type metaReader struct {
	table *Table
	specs map[int]*spec
	union []iceberg.NestedField
}

var _ metatable.Reader = (*metaReader)(nil)

func (r *metaReader) Manifests(ctx context.Context, s *table.Snapshot) ([]iceberg.ManifestFile, error) {
	return r.table.manifests(ctx, s)
}

func (r *metaReader) Entries(ctx context.Context, m iceberg.ManifestFile) ([]metatable.Entry, error) {
	return r.table.entries(ctx, m)
}

// FileSize opens a file to know its size.
func (r *metaReader) FileSize(ctx context.Context, path string) (int64, error) {
	file, err := r.table.store.Open(ctx, path, -1)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return file.Size(), nil
}

func (r *metaReader) PartitionType() []iceberg.NestedField { return r.union }

// Partition gives a file's partition over the fields of all specs.
func (r *metaReader) Partition(f iceberg.DataFile) (metatable.Struct, error) {
	s, ok := r.specs[int(f.SpecID())]
	if !ok {
		return nil, fault.New(fault.Corrupt, "file %s has the partition spec %d, which the table lacks", f.FilePath(), f.SpecID()).In(f.FilePath())
	}
	return unionValue(s, r.union, f.Partition(), f.FilePath())
}

func (r *metaReader) SpecField(id, i int) (iceberg.Transform, iceberg.Type, bool) {
	s, ok := r.specs[id]
	if !ok || i >= len(s.Fields) {
		return nil, nil, false
	}
	return s.Fields[i].Transform, s.Fields[i].iceberg, true
}

func (r *metaReader) Bound(raw []byte, t iceberg.Type) any {
	typ, _ := arrowType(t)
	v, ok := decodeBound(raw, typ)
	if b, isBytes := v.([]byte); isBytes {
		v = slices.Clone(b)
	}
	if !ok || !fits(v, typ) {
		return nil
	}
	return v
}

// fits keeps hostile bounds from values that a column of the type cannot hold.
func fits(v any, typ arrow.DataType) bool {
	f, ok := storageType(typ).(*arrow.FixedSizeBinaryType)
	if !ok {
		return true
	}
	b, isBytes := v.([]byte)
	return isBytes && len(b) == f.ByteWidth
}

// metaEntry is an entry of a delete file as planning has it.
func metaEntry(e metatable.Entry) fileEntry {
	f := e.File
	return fileEntry{Path: f.FilePath(), Format: f.FileFormat(), Size: f.FileSizeBytes(), Records: f.Count(), Partition: f.Partition(), Sequence: e.Sequence,
		encrypted: len(f.KeyMetadata()) > 0, deletes: metaDeletes(f)}
}

func metaDeletes(f iceberg.DataFile) *deleteEntry {
	out := &deleteEntry{equality: f.ContentType() == iceberg.EntryContentEqDeletes, target: f.ReferencedDataFile(), offset: f.ContentOffset(),
		size: f.ContentSizeInBytes(), keys: slices.Clone(f.EqualityFieldIDs())}
	slices.Sort(out.keys)
	out.keys = slices.Compact(out.keys)
	if !out.equality {
		out.path = onePath(f.LowerBoundValues()[idDeletePath], f.UpperBoundValues()[idDeletePath])
	}
	return out
}

// Deleted reads a delete file, or a part of it.
func (r *metaReader) Deleted(ctx context.Context, e metatable.Entry, start, length int64) ([]metatable.Deleted, error) {
	index := newDeleteIndex()
	s, ok := r.specs[int(e.File.SpecID())]
	if !ok {
		return nil, fault.New(fault.Corrupt, "delete file %s has the partition spec %d, which the table lacks", e.File.FilePath(), e.File.SpecID())
	}
	line := metaEntry(e)
	if err := index.add(candidate{fileEntry: &line, spec: s, tuple: tupleKey(s, line.Partition)}); err != nil {
		return nil, err
	}
	d := index.only()
	d.from, d.length = start, length
	if d.kind == positionDelete {
		return r.table.keptRows(ctx, d)
	}
	positions, err := r.table.readDeletes(ctx, r.table.scanner.config.Decoder, d, r.table.scanner.config.DeleteMemory)
	if err != nil {
		return nil, err
	}
	return listDeleted(positions), nil
}
