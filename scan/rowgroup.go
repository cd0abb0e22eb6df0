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
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/parquet"
)

// readTask reads a byte range of a data file and hands each batch to emit, which takes it over.
func (p *tablePlan) readTask(ctx context.Context, t task, size *sizer, mem memory.Allocator, emit func(arrow.RecordBatch) error) (err error) {
	defer fault.Recover(&err, fault.Corrupt, "read %s", t.File.Path)
	if best := p.request.Best; best != nil {
		passed := best.passed(t.File, p.source.required)
		if p.passed.note(t.File, !passed); passed {
			return nil
		}
	}
	file, err := p.open(ctx, t.File)
	if err != nil {
		return err
	}
	defer file.close()
	counters := &resource.From(ctx).Counters
	worker := workerOf(ctx)
	groups := file.choose(ctx, t)
	for i := range groups {
		file.rechoose(t, groups[i:])
		g := groups[i]
		counters.RowGroups.Add(1)
		p.read.add(g.Pruned)
		if g.Pruned != "" {
			counters.RowGroupsPruned.Add(1)
			continue
		}
		p.read.routed(func() []string { return file.routes(g) })
		r := groupReader{file: file, group: g, later: groups[i+1:], size: size, mem: mem, emit: emit, worker: worker}
		if err := worker.reserve(ctx, file.needs(g)); err != nil {
			return err
		}
		err := r.read(ctx)
		worker.free()
		if err != nil {
			return err
		}
	}
	return nil
}

// needs is about how many bytes of memory reading a row group takes: what is decoded at once, and the batches that are under way.
func (f *openFile) needs(g parquet.Group) int64 {
	p, ok := f.file.(parquetFile)
	if !ok {
		return underWay
	}
	var columns []kernels.Column
	for _, s := range f.columns {
		if s.InFile {
			columns = append(columns, s.Column)
		}
	}
	return underWay + p.Needs(g, columns)
}

// underWay is for the batches of a worker: one in the making, with room to grow, one that waits and one that is being sent.
const underWay = 4 * targetBytes

