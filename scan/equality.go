package scan

import (
	"context"
	"sort"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/resource"
)

// keyField is a column that equality deletes compare, in the newest type that the table ever gave it: the deletes stay in force when the
// column is dropped, renamed or promoted.
type keyField struct {
	ID   int
	Top  arrow.Field // its top-level column, with nothing else inside
	Path fieldPath   // the way to it; Index[0] is 0
}

// keyFields finds the columns that the files' equality deletes compare.
func (s *tableSource) keyFields(files []*dataFile) (map[int]keyField, error) {
	out := map[int]keyField{}
	for _, f := range files {
		for _, d := range f.Deletes {
			for _, id := range d.Keys {
				if _, ok := out[id]; ok {
					continue
				}
				k, err := s.table.keyField(id)
				if err != nil {
					return nil, fault.Wrap(err, "equality deletes in %s", d.Path)
				}
				out[id] = k
			}
		}
	}
	return out, nil
}

// keyField looks a column up in every schema: the current one first, then from the newest back.
func (t *Table) keyField(id int) (keyField, error) {
	schemas := append([]*iceberg.Schema(nil), t.metadata.Schemas()...)
	sort.SliceStable(schemas, func(i, j int) bool { return schemas[i].ID > schemas[j].ID })
	for _, schema := range append([]*iceberg.Schema{t.metadata.CurrentSchema()}, schemas...) {
		top := arrowSchema(schema.Fields()).Fields()
		p, ok := paths(top)[id]
		if !ok {
			if _, inside := schema.FindFieldByID(id); inside {
				return keyField{}, fault.New(fault.Unsupported, "equality deletes by field %d inside of a list or map are not supported", id)
			}
			continue
		}
		if err := readable(p.Field); err != nil {
			return keyField{}, err
		}
		if isGeometry(p.Field) {
			return keyField{}, fault.New(fault.Unsupported, "equality deletes by %s, a geometry or a geography, are not supported", strings.Join(p.Names, "."))
		}
		k := keyField{ID: id, Top: top[p.Index[0]]}
		if len(p.Index) > 1 {
			k.Top = pruned(k.Top, map[int]bool{id: true})
		}
		k.Path = paths([]arrow.Field{k.Top})[id]
		if _, nested := storageType(p.Field.Type).(arrow.NestedType); nested {
			return keyField{}, fault.New(fault.Unsupported, "equality deletes by %s, a %s, are not supported", strings.Join(p.Names, "."), p.Field.Type)
		}
		return k, nil
	}
	return keyField{}, fault.New(fault.Corrupt, "no schema of the table has the field %d", id)
}

// withKeys adds to a projection what it lacks of the key columns, so that a frame of it can tell the keys of its rows. Columns that are
// read anyway are read early.
func (p *projection) withKeys(ids map[int]bool, fields map[int]keyField) *projection {
	out := *p
	out.columns, out.keys = append([]wanted(nil), p.columns...), map[int]fieldPath{}
	sorted := make([]int, 0, len(ids))
	for id := range ids {
		sorted = append(sorted, id)
	}
	sort.Ints(sorted)
	for _, id := range sorted {
		k := fields[id]
		if q, ok := p.paths[id]; ok && arrow.TypeEqual(q.Field.Type, k.Path.Field.Type) {
			out.columns[q.Index[0]].Filter = true
			out.keys[id] = q
			continue
		}
		at := k.Path
		at.Index = append([]int{len(out.columns)}, k.Path.Index[1:]...)
		out.keys[id] = at
		out.columns = append(out.columns, wanted{Field: k.Top, Key: &k})
	}
	return &out
}

// equalityDeletes are the deleted keys of one scope and one list of columns, each with the sequence number of the newest delete file that
// has it: that file deletes the key's rows in all older data files of the scope, so that one set serves them all. It grows as data files
// need more delete files.
type equalityDeletes struct {
	ids    []int
	turn   chan struct{} // held by whoever adds
	loaded map[string]bool
	mu     sync.RWMutex // over set
	set    *keySet
}

// equalityOf gives the sets of a data file's equality deletes, filled.
func (p *tablePlan) equalityOf(ctx context.Context, f *dataFile) ([]*equalityDeletes, error) {
	var out []*equalityDeletes
	seen := map[*equalityDeletes]bool{}
	for _, d := range f.Deletes {
		if d.kind != equalityDelete {
			continue
		}
		e := p.deletes.keys(d)
		if err := p.load(ctx, e, d); err != nil {
			return nil, fault.Wrap(err, "read the deletes of %s", f.Path)
		}
		if !seen[e] {
			seen[e] = true
			out = append(out, e)
		}
	}
	return out, nil
}

// load adds a delete file's keys, once.
func (p *tablePlan) load(ctx context.Context, e *equalityDeletes, d *deleteFile) error {
	select {
	case e.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-e.turn }()
	if e.loaded[d.Path] {
		return nil
	}
	if err := p.readKeys(ctx, d, e); err != nil {
		return err
	}
	e.loaded[d.Path] = true
	return nil
}

