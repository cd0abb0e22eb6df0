package scan

import (
	"context"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/metatable"
)

// metaPlan is a scan of a metadata table.
type metaPlan struct {
	source     *metaSource
	request    Request
	options    readOptions
	filter     predicate.Expr
	projection *projection
	tasks      []metatable.Task
	groups     []group
}

var _ Plan = (*metaPlan)(nil)

// pack makes splits. Without a snapshot Iceberg plans nothing and looks at no option's range.
func (p *metaPlan) pack() error {
	if p.source.at.snapshot == nil {
		for i, t := range p.tasks {
			p.groups = append(p.groups, group{Pieces: []piece{{i, 0, t.Size}}, Weight: t.Size})
		}
		return nil
	}
	var size int64
	extents := make([]extent, len(p.tasks))
	for i, t := range p.tasks {
		extents[i] = extent{Size: t.Size, Offsets: t.Offsets, Divisible: t.Divisible}
		size = saturatingAdd(size, t.Size)
	}
	var err error
	if p.options, err = p.options.adapt(size); err != nil {
		return err
	}
	p.groups, err = planSplits(extents, p.options)
	return err
}

func (p *metaPlan) Schema() *arrow.Schema { return p.projection.output }
func (p *metaPlan) Rows() (int64, bool)   { return 0, p.Splits() == 0 }
func (p *metaPlan) Splits() int           { return len(p.groups) }

// Open makes the rows, in batches.
func (p *metaPlan) Open(ctx context.Context, from, to int) (array.RecordReader, error) {
	if from < 0 || to > p.Splits() || from > to {
		return nil, fault.New(fault.Invalid, "splits %d to %d of a scan that has %d", from, to, p.Splits())
	}
	resource.ProgressOf(ctx).Expect(to - from)
	return newStream(ctx, p.Schema(), to-from, p.options.Concurrency, p.request.Limit, func(ctx context.Context, i int, emit func(arrow.RecordBatch) error) error {
		return p.read(ctx, p.groups[from+i], emit)
	}), nil
}

const metaBatchRows = 512

func (p *metaPlan) read(ctx context.Context, g group, emit func(arrow.RecordBatch) error) error {
	statement := resource.From(ctx)
	b := newRowBatch(p, statement)
	defer b.release()
	for _, piece := range g.Pieces {
		err := p.tasks[piece.File].Rows(ctx, piece.Start, piece.Length, func(row []any) error {
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
	}
	if err := b.flush(emit); err != nil {
		return err
	}
	statement.Counters.SplitsDone.Add(1)
	resource.ProgressOf(ctx).Done()
	return nil
}

// Explain tells the tasks: metadata tables are not pruned.
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
	for _, g := range p.groups {
		split := SplitInfo{Files: len(g.Pieces), Weight: g.Weight}
		for _, piece := range g.Pieces {
			t := p.tasks[piece.File]
			split.Bytes = saturatingAdd(split.Bytes, piece.Length)
			split.Tasks = append(split.Tasks, TaskInfo{Path: t.Path, Start: piece.Start, Length: piece.Length, Rows: t.Records})
		}
		out.Splits = append(out.Splits, split)
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
		b.at = append(b.at, p.source.paths[FieldID(w.Field)].Index[0])
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
