package parquet

import (
	"context"
	"io"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/storage"
)

// Read opens a row group for reading by a decoder; columns come from Match. The columns of a remote file are fetched together once the first byte
// of one is wanted.
func (f *File) Read(ctx context.Context, decoder kernels.Decoder, g Group, columns []kernels.Column) (kernels.Reader, error) {
	rg := f.RowGroup(g.Ordinal, columns)
	narrow := f.ahead.take(g.Ordinal, allLeaves(columns))
	if narrow == nil {
		narrow = f.fetch(ctx, g.Ordinal, columns)
	}
	if narrow == nil {
		return decoder.Open(ctx, rg)
	}
	fetch := narrow.fetch
	narrow.leaves = skipping(decoder, rg)
	rg.File, rg.Pages = f.bytes(fetch), narrow.located
	reader, err := decoder.Open(ctx, rg)
	if err != nil {
		fetch.Close()
		return nil, err
	}
	f.ahead.follow(fetch)
	return &fetched{reader, fetch, narrow}, nil
}

// skipping gives the leaves of which a decoder reads no page without survivors, ascending.
func skipping(decoder kernels.Decoder, rg *kernels.RowGroup) []int {
	var out []kernels.Column
	for i, r := range decoder.Route(rg) {
		if r.Taken && r.Skips {
			out = append(out, rg.Columns[i])
		}
	}
	return allLeaves(out)
}

// mostGroupsAhead is how many row groups are fetched before they are read, at most.
const mostGroupsAhead = 4

// Ahead says which columns of which row groups will be read after those that are being read now, in order: they are fetched once nothing before
// them is left to ask for, as far as memory allows. It does nothing for a file at hand.
//
// Of the groups for which rows gives a selection no page is fetched that has none of it; nil: every page.
func (f *File) Ahead(ctx context.Context, decoder kernels.Decoder, groups []Group, columns []kernels.Column, rows func(Group) *kernels.Selection) {
	access := storage.AccessOf(f.file)
	if !access.Remote() {
		return
	}
	leaves := allLeaves(columns)
	for _, g := range groups[:min(len(groups), mostGroupsAhead)] {
		if f.ahead.has(g.Ordinal, leaves) {
			continue
		}
		narrow := f.fetch(ctx, g.Ordinal, columns)
		if narrow == nil {
			continue
		}
		if rows != nil {
			if wanted := rows(g); wanted != nil {
				narrow.leaves = skipping(decoder, f.RowGroup(g.Ordinal, columns))
				narrow.to(wanted)
			}
		}
		if !f.ahead.put(&plannedGroup{narrowing: narrow, all: leaves}, access.Ahead) {
			return
		}
	}
}

// fetch plans the reading of a row group's columns; nil where the file is at hand, where all of it is in the tail, and where it is too much to hold.
func (f *File) fetch(ctx context.Context, ordinal int, columns []kernels.Column) *narrowing {
	access := storage.AccessOf(f.file)
	if !access.Remote() {
		return nil
	}
	var ranges []storage.Range
	var size int64
	end := f.size - int64(len(f.tail)) // what follows is in the tail
	for _, leaf := range allLeaves(columns) {
		r := f.chunkRange(ordinal, leaf)
		if r.Length = min(r.Length, end-r.Offset); r.Length > 0 {
			ranges, size = append(ranges, r), size+r.Length
		}
	}
	if size == 0 || size > access.Ahead {
		return nil
	}
	return &narrowing{file: f, ordinal: ordinal, fetch: storage.NewFetch(ctx, f.file, ranges)}
}

// chunkRange is where a column chunk lies.
func (f *footer) chunkRange(ordinal, leaf int) storage.Range {
	m := f.metadata.RowGroups[ordinal].Columns[leaf].MetaData
	start := m.DataPageOffset
	if d := m.DictionaryPageOffset; d != nil && *d > 0 && *d < start {
		start = *d
	}
	end := start + m.TotalCompressedSize
	if f.metadata.WriterVersion().LessThan(metadata.Parquet816FixedVersion) { // those left a dictionary's header out of the size
		end = min(end+100, f.size)
	}
	return storage.Range{Offset: start, Length: end - start}
}

