package scan

import (
	"context"
	"fmt"
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
// need more delete files. The keys of the first file are those that the cache has; those of several are put together.
type equalityDeletes struct {
	ids    []int
	turn   chan struct{} // held by whoever adds
	loaded map[string]bool

	mu       sync.RWMutex     // over what follows
	only     *shared[*keySet] // of the one file so far; nil: of none, or of several
	sequence int64            // the file's
	letGo    func()           // ends the plan's hold on only
	set      *keySet          // of several files
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
	keys, err := p.fileKeys(ctx, d, e.ids)
	if err != nil {
		return err
	}
	letGo, err := holdShared(ctx, p, keys)
	if err != nil {
		return err
	}
	if err := p.join(ctx, e, keys, letGo, d.Sequence); err != nil {
		return err
	}
	e.loaded[d.Path] = true
	return nil
}

// join adds a file's keys to a set.
func (p *tablePlan) join(ctx context.Context, e *equalityDeletes, keys *shared[*keySet], letGo func(), sequence int64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.loaded) == 0 && e.set == nil {
		e.only, e.sequence, e.letGo = keys, sequence, letGo
		return nil
	}
	if e.set == nil {
		e.set = newKeySet()
	}
	before := e.set.size()
	if e.only != nil {
		e.set.addAll(e.only.value, e.sequence)
		p.deletes.held.Add(-e.only.size)
		e.letGo()
		e.only, e.letGo = nil, nil
	}
	e.set.addAll(keys.value, sequence)
	p.deletes.held.Add(-keys.size)
	letGo()
	return p.holdDeletes(ctx, e.set.size()-before)
}

// fileKeys gives the keys in a file of equality deletes, decoded by the first plan of the process that needs them in these types.
func (p *tablePlan) fileKeys(ctx context.Context, d *deleteFile, ids []int) (_ *shared[*keySet], err error) {
	defer fault.Recover(&err, fault.Corrupt, "delete file %s", d.Path)
	t := p.source.table
	file, err := t.openCounted(ctx, d)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	key := fmt.Sprintf("keys %s %q", file.Key(), t.metadata.Properties()[nameMappingProperty])
	for _, id := range ids {
		k := p.keys[id]
		key += fmt.Sprintf(" %d %v %s", id, k.Path.Names, k.Path.Field.Type)
	}
	return cached(ctx, t.scanner.deletes, key, func() (*shared[*keySet], int64, error) {
		set, err := p.readKeys(ctx, d, file, ids)
		if err != nil {
			return nil, 0, err
		}
		s := &shared[*keySet]{value: set, size: set.size()}
		return s, s.size, nil
	})
}

// readKeys reads a file of equality deletes. Columns that it does not compare are left out.
func (p *tablePlan) readKeys(ctx context.Context, d *deleteFile, counted countedFile, compared []int) (*keySet, error) {
	file, err := p.source.table.openFormat(ctx, p.decoder(), d.Format, lent{counted}, d.Path, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	ids := map[int]bool{}
	for _, id := range compared {
		ids[id] = true
	}
	shape := (&projection{}).withKeys(ids, p.keys)
	columns, err := p.keyColumns(file, d, shape)
	if err != nil {
		return nil, err
	}
	set, free := newKeySet(), func() {}
	defer func() { free() }()
	err = eachBatch(ctx, file, 0, wholeFile, columns, func(batch arrow.RecordBatch) error {
		f := newFrame(shape, int(batch.NumRows()), resource.From(ctx).Allocator())
		defer f.release()
		for i := range shape.columns {
			f.columns[i] = batch.Column(i)
			f.columns[i].Retain()
		}
		if err := addKeys(f, compared, set); err != nil {
			return err
		}
		free()
		var ok bool
		if free, ok = resource.From(ctx).Hold(set.size()); !ok || set.size() > p.deletes.limit {
			return p.tooMany(set.size(), ok)
		}
		return nil
	})
	return set, err
}

// tooMany says that deleted keys take too much memory: of the process, or of one scan.
func (p *tablePlan) tooMany(size int64, ofScan bool) error {
	if ofScan {
		return fault.New(fault.Exhausted, "the table's deletes take %d bytes of memory, over the limit of %d for one scan", size, p.deletes.limit)
	}
	return fault.New(fault.Exhausted, "the deletes of %s take %d bytes, which are over the memory limit", p.source.table.Name(), size).Change("skua.memory.limit")
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

// addKeys takes in the keys of a frame's rows.
func addKeys(f *frame, ids []int, set *keySet) error {
	columns, err := f.keyArrays(ids)
	if err != nil {
		return err
	}
	var key []byte
	for i := 0; i < f.rows; i++ {
		if key, err = rowKey(key[:0], columns, i); err != nil {
			return err
		}
		set.add(key, 0)
	}
	return nil
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
			if newest, ok := e.newest(key); ok && newest > sequence {
				hit(i)
			}
		}
	}
	return nil
}

// newest gives the sequence number of the newest delete file that has a key; false: none has. The lock is held.
func (e *equalityDeletes) newest(key []byte) (int64, bool) {
	switch {
	case e.only != nil:
		_, ok := e.only.value.sequence(key)
		return e.sequence, ok
	case e.set != nil:
		return e.set.sequence(key)
	}
	return 0, false
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
