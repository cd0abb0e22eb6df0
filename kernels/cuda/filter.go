package cuda

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/cuda/device"
	"github.com/skua-data/skua/kernels/cuda/ptx"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/resource"
)

// test is a conjunct with the one field that it reads.
type test struct {
	expr  predicate.Expr
	field predicate.Field
	leaf  *leaf
}

// Select keeps the rows for which p holds. Conjuncts over one field each are tested on the device, where that pays; the base decoder has
// the others.
func (r *reader) Select(ctx context.Context, p predicate.Expr, in *kernels.Selection) (rest predicate.Expr, out *kernels.Selection, err error) {
	defer fault.Recover(&err, fault.Corrupt, "filter %s", r.rg.Name)
	if p == nil || in.Count() == 0 || r.shared.broken.Load() != nil {
		return r.base.Select(ctx, p, in)
	}
	tests, others := r.split(p)
	if len(tests) == 0 || !r.worthTesting(ctx, tests, in) {
		return r.base.Select(ctx, p, in)
	}
	kept, err := r.test(ctx, tests, in)
	for unable := (cannot{}); errors.As(err, &unable) && len(tests) > 1; {
		others = append(others, tests[unable.test].expr)
		tests = slices.Delete(tests, unable.test, unable.test+1)
		kept, err = r.test(ctx, tests, in)
	}
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case err != nil:
		if !errors.Is(err, errBusy) {
			r.shared.settle(err)
			r.shared.stats.Refused.Add(int64(len(tests)))
		}
		return r.base.Select(ctx, p, in)
	case len(others) == 0:
		return nil, kept, nil
	}
	return r.base.Select(ctx, predicate.Join(others), kept)
}

// cannot says which test the kernels cannot do.
type cannot struct {
	test int
	error
}

func (c cannot) Unwrap() error { return c.error }

// split separates the conjuncts that the kernels may test.
func (r *reader) split(p predicate.Expr) (tests []test, others []predicate.Expr) {
	for _, c := range predicate.Conjuncts(p) {
		fields := predicate.Fields(c)
		t := test{expr: c}
		if len(fields) == 1 {
			t.field = fields[0]
			if n := r.node(t.field.ID); n != nil && n.Kind == kernels.Leaf {
				if f, reason := newLeaf(r.rg, n); reason == "" {
					t.leaf = f
				}
			}
		}
		if t.leaf == nil {
			others = append(others, c)
			continue
		}
		tests = append(tests, t)
	}
	return tests, others
}

// node finds a field among the columns and inside their structs.
func (r *reader) node(id int) *kernels.Node {
	for i := range r.rg.Columns {
		if n := r.rg.Columns[i].Node.Find(id); n != nil {
			return n
		}
	}
	return nil
}

// worthTesting compares the costs of the tests alone: what they leave out is cheaper on either side.
func (r *reader) worthTesting(ctx context.Context, tests []test, in *kernels.Selection) bool {
	if r.mode == Force {
		return true
	}
	var all []estimate
	var arrow float64
	costs := r.shared.now(ctx)
	for _, t := range tests {
		e := costs.estimate(t.leaf, r.rg.Rows, in.Count())
		e.back = float64(in.Count()) / 8
		all, arrow = append(all, e), arrow+e.arrow
	}
	return arrow >= costs.Least && costs.device(all) < costs.cpu(all)
}

// test runs the tests over windows of rows, as large as fit.
func (r *reader) test(ctx context.Context, tests []test, in *kernels.Selection) (*kernels.Selection, error) {
	var kept []kernels.Run
	for from, size := int64(0), min(in.Count(), windowMost); from < in.Count(); {
		rows := in.Slice(from, size)
		out, err := r.testWindow(ctx, tests, rows)
		if errors.Is(err, errFull) && size > windowLeast {
			size /= 2
			continue
		}
		if err != nil {
			return nil, err
		}
		kept = append(kept, out.Runs()...)
		from += size
	}
	return kernels.NewSelection(kept), nil
}

// testWindow runs the tests over some rows in one slot.
func (r *reader) testWindow(ctx context.Context, tests []test, rows *kernels.Selection) (*kernels.Selection, error) {
	done, err := r.enter()
	if err != nil {
		return nil, err
	}
	defer done()
	slot, err := r.shared.slots.acquire()
	if err != nil {
		return nil, deviceError(err)
	}
	if slot == nil {
		r.shared.stats.Busy.Add(1)
		return nil, errBusy
	}
	defer r.shared.slots.release(slot)
	var leaves []*leaf
	place := map[int]int{}
	for _, t := range tests {
		if _, there := place[t.leaf.index]; !there {
			place[t.leaf.index] = len(leaves)
			leaves = append(leaves, t.leaf)
		}
	}
	b, err := newBatch(ctx, r.shared, slot, r.rg, leaves, rows)
	if err != nil {
		return nil, err
	}
	f := &filter{batch: b, mem: resource.From(ctx).Allocator()}
	for i, t := range tests {
		if err := f.plan(t, place[t.leaf.index]); err != nil {
			return nil, cannot{i, err}
		}
	}
	mask, err := f.run(ctx)
	if err != nil {
		return nil, err
	}
	defer mask.Release()
	r.shared.stats.Bytes.Add(b.ups)
	r.shared.stats.Filters.Add(int64(len(tests)))
	counters := &resource.From(ctx).Counters
	counters.GPUBytes.Add(b.ups)
	counters.GPUFilters.Add(int64(len(tests)))
	return rows.Filter(mask), nil
}

