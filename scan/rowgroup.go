package scan

import (
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/scan/parquet"
)

// readTask reads a byte range of a data file and hands each batch to emit, which takes it over.
func (p *tablePlan) readTask(ctx context.Context, t task, size *sizer, mem memory.Allocator, emit func(arrow.RecordBatch) error) (err error) {
	defer fault.Recover(&err, fault.Corrupt, "read %s", t.File.Path)
	file, err := p.open(ctx, t.File)
	if err != nil {
		return err
	}
	defer file.close()
	for _, g := range file.parquet.RowGroups(t.Start, t.Length, file.pushed, file.match) {
		if g.Pruned != "" {
			continue
		}
		r := groupReader{file: file, group: g, size: size, mem: mem, emit: emit}
		if err := r.read(ctx); err != nil {
			return err
		}
	}
	return nil
}

// match tells row-group choice where a top-level column lies in the file; what is not there, or nested, decides nothing.
func (f *openFile) match(id int) (parquet.Match, bool) {
	p, ok := f.plan.projection.paths[id]
	if !ok || len(p.Index) != 1 || !f.holds(id) {
		return parquet.Match{}, false
	}
	return parquet.Match{Present: true, Column: f.columns[p.Index[0]].Column}, true
}

// groupReader reads one row group: filter columns first, the others only where a row survives.
type groupReader struct {
	file  *openFile
	group parquet.Group
	size  *sizer
	mem   memory.Allocator
	emit  func(arrow.RecordBatch) error

	selection *kernels.Selection
	deleted   []int64        // ordinals in the row group
	filter    predicate.Expr // what is left to test here
	tested    fileColumns    // the filter reads them
	payload   fileColumns
}

// fileColumns are columns of a file behind one reader.
type fileColumns struct {
	at     []int // indexes into projection.columns
	reader kernels.Reader
}

func (r *groupReader) read(ctx context.Context) error {
	r.selection, r.deleted = kernels.All(r.group.Rows), deletedIn(r.file.deleted, r.group)
	if !r.file.plan.projection.marksDeleted {
		r.selection = r.selection.Without(r.deleted)
	}
	if r.selection.Count() == 0 {
		return nil
	}
	defer r.close()
	if err := r.openColumns(ctx); err != nil {
		return err
	}
	if err := r.choose(ctx); err != nil {
		return err
	}
	for from := int64(0); from < r.selection.Count(); {
		n := min(r.size.rows(), r.selection.Count()-from)
		if err := r.step(ctx, from, n); err != nil {
			return err
		}
		from += n
	}
	return nil
}

// deletedIn gives the deleted rows of a row group, counted inside it.
func deletedIn(deleted []int64, g parquet.Group) []int64 {
	from, _ := slices.BinarySearch(deleted, g.FirstRow)
	to, _ := slices.BinarySearch(deleted, g.FirstRow+g.Rows)
	if from == to {
		return nil
	}
	out := make([]int64, 0, to-from)
	for _, p := range deleted[from:to] {
		out = append(out, p-g.FirstRow)
	}
	return out
}

func (r *groupReader) openColumns(ctx context.Context) error {
	var err error
	if r.tested, err = r.openSome(ctx, true); err != nil {
		return err
	}
	r.payload, err = r.openSome(ctx, false)
	return err
}

func (r *groupReader) openSome(ctx context.Context, filter bool) (fileColumns, error) {
	var out fileColumns
	var columns []kernels.Column
	for i, w := range r.file.plan.projection.columns {
		if s := r.file.columns[i]; s.InFile && w.Filter == filter {
			out.at, columns = append(out.at, i), append(columns, s.Column)
		}
	}
	if len(columns) == 0 {
		return out, nil
	}
	var err error
	out.reader, err = r.file.plan.source.table.scanner.config.Decoder.Open(ctx, r.file.parquet.RowGroup(r.group.Ordinal, columns))
	return out, err
}

func (r *groupReader) close() {
	for _, c := range []fileColumns{r.tested, r.payload} {
		if c.reader != nil {
			c.reader.Close()
		}
	}
}

// choose lets the reader test what it can.
func (r *groupReader) choose(ctx context.Context) error {
	r.filter = r.file.rest
	if r.file.pushed == nil {
		return nil
	}
	rest, selection, err := r.tested.reader.Select(ctx, r.file.pushed, r.selection)
	if err != nil {
		return err
	}
	r.selection = selection
	switch {
	case rest == nil:
	case r.filter == nil:
		r.filter = rest
	default:
		r.filter = predicate.And{Left: rest, Right: r.filter}
	}
	return nil
}

