package cuda

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/resource"
)

const (
	windowMost  = 8 << 20 // rows of a window
	windowLeast = 1024    // rows below which a batch is left to the base decoder rather than halved
)

// reader reads one row group.
type reader struct {
	shared  *shared
	mode    Mode
	rg      *kernels.RowGroup
	base    kernels.Reader
	columns []readColumn
	chosen  *kernels.Selection // for which choices holds
	asked   []int              // the columns of the choices
	choices []choice
}

// readColumn is what a reader remembers of a column.
type readColumn struct {
	left   bool // to the base decoder, for good
	window *window
	values *decodedNode
}

// Read gives the columns of the survivors from..from+n.
func (r *reader) Read(ctx context.Context, columns []int, sel *kernels.Selection, from, n int64) (_ arrow.RecordBatch, err error) {
	defer fault.Recover(&err, fault.Corrupt, "read %s", r.rg.Name)
	rows := sel.Slice(from, n)
	if err := resource.From(ctx).Err(); err != nil {
		return nil, err
	}
	if rows.Count() > 0 {
		if err := r.prepare(ctx, columns, sel, max(from, 0), rows.Count()); err != nil {
			return nil, err
		}
	}
	return r.assemble(ctx, columns, sel, from, n, rows.Count())
}

// prepare decodes those of the columns whose survivors are wanted and not there yet.
func (r *reader) prepare(ctx context.Context, columns []int, sel *kernels.Selection, from, n int64) error {
	if r.chosen != sel || !slices.Equal(r.asked, columns) {
		r.chosen, r.asked, r.choices = sel, slices.Clone(columns), r.choose(r.shared.now(ctx), columns, sel.Count())
		for i, c := range r.choices {
			if !c.send && !r.columns[columns[i]].left {
				r.shared.stats.Kept.Add(1)
			}
		}
	}
	var todo []int
	for _, at := range columns {
		c := &r.columns[at]
		switch {
		case c.left || c.window.covers(sel, from, n):
		case !r.sends(at):
			c.drop()
		default:
			c.drop()
			todo = append(todo, at)
		}
	}
	if len(todo) == 0 || r.shared.broken.Load() != nil {
		return nil
	}
	return r.fill(ctx, todo, sel, from, n)
}

// fill decodes windows that begin at a survivor, as large as fit.
func (r *reader) fill(ctx context.Context, columns []int, sel *kernels.Selection, from, n int64) error {
	for size := min(sel.Count()-from, windowMost); ; size = max(size/2, n) {
		err := r.window(ctx, columns, sel, from, size)
		switch {
		case err == nil, errors.Is(err, errBusy):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case r.shared.settle(err) && size > n && size > windowLeast:
			continue
		case len(columns) > 1: // which of them it was is not known
			for _, c := range columns {
				if err := r.fill(ctx, []int{c}, sel, from, n); err != nil {
					return err
				}
			}
			return nil
		}
		r.shared.stats.Refused.Add(1)
		r.columns[columns[0]].left = true
		return nil
	}
}

var errBusy = errors.New("all slots are in use")

// mostQueued is how many batches may be on their way where the router has the choice: one that the device works on and one that waits.
const mostQueued = 2

// enter lets a batch into the queue of the device unless that is long enough.
func (r *reader) enter() (done func(), err error) {
	if r.shared.queue.Add(1) > mostQueued && r.mode != Force {
		r.shared.queue.Add(-1)
		r.shared.stats.Busy.Add(1)
		return nil, errBusy
	}
	return func() { r.shared.queue.Add(-1) }, nil
}

// window decodes survivors from..from+n of some columns.
func (r *reader) window(ctx context.Context, columns []int, sel *kernels.Selection, from, n int64) (err error) {
	if broken := r.shared.broken.Load(); broken != nil {
		return *broken
	}
	done, err := r.enter()
	if err != nil {
		return err
	}
	defer done()
	slot, err := r.shared.slots.acquire()
	if err != nil {
		return deviceError(err)
	}
	if slot == nil {
		r.shared.stats.Busy.Add(1)
		return errBusy
	}
	w := &window{sel: sel, from: from, n: n, lease: newLease(&r.shared.slots, slot)}
	defer w.lease.Free(nil) // each column holds it too
	defer fault.Recover(&err, fault.Corrupt, "decode %s", r.rg.Name)
	wanted := make([]*column, len(columns))
	for i, at := range columns {
		c, reason := newColumn(r.rg, &r.rg.Columns[at].Node)
		if reason != "" {
			return leave{reason}
		}
		wanted[i] = c
	}
	b, err := newColumnsBatch(ctx, r.shared, slot, r.rg, wanted, sel.Slice(from, n))
	if err != nil {
		return err
	}
	values, err := decodeColumns(ctx, b)
	if err != nil {
		return err
	}
	stats, counters := &r.shared.stats, &resource.From(ctx).Counters
	stats.Bytes.Add(b.ups)
	counters.GPUBytes.Add(b.ups)
	counters.GPUChunks.Add(int64(len(columns)))
	for i, at := range columns {
		w.lease.refs.Add(1)
		r.columns[at].window, r.columns[at].values = w, values[i]
		stats.Chunks.Add(1)
		stats.Rows.Add(n)
		stats.Back.Add(values[i].back())
	}
	return nil
}

func (c *readColumn) drop() {
	if c.window != nil {
		c.window.lease.Free(nil)
	}
	c.window, c.values = nil, nil
}

// assemble joins the columns that came from the device with those that the base decoder reads.
func (r *reader) assemble(ctx context.Context, columns []int, sel *kernels.Selection, from, n, rows int64) (arrow.RecordBatch, error) {
	var others []int
	for _, at := range columns {
		if !r.columns[at].window.covers(sel, max(from, 0), rows) || rows == 0 {
			others = append(others, at)
		}
	}
	rest, err := r.base.Read(ctx, others, sel, from, n)
	if err != nil || len(others) == len(columns) {
		return rest, err
	}
	defer rest.Release()
	fields, arrays := make([]arrow.Field, len(columns)), make([]arrow.Array, len(columns))
	mem, next := resource.From(ctx).Allocator(), 0
	for i, at := range columns {
		fields[i] = r.rg.Columns[at].Field
		if next < len(others) && others[next] == at {
			arrays[i] = rest.Column(next)
			next++
			continue
		}
		c := &r.columns[at]
		arrays[i] = c.values.array(int(max(from, 0)-c.window.from), int(rows), c.window.lease, mem)
		defer arrays[i].Release()
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, rows), nil
}

// Close gives back all memory.
func (r *reader) Close() error {
	for i := range r.columns {
		r.columns[i].drop()
	}
	return r.base.Close()
}
