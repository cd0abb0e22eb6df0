package scan

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/storage"
)

// deleteCache is what a plan holds of its delete files: each is asked for once, whichever splits need it.
type deleteCache struct {
	limit    int64 // bytes to hold at most
	held     atomic.Int64
	mu       sync.Mutex
	files    map[string]*loadedDeletes
	equality map[string]*equalityDeletes // by scope and columns
}

// hold counts what was loaded.
func (c *deleteCache) hold(n int64) error {
	if held := c.held.Add(n); held > c.limit {
		return fault.New(fault.Exhausted, "the table's deletes take %d bytes of memory, over the limit of %d for one scan", held, c.limit)
	}
	return nil
}

// keys gives the set that an equality delete file's keys belong to.
func (c *deleteCache) keys(d *deleteFile) *equalityDeletes {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.equality == nil {
		c.equality = map[string]*equalityDeletes{}
	}
	key := fmt.Sprint(d.Keys, d.Scope)
	e, ok := c.equality[key]
	if !ok {
		e = &equalityDeletes{ids: d.Keys, turn: make(chan struct{}, 1), loaded: map[string]bool{}}
		c.equality[key] = e
	}
	return e
}

// loadedDeletes is a delete file's content; turn is held by whoever reads it.
type loadedDeletes struct {
	turn      chan struct{}
	loaded    bool
	positions map[string][]int64 // ascending, by data file
}

func (c *deleteCache) slot(key string) *loadedDeletes {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files == nil {
		c.files = map[string]*loadedDeletes{}
	}
	l, ok := c.files[key]
	if !ok {
		l = &loadedDeletes{turn: make(chan struct{}, 1)}
		c.files[key] = l
	}
	return l
}

