package scan

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/parquet"
)

// openFile is a data file bound to a projection: where each column's values come from.
type openFile struct {
	plan       *tablePlan
	data       *dataFile
	file       opened
	wait       func()       // for files that are read ahead; nil: none are
	projection *projection  // the plan's, and what the file's equality deletes compare
	columns    []source     // one per column of the projection
	calendar   fileCalendar // of a plain file
	pushed     predicate.Expr
	rest       predicate.Expr
	bound      int64   // the version of a Best's bound that is part of both
	deleted    []int64 // ordinals, ascending
	equality   []*equalityDeletes
	indexed    map[int]*kernels.Selection // by row group, what page indexes say; one goroutine reads a file
	uncount    func()                     // ends the counting of deleted; nil: it is not counted
}

// source is where a column of one file comes from.
type source struct {
	InFile   bool
	Column   kernels.Column // in the file
	Fill     *fill          // what the file lacks inside of it
	Constant any            // else; also what row lineage falls back to
	Kind     int            // id of a metadata column that is counted; 0: none
}

// open opens a data file and binds it. The caller closes it.
func (p *tablePlan) open(ctx context.Context, d *dataFile) (*openFile, error) {
	deleted, err := p.deletedRows(ctx, d)
	if err != nil {
		return nil, err
	}
	equality, err := p.equalityOf(ctx, d)
	if err != nil {
		return nil, err
	}
	p.ahead.await(ctx, d)
	file, err := p.openStored(ctx, d)
	if err != nil {
		return nil, fault.Wrap(err, "open data file")
	}
	wait := p.openAhead(ctx, d, file)
	counters := &resource.From(ctx).Counters
	counters.Files.Add(1)
	opened, err := p.source.table.openFormat(ctx, p.decoder(), d.Format, countedFile{File: file, bytes: &counters.DataBytes}, d.Path, p.whole())
	if err != nil {
		wait()
		return nil, err
	}
	out := &openFile{plan: p, data: d, file: opened, wait: wait, projection: p.projection, deleted: deleted, equality: equality,
		uncount: resource.From(ctx).Charge(positionSize * int64(len(deleted)))}
	if err := d.checkVector(deleted, opened.Rows()); err != nil {
		out.close()
		return nil, err
	}
	if len(equality) > 0 {
		ids := map[int]bool{}
		for _, e := range equality {
			for _, id := range e.ids {
				ids[id] = true
			}
		}
		out.projection = p.projection.withKeys(ids, p.keys)
	}
	if err := out.bind(); err != nil {
		out.close()
		return nil, err
	}
	return out, nil
}

func (f *openFile) close() {
	f.file.Close()
	if f.uncount != nil {
		f.uncount()
	}
	if f.wait != nil {
		f.wait()
	}
}

// bind finds each column in the file, or what stands for it.
func (f *openFile) bind() error {
	want := make([]arrow.Field, len(f.projection.columns))
	for i, w := range f.projection.columns {
		want[i] = w.Field
	}
	matches, err := f.fields(want)
	if err != nil {
		return err
	}
	f.columns = make([]source, len(want))
	for i, w := range f.projection.columns {
		if f.columns[i], err = f.sourceOf(w, matches[i]); err != nil {
			return err
		}
	}
	f.pushed, f.rest = splitFilter(f.plan.filter, f.holds)
	return nil
}

// holds says whether a field's column can be read from the file as it stands.
func (f *openFile) holds(id int) bool {
	p, ok := f.plan.projection.paths[id]
	if !ok {
		return false
	}
	s := f.columns[p.Index[0]]
	return s.InFile && s.Kind == 0 && s.Fill.untouched(p.Index[1:])
}

func (f *openFile) sourceOf(w wanted, m parquet.Match) (source, error) {
	id := FieldID(w.Field)
	if w.Metadata {
		return f.metadataSource(id, m)
	}
	if m.Present {
		fill, err := f.fillOf(&m.Column.Node, m.Variants, nil)
		return source{InFile: true, Column: m.Column, Fill: fill}, err
	}
	v, err := f.missing(w.Field)
	return source{Constant: v}, err
}

// identity gives the partition value of a column that the file's partition is by.
func (f *openFile) identity(id int, typ arrow.DataType) (any, bool, error) {
	for _, field := range f.data.Spec.Fields {
		if field.Source != id || !isIdentity(field) {
			continue
		}
		v, ok := normalize(f.data.Partition[field.ID], typ)
		if !ok {
			return nil, true, fault.New(fault.Corrupt, "data file %s has a partition value %v for %s, which is of type %s", f.data.Path,
				f.data.Partition[field.ID], field.Name, typ).In(f.data.Path)
		}
		return v, true, nil
	}
	return nil, false, nil
}

// metadataSource gives what a metadata column is made of.
func (f *openFile) metadataSource(id int, m parquet.Match) (source, error) {
	switch id {
	case idFile:
		return source{Constant: f.data.Path}, nil
	case idSpec:
		return source{Constant: int64(f.data.Spec.ID)}, nil
	case idDeleted, idPos:
		return source{Kind: id}, nil
	case idPartition:
		v, err := f.partition()
		return source{Constant: v}, err
	case idRowID, idLastUpdated:
		return f.lineage(id, m), nil
	case idChangeType:
		return source{Constant: f.data.change.kind}, nil
	case idChangeOrdinal:
		return source{Constant: f.data.change.ordinal}, nil
	case idCommit:
		return source{Constant: f.data.change.snapshot}, nil
	}
	return source{}, fault.New(fault.Internal, "no metadata column has the id %d", id)
}

// lineage gives the source of a row lineage column: the file's own values where it has some, else what the manifest says of the file.
// Files without a first row id have none.
func (f *openFile) lineage(id int, m parquet.Match) source {
	s := source{Kind: id}
	if f.data.FirstRow == nil {
		return source{}
	}
	s.Constant = *f.data.FirstRow
	if id == idLastUpdated {
		if f.data.FileSeq == nil {
			return source{}
		}
		s.Constant = *f.data.FileSeq
	}
	if m.Present && f.file.HasFieldIDs() {
		s.InFile, s.Column = true, m.Column
	}
	return s
}

// partition is the file's value of _partition: a struct over the fields of all specs.
func (f *openFile) partition() (any, error) {
	if len(f.plan.source.union) == 0 {
		return nil, nil // Spark has null for a table that never was partitioned
	}
	return unionValue(f.data.Spec, f.plan.source.union, f.data.Partition, f.data.Path)
}