// reach is the length of a task's range. The last range of a file goes on to the end: the size that the manifest has may be too small.
func (t task) reach() int64 {
	if t.Start+t.Length >= t.File.Size {
		return wholeFile
	}
	return t.Length
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
	file   *openFile
	group  parquet.Group
	later  []parquet.Group // of the same file, after it
	size   *sizer
	mem    memory.Allocator
	emit   func(arrow.RecordBatch) error
	worker *worker // nil: none reads for a stream

	selection *kernels.Selection
	deleted   []int64        // ordinals in the row group
	filter    predicate.Expr // what is left to test here
	tested    fileColumns    // the filter reads them
	keys      fileColumns    // equality deletes alone read them
	payload   fileColumns
	hits      []bool // of a step's rows, those that equality deletes delete; only where _deleted is asked for
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
	if pages := r.file.pages(r.group); pages != nil {
		r.selection = r.selection.Intersect(pages)
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
	r.worker.parks(r.park)
	defer r.worker.parks(nil)
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
	if r.tested, err = r.openSome(ctx, func(w wanted) bool { return w.Filter && w.Key == nil }); err != nil {
		return err
	}
	if r.keys, err = r.openSome(ctx, func(w wanted) bool { return w.Key != nil }); err != nil {
		return err
	}
	if r.payload, err = r.openSome(ctx, func(w wanted) bool { return !w.Filter && w.Key == nil }); err != nil {
		return err
	}
	r.readAhead(ctx)
	return nil
}

func (r *groupReader) openSome(ctx context.Context, which func(wanted) bool) (fileColumns, error) {
	var out fileColumns
	var columns []kernels.Column
	for i, w := range r.file.projection.columns {
		if s := r.file.columns[i]; s.InFile && which(w) {
			out.at, columns = append(out.at, i), append(columns, s.Column)
		}
	}
	if len(columns) == 0 {
		return out, nil
	}
	var err error
	out.reader, err = r.file.file.Read(ctx, r.group, columns)
	return out, err
}

// readAhead tells the file which columns of which row groups come next: those that are read first.
func (r *groupReader) readAhead(ctx context.Context) {
	file, ok := r.file.file.(parquetFile)
	first := r.tested.at
	if first == nil {
		first = r.payload.at
	}
	if !ok || len(r.later) == 0 || len(first) == 0 {
		return
	}
	var columns []kernels.Column
	for _, at := range first {
		columns = append(columns, r.file.columns[at].Column)
	}
	later := slices.DeleteFunc(slices.Clone(r.later), func(g parquet.Group) bool { return g.Pruned != "" })
	file.Ahead(ctx, file.decoder, later, columns, r.file.pages)
}

func (r *groupReader) close() {
	for _, c := range []fileColumns{r.tested, r.keys, r.payload} {
		if c.reader != nil {
			c.reader.Close()
		}
	}
}

// park gives back what can be had again while the client takes its time.
func (r *groupReader) park() {
	for _, c := range []fileColumns{r.tested, r.keys, r.payload} {
		kernels.Park(c.reader)
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
	f := newFrame(r.file.projection, int(n), r.mem)
	defer f.release()
	runs, count, err := r.test(ctx, f, from, n)
	if err != nil || count == 0 {
		return err
	}
	if err := r.fill(ctx, f, r.payload, from, n); err != nil {
		return err
	}
	r.count(f, from, n, false)
	r.size.saw(f)
	if count < int(n) || r.filter != nil || len(r.file.equality) > 0 {
		if err := f.keep(runs, count); err != nil {
			return err
		}
	}
	if err := r.fillConstants(f, func(w wanted) bool { return !w.Filter && w.Output }); err != nil {
		return err
	}
	batch, err := f.batch()
	if err != nil {
		return err
	}
	f.release() // the batch has what it needs, and may wait long
	return r.size.deliver(batch, r.emit)
}

// test reads what the filter and the equality deletes need, and tells which rows are left.
func (r *groupReader) test(ctx context.Context, f *frame, from, n int64) ([]rows, int, error) {
	runs, count := []rows{{0, int(n)}}, int(n)
	if err := r.fill(ctx, f, r.tested, from, n); err != nil {
		return nil, 0, err
	}
	if err := r.fillConstants(f, func(w wanted) bool { return w.Filter && w.Key == nil }); err != nil {
		return nil, 0, err
	}
	marks := r.file.projection.marksDeleted
	if r.hits = nil; marks && len(r.file.equality) > 0 {
		r.hits = make([]bool, n)
		if err := r.probe(ctx, f, from, n, runs, func(row int) { r.hits[row] = true }); err != nil {
			return nil, 0, err
		}
	}
	r.count(f, from, n, true)
	if r.filter != nil {
		var err error
		if runs, count, err = f.apply(r.filter); err != nil || count == 0 {
			return nil, 0, err
		}
	}
	if marks || len(r.file.equality) == 0 {
		return runs, count, nil
	}
	gone := map[int]bool{}
	err := r.probe(ctx, f, from, n, runs, func(row int) { gone[row] = true })
	if len(gone) > 0 {
		runs = withoutRows(runs, gone)
	}
	return runs, count - len(gone), err
}

// probe calls hit for rows that equality deletes delete.
func (r *groupReader) probe(ctx context.Context, f *frame, from, n int64, at []rows, hit func(row int)) error {
	if err := r.fill(ctx, f, r.keys, from, n); err != nil {
		return err
	}
	if err := r.fillConstants(f, func(w wanted) bool { return w.Key != nil }); err != nil {
		return err
	}
	for _, e := range r.file.equality {
		if err := e.deletes(f, r.file.data.Sequence, at, hit); err != nil {
			return err
		}
	}
	return nil
}

func withoutRows(runs []rows, gone map[int]bool) []rows {
	var out []rows
	for _, run := range runs {
		for i := run.From; i < run.To; i++ {
			if gone[i] {
				continue
			}
			if last := len(out) - 1; last >= 0 && out[last].To == i {
				out[last].To++
				continue
			}
			out = append(out, rows{i, i + 1})
		}
	}
	return out
}

// fill reads columns of the file into the frame.
func (r *groupReader) fill(ctx context.Context, f *frame, c fileColumns, from, n int64) error {
	if c.reader == nil {
		return nil
	}
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
		if !textIsValid(batch.Column(i)) {
			return fault.New(fault.Corrupt, "data file %s: column %s holds text that is not UTF-8", r.file.data.Path, f.projection.columns[at].Field.Name).In(r.file.data.Path)
		}
		if f.columns[at], err = r.file.columns[at].Fill.apply(batch.Column(i), f.projection.columns[at].Field.Type, r.mem); err != nil {
			return err
		}
	}
	return nil
}

// fillConstants makes the columns that hold one value. Those that no filter reads are made after filtering.
func (r *groupReader) fillConstants(f *frame, which func(wanted) bool) error {
	for i, w := range f.projection.columns {
		s := r.file.columns[i]
		if f.columns[i] != nil || s.InFile || s.Kind != 0 || !which(w) {
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
func (r *groupReader) count(f *frame, from, n int64, filter bool) {
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
}

// marks is _deleted: whoever asks for it sees deleted rows too.
func (r *groupReader) marks(from, n int64) arrow.Array {
	b := array.NewBooleanBuilder(r.mem)
	defer b.Release()
	b.Reserve(int(n))
	at := 0
	for _, run := range r.selection.Slice(from, n).Runs() {
		i, _ := slices.BinarySearch(r.deleted, run.From)
		for row := run.From; row < run.To; row++ {
			hit := i < len(r.deleted) && r.deleted[i] == row
			if hit {
				i++
			}
			b.UnsafeAppend(hit || r.hits != nil && r.hits[at])
			at++
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
