package scan

import (
	"context"
	"slices"
	"sort"
	"strconv"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/iceberg-go/table/dv"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/parquet"
)

// deleteCache reads each delete file of a plan once, whichever splits ask for it.
type deleteCache struct {
	mu    sync.Mutex
	files map[string]*loadedDeletes
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
		l := p.deletes.slot(d.key())
		select {
		case l.turn <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if !l.loaded {
			positions, err := p.source.table.readDeletes(ctx, d, false)
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

func (d *deleteFile) key() string {
	if d.kind == deletionVector {
		return d.Path + "#" + strconv.FormatInt(d.Offset, 10) + "#" + d.Target
	}
	return d.Path
}

// readDeletes gives the rows that a delete file deletes, by data file. With listed, a file that also keeps the deleted rows' values is refused,
// since they are not read.
func (t *Table) readDeletes(ctx context.Context, d *deleteFile, listed bool) (out map[string][]int64, err error) {
	defer fault.Recover(&err, fault.Corrupt, "delete file %s", d.Path)
	file, err := t.store.Open(ctx, d.Path, sizeHint(d.Size))
	if err != nil {
		return nil, fault.Wrap(err, "open delete file")
	}
	counted := countedFile{File: file, bytes: &resource.From(ctx).Counters.DeleteBytes, requests: &resource.From(ctx).Counters.Requests}
	if d.kind == deletionVector {
		defer file.Close()
		return readVector(counted, d)
	}
	return t.readPositions(ctx, counted, d, listed)
}

func readVector(file countedFile, d *deleteFile) (map[string][]int64, error) {
	if d.Offset+d.Bytes > file.Size() || d.Offset+d.Bytes < 0 {
		return nil, fault.New(fault.Corrupt, "deletion vector in %s lies outside the file", d.Path).In(d.Path)
	}
	raw := make([]byte, d.Bytes)
	if n, err := file.ReadAt(raw, d.Offset); n < len(raw) {
		return nil, fault.Wrap(fault.As(fault.Corrupt, err), "read deletion vector in %s", d.Path)
	}
	bitmap, err := dv.DeserializeDV(raw, d.Records)
	if err != nil {
		return nil, fault.New(fault.Corrupt, "deletion vector in %s: %w", d.Path, err).In(d.Path)
	}
	positions := make([]int64, 0, bitmap.Cardinality())
	for p := range bitmap.Positions() {
		positions = append(positions, int64(p))
	}
	slices.Sort(positions)
	return map[string][]int64{d.Target: positions}, nil
}

// readPositions reads a Parquet file of position deletes, whole.
func (t *Table) readPositions(ctx context.Context, file countedFile, d *deleteFile, listed bool) (map[string][]int64, error) {
	opened, err := parquet.Open(ctx, file, d.Path)
	if err != nil {
		file.Close()
		return nil, err
	}
	defer opened.Close()
	want := []arrow.Field{
		{Name: "file_path", Type: arrow.BinaryTypes.String, Nullable: true, Metadata: idMetadata(idDeletePath)},
		{Name: "pos", Type: arrow.PrimitiveTypes.Int64, Nullable: true, Metadata: idMetadata(idDeletePos)},
	}
	if listed {
		want = append(want, arrow.Field{Name: "row", Type: arrow.StructOf(), Nullable: true, Metadata: idMetadata(idDeleteRow)})
	}
	matches, err := opened.Match(want, nil)
	if err != nil {
		return nil, err
	}
	if listed && matches[2].Present {
		return nil, fault.New(fault.Unsupported, "deleted rows kept in position deletes are not supported yet: %s", d.Path).In(d.Path)
	}
	if !matches[0].Present || !matches[1].Present {
		return nil, fault.New(fault.Corrupt, "delete file %s lacks file_path or pos", d.Path).In(d.Path)
	}
	out := map[string][]int64{}
	columns := []kernels.Column{matches[0].Column, matches[1].Column}
	for _, g := range opened.RowGroups(0, file.Size(), nil, nil) {
		if err := t.readPositionGroup(ctx, opened.RowGroup(g.Ordinal, columns), out); err != nil {
			return nil, err
		}
	}
	for path, list := range out {
		if !slices.IsSorted(list) {
			slices.Sort(list)
		}
		out[path] = list
	}
	return out, nil
}

func idMetadata(id int) arrow.Metadata {
	return arrow.NewMetadata([]string{FieldIDKey}, []string{strconv.Itoa(id)})
}

func (t *Table) readPositionGroup(ctx context.Context, rg *kernels.RowGroup, out map[string][]int64) error {
	reader, err := t.scanner.config.Decoder.Open(ctx, rg)
	if err != nil {
		return err
	}
	defer reader.Close()
	const step = 64 << 10
	all := kernels.All(rg.Rows)
	for from := int64(0); from < rg.Rows; from += step {
		batch, err := reader.Read(ctx, []int{0, 1}, all, from, min(step, rg.Rows-from))
		if err != nil {
			return err
		}
		err = collectPositions(batch, rg.Name, out)
		batch.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

func collectPositions(batch arrow.RecordBatch, name string, out map[string][]int64) error {
	paths, ok := batch.Column(0).(*array.String)
	positions, isInt := batch.Column(1).(*array.Int64)
	if !ok || !isInt {
		return fault.New(fault.Internal, "delete file %s was read as %s", name, batch.Schema())
	}
	if paths.NullN() > 0 || positions.NullN() > 0 {
		return fault.New(fault.Corrupt, "delete file %s holds a row without file_path or pos", name).In(name)
	}
	last, list := "", []int64(nil)
	for i := 0; i < paths.Len(); i++ {
		if path := paths.Value(i); list == nil || path != last {
			if list != nil {
				out[last] = list
			}
			if list = out[path]; list == nil {
				path = string(append([]byte(nil), path...)) // the batch's memory goes
				list = []int64{}
			}
			last = path
		}
		list = append(list, positions.Value(i))
	}
	if list != nil {
		out[last] = list
	}
	return nil
}