// deletedRows gives the ordinals of a data file's deleted rows, ascending and without repetition.
func (p *tablePlan) deletedRows(ctx context.Context, f *dataFile) ([]int64, error) {
	var out []int64
	for _, d := range f.Deletes {
		if d.kind == equalityDelete {
			continue
		}
		l := p.deletes.slot(d.key())
		select {
		case l.turn <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if !l.loaded {
			positions, err := p.positions(ctx, d)
			if err != nil {
				<-l.turn
				return nil, fault.Wrap(err, "read the deletes of %s", f.Path)
			}
			l.positions, l.loaded = positions, true
		}
		positions := l.positions[f.Path]
		<-l.turn
		if len(out) == 0 {
			out = positions
			continue
		}
		out = append(slices.Clone(out), positions...)
		sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	}
	return slices.Compact(slices.Clone(out)), nil
}

// positions gives the rows that a delete file deletes, by data file, decoded by the first plan of the process that needs them.
func (p *tablePlan) positions(ctx context.Context, d *deleteFile) (_ map[string][]int64, err error) {
	defer fault.Recover(&err, fault.Corrupt, "delete file %s", d.Path)
	t := p.source.table
	file, err := t.openCounted(ctx, d)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	key := fmt.Sprintf("positions %s %d %d %q", file.Key(), d.Offset, d.Bytes, d.Target)
	s, err := cached(ctx, t.scanner.deletes, key, func() (*shared[map[string][]int64], int64, error) {
		positions, err := t.readDeletesOf(ctx, p.decoder(), d, file, p.deletes.limit)
		if err != nil {
			return nil, 0, err
		}
		s := &shared[map[string][]int64]{value: positions, size: positionBytes(positions)}
		return s, s.size, nil
	})
	if err != nil {
		return nil, err
	}
	if d.kind == deletionVector {
		if err := d.checkRecords(int64(len(s.value[d.Target]))); err != nil {
			return nil, err
		}
	}
	_, err = holdShared(ctx, p, s)
	return s.value, err
}

// checkRecords compares a vector with what the manifest says of it.
func (d *deleteFile) checkRecords(n int64) error {
	if n != d.Records {
		return fault.New(fault.Corrupt, "deletion vector in %s: it holds %d positions and its manifest says %d", d.Path, n, d.Records).In(d.Path)
	}
	return nil
}

// checkVector refuses a deletion vector that deletes rows which a data file does not have: it belongs to another file.
func (d *dataFile) checkVector(deleted []int64, rows int64) error {
	last := len(deleted) - 1
	if last < 0 || deleted[last] < rows && deleted[0] >= 0 {
		return nil
	}
	for _, v := range d.Deletes {
		if v.kind == deletionVector {
			return fault.New(fault.Corrupt, "the deletion vector in %s deletes row %d of %s, which has %d rows", v.Path, deleted[last], d.Path, rows).In(v.Path)
		}
	}
	return nil
}

func (d *deleteFile) key() string {
	if d.kind == deletionVector {
		return d.Path + "#" + strconv.FormatInt(d.Offset, 10) + "#" + d.Target
	}
	return d.Path
}

func positionBytes(positions map[string][]int64) int64 {
	var out int64
	for path, list := range positions {
		out += 64 + int64(len(path)) + positionSize*int64(cap(list))
	}
	return out
}

// readDeletes gives the rows that a delete file deletes, by data file, in at most limit bytes.
func (t *Table) readDeletes(ctx context.Context, decoder kernels.Decoder, d *deleteFile, limit int64) (out map[string][]int64, err error) {
	defer fault.Recover(&err, fault.Corrupt, "delete file %s", d.Path)
	file, err := t.openCounted(ctx, d)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if out, err = t.readDeletesOf(ctx, decoder, d, file, limit); err == nil && d.kind == deletionVector {
		err = d.checkRecords(int64(len(out[d.Target])))
	}
	return out, err
}

// readDeletesOf reads them from the open file, which stays open.
func (t *Table) readDeletesOf(ctx context.Context, decoder kernels.Decoder, d *deleteFile, file countedFile, limit int64) (map[string][]int64, error) {
	if d.kind == deletionVector {
		return readVector(file, d, limit)
	}
	opened, err := t.openFormat(ctx, decoder, d.Format, lent{file}, d.Path, 0)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	return readPositions(ctx, opened, d, limit)
}

// lent is a file that somebody else closes.
type lent struct{ countedFile }

// Unwrap gives the file itself.
func (l lent) Unwrap() storage.File { return l.countedFile }

// Close does nothing.
func (lent) Close() error { return nil }

const positionSize = 8 // bytes of a deleted position in memory

// fits refuses n positions of a delete file before they are made: a few bytes of a file can stand for billions.
func (d *deleteFile) fits(n, limit int64) error {
	if n > limit/positionSize {
		return fault.New(fault.Exhausted, "delete file %s holds %d positions, over the limit of %d bytes for the deletes of one scan", d.Path, n, limit)
	}
	return nil
}

// openDeletes opens a file of position or equality deletes.
func (t *Table) openDeletes(ctx context.Context, decoder kernels.Decoder, d *deleteFile) (opened, error) {
	file, err := t.openCounted(ctx, d)
	if err != nil {
		return nil, err
	}
	return t.openFormat(ctx, decoder, d.Format, file, d.Path, 0)
}

func (t *Table) openCounted(ctx context.Context, d *deleteFile) (countedFile, error) {
	file, err := t.store.Open(ctx, d.Path, sizeHint(d.Size))
	if err != nil {
		return countedFile{}, fault.Wrap(err, "open delete file")
	}
	return countedFile{File: file, bytes: &resource.From(ctx).Counters.DeleteBytes}, nil
}

func readVector(file countedFile, d *deleteFile, limit int64) (map[string][]int64, error) {
	if d.Offset < 0 || d.Bytes < 0 || d.Offset > file.Size() || d.Bytes > file.Size()-d.Offset {
		return nil, fault.New(fault.Corrupt, "deletion vector in %s lies outside the file", d.Path).In(d.Path)
	}
	raw := make([]byte, d.Bytes)
	if n, err := file.ReadAt(raw, d.Offset); n < len(raw) {
		return nil, fault.Wrap(fault.As(fault.Corrupt, err), "read deletion vector in %s", d.Path)
	}
	positions, err := vectorPositions(raw, limit/positionSize)
	if err != nil {
		return nil, fault.Wrap(err, "deletion vector in %s", d.Path)
	}
	return map[string][]int64{d.Target: positions}, nil
}

// readPositions reads a file of position deletes, or the part of it that is asked for.
func readPositions(ctx context.Context, file opened, d *deleteFile, limit int64) (map[string][]int64, error) {
	matches, err := file.Match(positionFields(), nil)
	if err != nil {
		return nil, err
	}
	if !matches[0].Present || !matches[1].Present {
		return nil, fault.New(fault.Corrupt, "delete file %s lacks file_path or pos", d.Path).In(d.Path)
	}
	lists := map[string]*[]int64{}
	columns := []kernels.Column{matches[0].Column, matches[1].Column}
	start, length := d.part()
	var rows int64
	err = eachBatch(ctx, file, start, length, columns, func(batch arrow.RecordBatch) error {
		rows += batch.NumRows()
		if err := d.fits(rows, limit); err != nil {
			return err
		}
		return collectPositions(batch, d.Path, lists)
	})
	if err != nil {
		return nil, err
	}
	out := make(map[string][]int64, len(lists))
	for path, list := range lists {
		if !slices.IsSorted(*list) {
			slices.Sort(*list)
		}
		out[path] = *list
	}
	return out, nil
}

// positionFields are the columns of a position delete file.
func positionFields() []arrow.Field {
	return []arrow.Field{{Name: "file_path", Type: arrow.BinaryTypes.String, Nullable: true, Metadata: idMetadata(idDeletePath)},
		{Name: "pos", Type: arrow.PrimitiveTypes.Int64, Nullable: true, Metadata: idMetadata(idDeletePos)}}
}

func idMetadata(id int) arrow.Metadata {
	return arrow.NewMetadata([]string{FieldIDKey}, []string{strconv.Itoa(id)})
}

// collectPositions appends a batch's positions to the lists of their data files. A list is put into the map once, under a copy of its path: assigning
// to a key again would make a key of the batch's memory, which goes.
func collectPositions(batch arrow.RecordBatch, name string, out map[string]*[]int64) error {
	paths, ok := batch.Column(0).(*array.String)
	positions, isInt := batch.Column(1).(*array.Int64)
	if !ok || !isInt {
		return fault.New(fault.Internal, "delete file %s was read as %s", name, batch.Schema())
	}
	if paths.NullN() > 0 || positions.NullN() > 0 {
		return fault.New(fault.Corrupt, "delete file %s holds a row without file_path or pos", name).In(name)
	}
	last, list := "", (*[]int64)(nil)
	for i := 0; i < paths.Len(); i++ {
		if path := paths.Value(i); list == nil || path != last {
			if list = out[path]; list == nil {
				list = &[]int64{}
				out[strings.Clone(path)] = list
			}
			last = path
		}
		*list = append(*list, positions.Value(i))
	}
	return nil
}