// readKeys reads a file of equality deletes. Columns that it does not compare are left out.
func (p *tablePlan) readKeys(ctx context.Context, d *deleteFile, e *equalityDeletes) (err error) {
	defer fault.Recover(&err, fault.Corrupt, "delete file %s", d.Path)
	file, err := p.source.table.openDeletes(ctx, p.decoder(), d)
	if err != nil {
		return err
	}
	defer file.Close()
	ids := map[int]bool{}
	for _, id := range e.ids {
		ids[id] = true
	}
	shape := (&projection{}).withKeys(ids, p.keys)
	columns, err := p.keyColumns(file, d, shape)
	if err != nil {
		return err
	}
	return eachBatch(ctx, file, 0, wholeFile, columns, func(batch arrow.RecordBatch) error {
		f := newFrame(shape, int(batch.NumRows()), resource.From(ctx).Allocator())
		defer f.release()
		for i := range shape.columns {
			f.columns[i] = batch.Column(i)
			f.columns[i].Retain()
		}
		return p.addKeys(ctx, f, e, d.Sequence)
	})
}

// keyColumns finds the compared columns in a delete file, which must have them.
func (p *tablePlan) keyColumns(file opened, d *deleteFile, shape *projection) ([]kernels.Column, error) {
	if !file.HasFieldIDs() && p.source.names == nil {
		return nil, fault.New(fault.Corrupt, "delete file %s has no field ids, so that nothing says which columns it compares", d.Path).In(d.Path)
	}
	want := make([]arrow.Field, len(shape.columns))
	for i, w := range shape.columns {
		want[i] = w.Field
	}
	matches, err := file.Match(want, p.source.names)
	if err != nil {
		return nil, err
	}
	out := make([]kernels.Column, len(matches))
	for i, m := range matches {
		if !m.Present || lacksAny(&m.Column.Node) {
			return nil, fault.New(fault.Corrupt, "delete file %s lacks the column %s, which it compares", d.Path, strings.Join(shape.columns[i].Key.Path.Names, ".")).In(d.Path)
		}
		out[i] = m.Column
	}
	return out, nil
}

func lacksAny(n *kernels.Node) bool {
	for i := range n.Children {
		if lacksAny(&n.Children[i]) {
			return true
		}
	}
	return n.Kind == kernels.Missing
}

func (p *tablePlan) addKeys(ctx context.Context, f *frame, e *equalityDeletes, sequence int64) error {
	columns, err := f.keyArrays(e.ids)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	before := e.set.size()
	var key []byte
	for i := 0; i < f.rows; i++ {
		if key, err = rowKey(key[:0], columns, i); err != nil {
			return err
		}
		e.set.add(key, sequence)
	}
	return p.holdDeletes(ctx, e.set.size()-before)
}

func rowKey(key []byte, columns []arrow.Array, i int) ([]byte, error) {
	var err error
	for _, a := range columns {
		if key, err = appendKey(key, a, i); err != nil {
			return nil, err
		}
	}
	return key, nil
}

// deletes says for rows of a frame whether they are deleted in a data file of a sequence number.
func (e *equalityDeletes) deletes(f *frame, sequence int64, at []rows, hit func(row int)) error {
	columns, err := f.keyArrays(e.ids)
	if err != nil {
		return err
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	var key []byte
	for _, r := range at {
		for i := r.From; i < r.To; i++ {
			if key, err = rowKey(key[:0], columns, i); err != nil {
				return err
			}
			if newest, ok := e.set.sequence(key); ok && newest > sequence {
				hit(i)
			}
		}
	}
	return nil
}

// keyArrays gives the key columns of a frame.
func (f *frame) keyArrays(ids []int) ([]arrow.Array, error) {
	out := make([]arrow.Array, len(ids))
	for i, id := range ids {
		p, ok := f.projection.keys[id]
		if !ok {
			return nil, fault.New(fault.Internal, "field %d is no key", id)
		}
		var err error
		if out[i], err = f.at(p, ^id); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// eachBatch reads columns of a whole file.
func eachBatch(ctx context.Context, file opened, start, length int64, columns []kernels.Column, visit func(arrow.RecordBatch) error) error {
	all := make([]int, len(columns))
	for i := range all {
		all[i] = i
	}
	const step = 64 << 10
	group := func(from, rows int64, r kernels.Reader) error {
		whole := kernels.All(rows)
		for ; from < rows; from += step {
			batch, err := r.Read(ctx, all, whole, from, min(step, rows-from))
			if err != nil {
				return err
			}
			err = visit(batch)
			batch.Release()
			if err != nil {
				return err
			}
		}
		return nil
	}
	for _, g := range file.RowGroups(start, length, nil, nil) {
		r, err := file.Read(ctx, g, columns)
		if err != nil {
			return err
		}
		err = group(0, g.Rows, r)
		r.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// wholeFile is a length that reaches past the end of every file.
const wholeFile = 1 << 62
