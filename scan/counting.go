package scan

import (
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/resource"
)

// counting reads a scan that is asked for nothing but its number of rows, where manifests and position deletes tell it: no data file is opened.
type counting struct {
	first map[*dataFile]int64 // where the task begins that stands for all rows of its file
}

// newCounting gives nil where rows have to be read.
func (p *tablePlan) newCounting() *counting {
	if len(p.request.Fields) > 0 || len(p.request.Aggregates) == 0 || slices.ContainsFunc(p.request.Aggregates, func(g Aggregate) bool { return g.Kind != CountRows }) {
		return nil
	}
	c := &counting{first: map[*dataFile]int64{}}
	for _, s := range p.splits {
		for _, t := range s.Tasks {
			start, seen := c.first[t.File]
			if !seen && !p.countable(t.File) {
				return nil
			}
			if !seen || t.Start < start {
				c.first[t.File] = t.Start
			}
		}
	}
	return c
}

// countable says that all rows of a file but those at deleted positions are wanted, or none.
func (p *tablePlan) countable(f *dataFile) bool {
	_, decided := p.decide(f)
	return decided && f.Records >= 0 && !slices.ContainsFunc(f.Deletes, func(d *deleteFile) bool { return d.kind == equalityDelete })
}

// countSplit gives a split's rows, without columns.
func (p *tablePlan) countSplit(ctx context.Context, s split, emit func(arrow.RecordBatch) error) error {
	for _, t := range s.Tasks {
		if p.counting.first[t.File] != t.Start {
			continue
		}
		n, err := p.countFile(ctx, t.File)
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		if err := emit(array.NewRecordBatch(p.Schema(), nil, n)); err != nil {
			return err
		}
	}
	resource.From(ctx).Counters.SplitsDone.Add(1)
	resource.ProgressOf(ctx).Done()
	return nil
}

func (p *tablePlan) countFile(ctx context.Context, f *dataFile) (int64, error) {
	if result, _ := p.decide(f); result != predicate.True {
		return 0, nil
	}
	deleted, err := p.deletedRows(ctx, f)
	if err != nil {
		return 0, err
	}
	if err := f.checkVector(deleted, f.Records); err != nil {
		return 0, err
	}
	from, _ := slices.BinarySearch(deleted, 0)
	to, _ := slices.BinarySearch(deleted, f.Records)
	if from > to {
		return 0, fault.New(fault.Internal, "deleted positions of %s are in no order", f.Path)
	}
	return f.Records - int64(to-from), nil
}