// filter is the tests of a batch.
type filter struct {
	batch     *batch
	mem       memory.Allocator
	mask      device.Piece
	described map[int]uint64 // by chunk
	launches  []testLaunch
}

// testLaunch is a kernel with its arguments, to which come the mask and whether it is the first.
type testLaunch struct {
	kernel ptx.Kernel
	args   []uint64
}

// plan chooses the kernel of a test.
func (f *filter) plan(t test, chunk int) error {
	gather, err := f.describe(chunk)
	if err != nil {
		return err
	}
	c := f.batch.chunks[chunk]
	if nulls, ok := nullTest(t.expr); ok {
		f.launches = append(f.launches, testLaunch{ptx.FilterNull, []uint64{gather, nulls}})
		return nil
	}
	if kind, op, literal, ok := comparison(t.expr, t.leaf); ok {
		f.launches = append(f.launches, testLaunch{ptx.FilterCompare, []uint64{gather, kind, op, literal}})
		return nil
	}
	if len(c.uses) != 1 || !c.uses[ptx.Dictionary] {
		return leave{"a test that needs a dictionary of all values"}
	}
	table, null, err := f.table(t, c)
	if err != nil {
		return err
	}
	f.launches = append(f.launches, testLaunch{ptx.FilterTable, []uint64{gather, table, null}})
	return nil
}

func (f *filter) describe(chunk int) (uint64, error) {
	if at, ok := f.described[chunk]; ok {
		return at, nil
	}
	at, err := f.batch.in(ptx.Encode(nil, f.batch.gather(chunk)))
	if f.described == nil {
		f.described = map[int]uint64{}
	}
	f.described[chunk] = at
	return at, err
}

// nullTest recognises IS NULL and IS NOT NULL.
func nullTest(e predicate.Expr) (nulls uint64, ok bool) {
	switch e := e.(type) {
	case predicate.IsNull:
		return 1, true
	case predicate.Not:
		_, ok = e.Expr.(predicate.IsNull)
	}
	return 0, ok
}

// table evaluates a test on each entry of the dictionary, and on a null.
func (f *filter) table(t test, c *chunk) (table, null uint64, err error) {
	entries, err := c.entriesArray(t.field.Type, f.mem)
	if err != nil {
		return 0, 0, err
	}
	defer entries.Release()
	bits, err := evaluate(t, entries, f.mem)
	if err != nil {
		return 0, 0, err
	}
	nothing := array.MakeArrayOfNull(f.mem, t.field.Type, 1)
	defer nothing.Release()
	ofNull, err := evaluate(t, nothing, f.mem)
	if err != nil {
		return 0, 0, err
	}
	table, err = f.batch.in(append(bits, make([]byte, 4)...))
	return table, uint64(ofNull[0] & 1), err
}

// evaluate gives a bit for each value for which a test holds, in whole words.
func evaluate(t test, values arrow.Array, mem memory.Allocator) ([]byte, error) {
	out := make([]byte, words(values.Len()))
	mask, err := predicate.Evaluate(t.expr, values.Len(), oneColumn{values}, mem)
	if err != nil {
		return nil, err
	}
	defer mask.Release()
	for i := range mask.Len() {
		if mask.IsValid(i) && mask.Value(i) {
			out[i>>3] |= 1 << (i & 7)
		}
	}
	return out, nil
}

// oneColumn gives the same array for every field.
type oneColumn struct{ values arrow.Array }

// Column gives the array.
func (o oneColumn) Column(predicate.Field) (arrow.Array, error) { return o.values, nil }

// run queues everything and gives the mask: a value for each slot.
func (f *filter) run(ctx context.Context) (*array.Boolean, error) {
	b := f.batch
	var err error
	if f.mask, err = b.out(words(b.slots)); err != nil {
		return nil, err
	}
	if err := b.begin(); err != nil {
		return nil, err
	}
	for _, c := range b.chunks {
		if err := b.decode(c); err != nil {
			return nil, err
		}
	}
	for i, l := range f.launches {
		first := uint64(0)
		if i == 0 {
			first = 1
		}
		if err := b.launch(l.kernel, tiles(b.slots), append(l.args, f.mask.Addr, first)...); err != nil {
			return nil, err
		}
	}
	if err := b.finish(ctx); err != nil {
		return nil, err
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	bits := newBuffer(len(f.mask.Bytes), f.mem)
	defer bits.Release()
	copy(bits.Bytes(), f.mask.Bytes)
	return array.NewBoolean(b.slots, bits, nil, 0), nil
}