// allLeaves gives the leaf columns of columns, ascending, each once.
func allLeaves(columns []kernels.Column) []int {
	var out []int
	for _, c := range columns {
		out = append(out, c.Leaves...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// bytes gives the file's bytes: from the tail where it was kept, the others from another reader of the same file.
func (f *File) bytes(others io.ReaderAt) io.ReaderAt {
	if len(f.tail) == 0 {
		return others
	}
	return &tailed{others: others, tail: f.tail, start: f.size - int64(len(f.tail))}
}

// tailed is a file whose end is at hand.
type tailed struct {
	others io.ReaderAt
	tail   []byte
	start  int64 // of the tail, in the file
}

// ReadAt reads from the tail, and what is before it from elsewhere.
func (t *tailed) ReadAt(p []byte, off int64) (int, error) {
	front := int(min(max(t.start-off, 0), int64(len(p))))
	if front > 0 {
		if n, err := t.others.ReadAt(p[:front], off); n < front {
			return n, err
		}
	}
	if front == len(p) {
		return front, nil
	}
	from := off + int64(front) - t.start
	if from >= int64(len(t.tail)) {
		return front, io.EOF
	}
	n := front + copy(p[front:], t.tail[from:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// fetched is a reader with the bytes that are fetched for it.
type fetched struct {
	kernels.Reader
	fetch  *storage.Fetch
	narrow *narrowing
}

// Select reads columns that Read may read again.
func (r *fetched) Select(ctx context.Context, p predicate.Expr, in *kernels.Selection) (predicate.Expr, *kernels.Selection, error) {
	r.narrow.to(in)
	r.fetch.Again()
	return r.Reader.Select(ctx, p, in)
}

// Read reads survivors, for which no page without one is fetched.
func (r *fetched) Read(ctx context.Context, columns []int, sel *kernels.Selection, from, n int64) (arrow.RecordBatch, error) {
	r.narrow.to(sel)
	return r.Reader.Read(ctx, columns, sel, from, n)
}

// Close closes the reader and gives its bytes back.
func (r *fetched) Close() error {
	err := r.Reader.Close()
	r.fetch.Close()
	return err
}

// ahead is the row groups that are read after the present one.
type ahead struct {
	mu      sync.Mutex
	planned []*plannedGroup
	size    int64 // bytes of those and of the present one
	present int64 // bytes of the present one
	free    bool  // all that is planned was asked for
}

type plannedGroup struct {
	*narrowing
	all     []int // leaves
	started bool
}

// is says whether it is of just these columns.
func (p *plannedGroup) is(ordinal int, leaves []int) bool {
	return p.ordinal == ordinal && slices.Equal(p.all, leaves)
}

func (a *ahead) has(ordinal int, leaves []int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.planned, func(p *plannedGroup) bool { return p.is(ordinal, leaves) })
}

// put plans a row group, if it fits into a bound of bytes with the others; else it is given up.
func (a *ahead) put(p *plannedGroup, bound int64) bool {
	a.mu.Lock()
	fits, free := a.size+p.fetch.Size() <= bound, a.free
	if fits {
		a.planned, a.size, a.free = append(a.planned, p), a.size+p.fetch.Size(), false
	}
	a.mu.Unlock()
	switch {
	case !fits:
		p.fetch.Close()
	case free:
		a.start()
	}
	return fits
}

// take gives the fetch that was planned for just these columns; nil: none was. What was planned before it nobody will read.
func (a *ahead) take(ordinal int, leaves []int) (out *narrowing) {
	a.mu.Lock()
	at := slices.IndexFunc(a.planned, func(p *plannedGroup) bool { return p.is(ordinal, leaves) })
	var passed []*plannedGroup
	if at >= 0 {
		out, passed = a.planned[at].narrowing, a.planned[:at]
		a.size -= out.fetch.Size()
		a.planned = slices.Clone(a.planned[at+1:])
	}
	for _, p := range passed {
		a.size -= p.fetch.Size()
	}
	a.mu.Unlock()
	for _, p := range passed {
		p.fetch.Close()
	}
	return out
}

// follow lets what is planned start when nothing of a fetch is left to ask for.
func (a *ahead) follow(present *storage.Fetch) {
	a.mu.Lock()
	a.size += present.Size() - a.present
	a.present, a.free = present.Size(), false
	a.mu.Unlock()
	present.Then(a.start)
}

// start asks for the first row group that was not asked for, and for the next when that is done.
func (a *ahead) start() {
	a.mu.Lock()
	at := slices.IndexFunc(a.planned, func(p *plannedGroup) bool { return !p.started })
	a.free = at < 0
	var next *storage.Fetch
	if at >= 0 {
		next, a.planned[at].started = a.planned[at].fetch, true
	}
	a.mu.Unlock()
	if next != nil {
		next.Then(a.start)
		next.Start()
	}
}

func (a *ahead) close() {
	a.mu.Lock()
	planned := a.planned
	a.planned = nil
	a.mu.Unlock()
	for _, p := range planned {
		p.fetch.Close()
	}
}
