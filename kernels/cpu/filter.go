package cpu

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/resource"
)

const window = 16 << 10 // rows tested at once

// Select evaluates the conjuncts whose fields are among the columns of the row group that are read here; others are the rest. What it reads of
// the survivors is kept, if it is not much, for the calls of Read with the very selection that it gives.
func (r *reader) Select(ctx context.Context, p predicate.Expr, in *kernels.Selection) (rest predicate.Expr, out *kernels.Selection, err error) {
	defer fault.Recover(&err, fault.Corrupt, "filter %s", r.rg.Name)
	if p == nil {
		return nil, in, nil
	}
	f := &filter{reader: r, columns: map[int]*column{}, arrays: map[int]arrow.Array{}}
	defer f.close()
	var mine, others []predicate.Expr
	for _, c := range predicate.Conjuncts(p) {
		if f.knows(c) {
			mine = append(mine, c)
			continue
		}
		others = append(others, c)
	}
	if len(others) > 0 {
		rest = predicate.Join(others)
	}
	if len(mine) == 0 {
		return rest, in, nil
	}
	f.tests, f.survivors = f.order(mine), newSurvivors(r)
	for i := range f.tests {
		f.tests[i].judge = f.newJudge(f.tests[i].expr)
	}
	out, err = f.apply(ctx, in)
	if err != nil {
		f.survivors.release()
		return nil, nil, err
	}
	r.keep(f.survivors, out)
	return rest, out, nil
}

// filter evaluates a predicate on a row group, window by window, on columns of its own: Read starts at the first row again. A field inside
// structs is read as its leaf alone, whose levels know the nulls of the structs around it.
type filter struct {
	reader    *reader
	tests     []test
	columns   map[int]*column // by field id
	rows      *kernels.Selection
	arrays    map[int]arrow.Array // of the rows of the window that are left
	survivors *survivors
}

// columnFunc is a function as predicate.Columns.
type columnFunc func(predicate.Field) (arrow.Array, error)

// Column calls the function.
func (f columnFunc) Column(field predicate.Field) (arrow.Array, error) { return f(field) }

// knows says whether all fields of e can be read here.
func (f *filter) knows(e predicate.Expr) bool {
	for _, field := range predicate.Fields(e) {
		n := f.node(field.ID)
		if n == nil || refuse(f.reader.rg, n) != "" {
			return false
		}
	}
	return true
}

// node finds a field among the columns and inside their structs.
func (f *filter) node(id int) *kernels.Node {
	for i := range f.reader.rg.Columns {
		if n := f.reader.rg.Columns[i].Node.Find(id); n != nil {
			return n
		}
	}
	return nil
}

// apply keeps the rows of in for which all tests hold.
func (f *filter) apply(ctx context.Context, in *kernels.Selection) (*kernels.Selection, error) {
	var kept []kernels.Run
	for from := int64(0); from < in.Count(); from += window {
		if err := resource.From(ctx).Err(); err != nil {
			return nil, err
		}
		f.rows = in.Slice(from, window)
		for i := range f.tests {
			judged, err := f.judge(ctx, &f.tests[i], (in.Count()-from+window-1)/window*f.rows.Count())
			if err == nil && !judged {
				err = f.test(ctx, f.tests[i].expr)
			}
			if err != nil {
				return nil, fault.Wrap(err, "filter %s", f.reader.rg.Name)
			}
			if f.rows.Count() == 0 {
				break
			}
		}
		kept = append(kept, f.rows.Runs()...)
		if f.rows.Count() > 0 {
			f.survivors.add(f.arrays)
		}
		f.release()
	}
	return kernels.NewSelection(kept), nil
}

// test drops the rows of the window for which e does not hold.
func (f *filter) test(ctx context.Context, e predicate.Expr) error {
	mem := f.reader.mem.Allocator
	columns := columnFunc(func(field predicate.Field) (arrow.Array, error) { return f.column(ctx, field) })
	mask, err := predicate.Evaluate(e, int(f.rows.Count()), columns, mem)
	if err != nil {
		return err
	}
	left := kernels.Where(mask)
	mask.Release()
	return f.keep(left)
}

// keep drops all but some rows of the window, given by their places in it, also from the arrays that were read.
func (f *filter) keep(left *kernels.Selection) error {
	if left.Count() == f.rows.Count() {
		return nil
	}
	f.rows = f.rows.Pick(left)
	if f.rows.Count() == 0 {
		return nil
	}
	for id, a := range f.arrays {
		taken, err := kernels.Take(a, left, f.reader.mem.Allocator)
		if err != nil {
			return err
		}
		a.Release()
		f.arrays[id] = taken
	}
	return nil
}

// column reads a field's values for the rows of the window that are left, once.
func (f *filter) column(ctx context.Context, field predicate.Field) (arrow.Array, error) {
	if a := f.arrays[field.ID]; a != nil {
		return a, nil
	}
	n := f.node(field.ID)
	if n == nil {
		return nil, fault.New(fault.Internal, "field %d is not among the columns", field.ID)
	}
	c := f.columns[field.ID]
	if c == nil {
		c = &column{reader: f.reader, node: n}
		f.columns[field.ID] = c
	}
	a, err := c.survivors(ctx, f.rows)
	if err != nil {
		return nil, f.reader.explain(err, n.Field.Name)
	}
	f.arrays[field.ID] = a
	return a, nil
}

// release drops the window's arrays.
func (f *filter) release() {
	for id, a := range f.arrays {
		a.Release()
		delete(f.arrays, id)
	}
}

func (f *filter) close() {
	f.release()
	for _, c := range f.columns {
		c.close()
	}
	for _, t := range f.tests {
		if t.judge != nil {
			t.judge.column.close()
		}
	}
}
