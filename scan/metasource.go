package scan

import (
	"context"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/resource"
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
func (t *Table) MetadataSource(_ context.Context, name string, r Reference) (Source, bool, error) {
	if !metatable.Known(name) {
		return nil, false, nil
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
	return metatable.Input{Metadata: t.metadata, Location: t.location, Snapshot: where.snapshot, Travelled: travelled, Reader: reader}
}

func (s *metaSource) Schema() *arrow.Schema          { return s.schema }
func (s *metaSource) MetadataColumns() *arrow.Schema { return arrow.NewSchema(nil, nil) }

// Plan checks the request; rows are made when it is opened.
func (s *metaSource) Plan(_ context.Context, req Request) (Plan, error) {
	options, err := resolveOptions(req.Options, s.table.metadata.Properties(), true)
	if err == nil && s.at.snapshot != nil {
		err = options.check()
	}
	if err != nil {
		return nil, err
	}
	p := &metaPlan{source: s, request: req, options: options, filter: simplified(req.Filter)}
	p.projection, err = project(s.schema.Fields(), s.paths, s.schema.NumFields(), req.Fields, p.filter, true)
	return p, err
}

// metaPlan is a scan of a metadata table: one part, made on the spot.
type metaPlan struct {
	source     *metaSource
	request    Request
	options    readOptions
	filter     predicate.Expr
	projection *projection
}

var _ Plan = (*metaPlan)(nil)

func (p *metaPlan) Schema() *arrow.Schema { return p.projection.output }
func (p *metaPlan) Rows() (int64, bool)   { return 0, p.Splits() == 0 }

// Splits is 1, or 0 for a filter that keeps nothing.
func (p *metaPlan) Splits() int {
	if p.filter == predicate.False || p.filter == predicate.Null {
		return 0
	}
	return 1
}

// Open makes the rows, in batches.
func (p *metaPlan) Open(ctx context.Context, from, to int) (array.RecordReader, error) {
	if from < 0 || to > p.Splits() || from > to {
		return nil, fault.New(fault.Invalid, "splits %d to %d of a scan that has %d", from, to, p.Splits())
	}
	return newStream(ctx, p.Schema(), to-from, p.request.Limit, p.read), nil
}

const metaBatchRows = 512

func (p *metaPlan) read(ctx context.Context, _ int, emit func(arrow.RecordBatch) error) error {
	b := newRowBatch(p, resource.From(ctx))
	defer b.release()
	err := p.source.rows.Rows(ctx, func(row []any) error {
		if err := b.add(row); err != nil {
			return err
		}
		if b.n < metaBatchRows {
			return nil
		}
		return b.flush(emit)
	})
	if err != nil {
		return fault.Wrap(err, "read %s.%s", p.source.table.Name(), p.source.rows.Name)
	}
	return b.flush(emit)
}

// Explain tells little: metadata tables are not pruned.
func (p *metaPlan) Explain() *Explanation {
	out := &Explanation{Source: p.source.table.Name() + "." + p.source.rows.Name, Kind: "metadata table", Reference: p.source.at.clause,
		Options: p.options.resolved}
	if p.source.at.snapshot != nil {
		out.Snapshot = p.source.at.snapshot.SnapshotID
	}
	for _, id := range p.projection.outputs {
		out.Columns = append(out.Columns, strings.Join(p.source.paths[id].Names, "."))
	}
	if p.filter != nil {
		out.Filter = p.filter.String()
		out.Residual = out.Filter
	}
	for range p.Splits() {
		out.Splits = append(out.Splits, SplitInfo{})
	}
	return out
}

// rowBatch gathers rows into Arrow columns, filters and projects them.
type rowBatch struct {
	plan     *metaPlan
	memory   *resource.Statement
	builders []array.Builder
	at       []int // index in a row of each column
	n        int
}

func newRowBatch(p *metaPlan, s *resource.Statement) *rowBatch {
	b := &rowBatch{plan: p, memory: s}
	for _, w := range p.projection.columns {
		b.builders = append(b.builders, array.NewBuilder(s.Allocator(), w.Field.Type))
		b.at = append(b.at, p.source.paths[fieldID(w.Field)].Index[0])
	}
	return b
}

func (b *rowBatch) add(row []any) error {
	for i, builder := range b.builders {
		if !appendNested(builder, row[b.at[i]]) {
			return fault.New(fault.Internal, "column %s cannot hold %v", b.plan.projection.columns[i].Field.Name, row[b.at[i]])
		}
	}
	b.n++
	return nil
}

func (b *rowBatch) flush(emit func(arrow.RecordBatch) error) error {
	if b.n == 0 {
		return nil
	}
	f := newFrame(b.plan.projection, b.n, b.memory.Allocator())
	defer f.release()
	for i, builder := range b.builders {
		f.columns[i] = builder.NewArray()
	}
	b.n = 0
	if b.plan.filter != nil {
		runs, n, err := f.apply(b.plan.filter)
		if err != nil || n == 0 {
			return err
		}
		if err := f.keep(runs, n); err != nil {
			return err
		}
	}
	batch, err := f.batch()
	if err != nil {
		return err
	}
	return (&sizer{}).deliver(batch, emit)
}

func (b *rowBatch) release() {
	for _, builder := range b.builders {
		builder.Release()
	}
}

// appendNested appends a value of package metatable to a builder of any type.
func appendNested(b array.Builder, v any) bool {
	if v == nil {
		b.AppendNull()
		return true
	}
	switch b := b.(type) {
	case *array.StructBuilder:
		s, ok := v.(metatable.Struct)
		if !ok || len(s) != b.NumField() {
			return false
		}
		b.Append(true)
		for i, c := range s {
			if !appendNested(b.FieldBuilder(i), c) {
				return false
			}
		}
		return true
	case *array.MapBuilder:
		m, ok := v.(metatable.Map)
		b.Append(true)
		for _, e := range m {
			ok = ok && appendNested(b.KeyBuilder(), e[0]) && appendNested(b.ItemBuilder(), e[1])
		}
		return ok
	case *array.ListBuilder:
		l, ok := v.(metatable.List)
		b.Append(true)
		for _, e := range l {
			ok = ok && appendNested(b.ValueBuilder(), e)
		}
		return ok
	case interface{ StorageBuilder() array.Builder }:
		return appendValue(b.StorageBuilder(), v)
	}
	return appendValue(b, v)
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
		encrypted: len(f.KeyMetadata()) > 0, deletes: newDeleteEntry(f)}
}

func (r *metaReader) Deleted(ctx context.Context, e metatable.Entry) ([]string, []int64, error) {
	index := newDeleteIndex()
	s, ok := r.specs[int(e.File.SpecID())]
	if !ok {
		return nil, nil, fault.New(fault.Corrupt, "delete file %s has the partition spec %d, which the table lacks", e.File.FilePath(), e.File.SpecID())
	}
	line := metaEntry(e)
	if err := index.add(&line, s, tupleKey(s, line.Partition)); err != nil {
		return nil, nil, err
	}
	positions, err := r.table.readDeletes(ctx, index.only(), true)
	if err != nil {
		return nil, nil, err
	}
	var names []string
	for name := range positions {
		names = append(names, name)
	}
	slices.Sort(names)
	var outPaths []string
	var out []int64
	for _, name := range names {
		for _, p := range positions[name] {
			outPaths, out = append(outPaths, name), append(out, p)
		}
	}
	return outPaths, out, nil
}