// step reads survivors from..from+n, tests them and emits what is left.
func (r *groupReader) step(ctx context.Context, from, n int64) error {
	f := newFrame(r.file.plan.projection, int(n), r.mem)
	defer f.release()
	if err := r.fill(ctx, f, r.tested, from, n, true); err != nil {
		return err
	}
	runs, count := []rows{{0, int(n)}}, int(n)
	if r.filter != nil {
		var err error
		if runs, count, err = f.apply(r.filter); err != nil {
			return err
		}
	}
	if count == 0 {
		return nil
	}
	if err := r.fill(ctx, f, r.payload, from, n, false); err != nil {
		return err
	}
	r.size.saw(f)
	if count < int(n) || r.filter != nil {
		if err := f.keep(runs, count); err != nil {
			return err
		}
	}
	if err := r.fillConstants(f, false); err != nil {
		return err
	}
	batch, err := f.batch()
	if err != nil {
		return err
	}
	return r.size.deliver(batch, r.emit)
}

// fill reads columns of the file into the frame, and counts the metadata columns of the same stage.
func (r *groupReader) fill(ctx context.Context, f *frame, c fileColumns, from, n int64, filter bool) error {
	if c.reader != nil {
		all := make([]int, len(c.at))
		for i := range all {
			all[i] = i
		}
		batch, err := c.reader.Read(ctx, all, r.selection, from, n)
		if err != nil {
			return err
		}
		defer batch.Release()
		if batch.NumRows() != n {
			return fault.New(fault.Corrupt, "data file %s: row group %d gave %d rows of %d", r.file.data.Path, r.group.Ordinal, batch.NumRows(), n)
		}
		for i, at := range c.at {
			f.columns[at] = batch.Column(i)
			f.columns[at].Retain()
		}
	}
	if err := r.count(f, from, n, filter); err != nil {
		return err
	}
	if filter {
		return r.fillConstants(f, true)
	}
	return nil
}

// fillConstants makes the columns that hold one value. Those that no filter reads are made after filtering.
func (r *groupReader) fillConstants(f *frame, filter bool) error {
	for i, w := range f.projection.columns {
		s := r.file.columns[i]
		if f.columns[i] != nil || s.InFile || s.Kind != 0 || w.Filter != filter || !filter && !w.Output {
			continue
		}
		a, err := constant(w.Field.Type, s.Constant, f.rows, r.mem)
		if err != nil {
			return err
		}
		f.columns[i] = a
	}
	return nil
}

// count makes the columns that depend on a row's place in the file: _pos, _deleted and those of row lineage.
func (r *groupReader) count(f *frame, from, n int64, filter bool) error {
	for i, w := range f.projection.columns {
		s := r.file.columns[i]
		if s.Kind == 0 || w.Filter != filter {
			continue
		}
		if s.Kind == idDeleted {
			f.columns[i] = r.marks(from, n)
			continue
		}
		var own *array.Int64
		if f.columns[i] != nil {
			own = f.columns[i].(*array.Int64)
		}
		next := r.counted(s, own, from, n)
		if own != nil {
			own.Release()
		}
		f.columns[i] = next
	}
	return nil
}

// marks is _deleted: whoever asks for it sees deleted rows too.
func (r *groupReader) marks(from, n int64) arrow.Array {
	b := array.NewBooleanBuilder(r.mem)
	defer b.Release()
	b.Reserve(int(n))
	for _, run := range r.selection.Slice(from, n).Runs() {
		i, _ := slices.BinarySearch(r.deleted, run.From)
		for row := run.From; row < run.To; row++ {
			hit := i < len(r.deleted) && r.deleted[i] == row
			if hit {
				i++
			}
			b.UnsafeAppend(hit)
		}
	}
	return b.NewArray()
}

func (r *groupReader) counted(s source, own *array.Int64, from, n int64) arrow.Array {
	b := array.NewInt64Builder(r.mem)
	defer b.Release()
	b.Reserve(int(n))
	base, _ := s.Constant.(int64)
	i := 0
	for _, run := range r.selection.Slice(from, n).Runs() {
		for row := run.From; row < run.To; row++ {
			switch {
			case own != nil && own.IsValid(i):
				b.UnsafeAppend(own.Value(i))
			case s.Kind == idLastUpdated:
				b.UnsafeAppend(base)
			default:
				b.UnsafeAppend(base + r.group.FirstRow + row)
			}
			i++
		}
	}
	return b.NewArray()
}
