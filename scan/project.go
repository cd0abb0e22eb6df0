package scan

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
)

// projection says which columns a scan works on and how its result is made of them.
type projection struct {
	output  *arrow.Schema
	outputs []int // field id of each output field
	columns []wanted
	paths   map[int]fieldPath // of the fields inside columns, as they are read; Index[0] is an index into columns
	keys    map[int]fieldPath // of the fields that equality deletes compare, in the same way

	marksDeleted bool // _deleted is among columns: deleted rows are marked, not left out
}

// wanted is a top-level column with as much of its inside as the scan needs.
type wanted struct {
	Field    arrow.Field
	Metadata bool      // one of the metadata columns
	Filter   bool      // the filter reads it
	Output   bool      // the result holds it, or something in it
	Key      *keyField // read for equality deletes alone
}

// need is what a scan wants of one top-level field.
type need struct {
	whole          bool
	inside         map[int]bool // ids of the wanted fields below
	filter, output bool
}

// newProjection resolves field ids. Only parts of a struct that are asked for are read.
func newProjection(s *tableSource, ids []int, filter predicate.Expr) (*projection, error) {
	return project(s.top, s.paths, s.columns, ids, filter, false)
}

// project resolves field ids among top-level fields, of which those from metadataFrom on are metadata columns. With whole, structs are read
// whole.
func project(top []arrow.Field, index map[int]fieldPath, metadataFrom int, ids []int, filter predicate.Expr, whole bool) (*projection, error) {
	needs := make([]need, len(top))
	var fields []arrow.Field
	for _, id := range ids {
		p, ok := index[id]
		if !ok {
			return nil, fault.New(fault.Internal, "project: the source has no field %d", id)
		}
		if err := readable(p.Field); err != nil {
			return nil, err
		}
		needs[p.Index[0]].add(p, false)
		fields = append(fields, outputField(top, p))
	}
	if filter != nil {
		if err := refuseGeometry(filter, index); err != nil {
			return nil, err
		}
		for _, f := range predicate.Fields(filter) {
			p, ok := index[f.ID]
			if !ok {
				return nil, fault.New(fault.Internal, "filter: the source has no field %d (%s)", f.ID, f.Path)
			}
			if err := readable(p.Field); err != nil {
				return nil, err
			}
			needs[p.Index[0]].add(p, true)
		}
	}
	out := &projection{output: arrow.NewSchema(fields, nil), outputs: ids}
	var read []arrow.Field
	for i, n := range needs {
		if !n.filter && !n.output {
			continue
		}
		w := wanted{Field: top[i], Metadata: i >= metadataFrom, Filter: n.filter, Output: n.output}
		out.marksDeleted = out.marksDeleted || FieldID(w.Field) == idDeleted
		if !n.whole && !w.Metadata && !whole {
			w.Field = pruned(w.Field, n.inside)
		}
		out.columns, read = append(out.columns, w), append(read, w.Field)
	}
	out.paths = paths(read)
	return out, nil
}

// test makes a top-level column one of those that are read first, to choose rows by; false: it is not read at all.
func (p *projection) test(id int) bool {
	at, ok := p.paths[id]
	if !ok || len(at.Index) != 1 {
		return false
	}
	p.columns[at.Index[0]].Filter = true
	return true
}

func (n *need) add(p fieldPath, filter bool) {
	n.filter, n.output = n.filter || filter, n.output || !filter
	if len(p.Index) == 1 {
		n.whole = true
		return
	}
	if n.inside == nil {
		n.inside = map[int]bool{}
	}
	n.inside[FieldID(p.Field)] = true
}

// pruned keeps of a struct the fields asked for and the way to them.
func pruned(f arrow.Field, ids map[int]bool) arrow.Field {
	s := f.Type.(*arrow.StructType)
	var kept []arrow.Field
	for _, c := range s.Fields() {
		if ids[FieldID(c)] {
			kept = append(kept, c)
			continue
		}
		if _, ok := c.Type.(*arrow.StructType); ok {
			if c = pruned(c, ids); len(c.Type.(*arrow.StructType).Fields()) > 0 {
				kept = append(kept, c)
			}
		}
	}
	f.Type = arrow.StructOf(kept...)
	return f
}

// frame is a batch in the making: the columns of a projection for some rows. It owns its arrays.
type frame struct {
	projection *projection
	rows       int
	columns    []arrow.Array       // by index into projection.columns; nil: not read
	inner      map[int]arrow.Array // fields inside structs, by id, made when asked for
	mem        memory.Allocator
}

func newFrame(p *projection, rows int, mem memory.Allocator) *frame {
	return &frame{projection: p, rows: rows, columns: make([]arrow.Array, len(p.columns)), inner: map[int]arrow.Array{}, mem: mem}
}

var _ predicate.Columns = (*frame)(nil)

// Column gives a field's values for predicate.Evaluate.
func (f *frame) Column(field predicate.Field) (arrow.Array, error) { return f.field(field.ID) }

// field gives the values of a field, nulls of its parents laid over. The frame keeps owning the array.
func (f *frame) field(id int) (arrow.Array, error) {
	p, ok := f.projection.paths[id]
	if !ok || f.columns[p.Index[0]] == nil {
		return nil, fault.New(fault.Internal, "field %d was not read", id)
	}
	return f.at(p, id)
}

// at follows a path. What it makes on the way is kept under a number, for the next time.
func (f *frame) at(p fieldPath, number int) (arrow.Array, error) {
	if len(p.Index) == 1 {
		return f.columns[p.Index[0]], nil
	}
	if a, ok := f.inner[number]; ok {
		return a, nil
	}
	at := f.columns[p.Index[0]]
	at.Retain()
	for _, i := range p.Index[1:] {
		s, ok := at.(*array.Struct)
		if !ok || i >= s.NumField() {
			at.Release()
			return nil, fault.New(fault.Internal, "field %s: its parent is no struct that holds it", p.Field.Name)
		}
		next := child(s, i, f.mem)
		at.Release()
		at = next
	}
	f.inner[number] = at
	return at, nil
}

// keep drops every row outside runs from all columns that were read.
func (f *frame) keep(runs []rows, n int) error {
	f.releaseInner()
	for i, a := range f.columns {
		if a == nil {
			continue
		}
		if !f.projection.columns[i].Output {
			a.Release()
			f.columns[i] = nil
			continue
		}
		next, err := take(a, runs, n, f.mem)
		if err != nil {
			return err
		}
		a.Release()
		f.columns[i] = next
	}
	f.rows = n
	return nil
}

// batch gives the result's columns.
func (f *frame) batch() (arrow.RecordBatch, error) {
	arrays := make([]arrow.Array, len(f.projection.outputs))
	for i, id := range f.projection.outputs {
		a, err := f.field(id)
		if err != nil {
			return nil, err
		}
		if want := f.projection.output.Field(i).Type; !arrow.TypeEqual(a.DataType(), want) {
			return nil, fault.New(fault.Internal, "column %s came as %s, not as %s", f.projection.output.Field(i).Name, a.DataType(), want)
		}
		arrays[i] = a
	}
	return array.NewRecordBatch(f.projection.output, arrays, int64(f.rows)), nil
}

func (f *frame) releaseInner() {
	for id, a := range f.inner {
		a.Release()
		delete(f.inner, id)
	}
}

func (f *frame) release() {
	f.releaseInner()
	for i, a := range f.columns {
		if a != nil {
			a.Release()
			f.columns[i] = nil
		}
	}
}
