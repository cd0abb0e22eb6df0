package parquet

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/resource"
)

// filter evaluates a predicate on a row group, window by window, on columns of its own: Read starts at the first row again. A field inside
// structs is read as its leaf alone, whose levels know the nulls of the structs around it.
type filter struct {
	reader  *reader
	columns map[int]*column // by field id

	rows   *kernels.Selection // of the window
	arrays map[int]arrow.Array
}

// columnFunc is a function as predicate.Columns.
type columnFunc func(predicate.Field) (arrow.Array, error)

// Column calls the function.
func (f columnFunc) Column(field predicate.Field) (arrow.Array, error) { return f(field) }

// knows says whether all fields of e can be read.
func (f *filter) knows(e predicate.Expr) bool {
	for _, field := range predicate.Fields(e) {
		if f.node(field.ID) == nil {
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

// apply keeps the rows of in for which e holds.
func (f *filter) apply(ctx context.Context, e predicate.Expr, in *kernels.Selection) (*kernels.Selection, error) {
	var kept []kernels.Run
	columns := columnFunc(func(field predicate.Field) (arrow.Array, error) { return f.column(ctx, field) })
	for from := int64(0); from < in.Count(); from += window {
		if err := resource.From(ctx).Err(); err != nil {
			return nil, err
		}
		f.rows = in.Slice(from, window)
		mask, err := predicate.Evaluate(e, int(f.rows.Count()), columns, f.reader.mem)
		f.release()
		if err != nil {
			return nil, fault.Wrap(err, "filter %s", f.reader.rg.Name)
		}
		kept = append(kept, f.rows.Filter(mask).Runs()...)
		mask.Release()
	}
	return kernels.NewSelection(kept), nil
}

// column reads a field's values for the window, once.
func (f *filter) column(ctx context.Context, field predicate.Field) (arrow.Array, error) {
	if a := f.arrays[field.ID]; a != nil {
		return a, nil
	}
	n := f.node(field.ID)
	if n == nil {
		return nil, fault.New(fault.Internal, "field %d is not among the columns", field.ID)
	}
	a, err := f.read(ctx, n, field.ID)
	if err != nil {
		return nil, f.reader.explain(err, n.Field.Name)
	}
	if f.arrays == nil {
		f.arrays = map[int]arrow.Array{}
	}
	f.arrays[field.ID] = a
	return a, nil
}

func (f *filter) read(ctx context.Context, n *kernels.Node, id int) (arrow.Array, error) {
	if n.Kind == kernels.Missing {
		return array.MakeArrayOfNull(f.reader.mem, n.Field.Type, int(f.rows.Count())), nil
	}
	c := f.columns[id]
	if c == nil {
		c = f.reader.newColumn(n)
		f.columns[id] = c
	}
	return c.survivors(ctx, f.rows)
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
}
