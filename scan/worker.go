package scan

import (
	"context"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/resource"
)

const (
	slowAfter = 250 * time.Millisecond // how long a batch waits until its client is taken for a slow one, and what can be had again is given back
	fastUnder = 50 * time.Millisecond  // a client that asks for the next batch within this is fast again
)

// worker reads a part of a stream. It holds a core while it works, and memory for the row group that it reads. Where the client is slow it makes a batch
// only once that is asked for, and meanwhile keeps no pages.
type worker struct {
	stream    *stream
	part      int
	statement *resource.Statement
	core      func() // gives the core back; nil: it has none
	memory    func() // gives back the memory for a row group; nil: it has none
	needs     int64  // of that row group
	park      func() // gives back what can be had again; nil: nothing can
	slow      bool   // the client is
	wake      func() // ends the statement's rest; nil: it does not rest
}

type workerKey struct{}

func withWorker(ctx context.Context, w *worker) context.Context {
	return context.WithValue(ctx, workerKey{}, w)
}

// workerOf gives the worker that reads; nil: nobody reads for a stream.
func workerOf(ctx context.Context) *worker {
	w, _ := ctx.Value(workerKey{}).(*worker)
	return w
}

// work takes a core.
func (w *worker) work(ctx context.Context) (err error) {
	w.core, err = w.statement.Core(ctx)
	return err
}

// rest gives the core back.
func (w *worker) rest() {
	if w.core != nil {
		w.core()
		w.core = nil
	}
}

// parks sets what is called when the client is slow.
func (w *worker) parks(park func()) {
	if w != nil {
		w.park = park
	}
}

// reserve takes memory for a row group, and waits for it without a core. A part that is not being delivered is given up rather than waited for.
func (w *worker) reserve(ctx context.Context, n int64) error {
	if w == nil {
		return nil
	}
	w.needs = n
	release, ok := w.statement.TryReserve(n)
	if ok {
		w.memory = release
		return nil
	}
	if w.stream.spare(w.part) {
		return errGivenUp
	}
	w.rest()
	release, err := w.statement.Reserve(ctx, n)
	if err != nil {
		return err
	}
	w.memory = release
	return w.work(ctx)
}

// idly does what may wait, without a core.
func (w *worker) idly(ctx context.Context, wait func() error) error {
	if w == nil || w.core == nil {
		return wait()
	}
	w.rest()
	if err := wait(); err != nil {
		return err
	}
	return w.work(ctx)
}

// free gives back the memory for a row group.
func (w *worker) free() {
	if w != nil && w.memory != nil {
		w.memory()
		w.memory = nil
	}
}

// deliver gives a batch to the consumer, and goes on once the next one is wanted. It takes the batch over.
func (w *worker) deliver(ctx context.Context, out *slot, batch arrow.RecordBatch) error {
	defer w.awake()
	select {
	case out.batches <- batch:
		if !w.slow && !w.statement.Short() {
			return ctx.Err()
		}
		w.rest()
	default:
		w.rest()
		if err := w.offer(ctx, out, batch); err != nil {
			batch.Release()
			return err
		}
	}
	if err := w.wanted(ctx, out); err != nil {
		return err
	}
	w.awake()
	if w.park != nil && w.memory == nil {
		if err := w.reserve(ctx, w.needs); err != nil {
			return err
		}
	}
	if w.core != nil {
		return nil
	}
	return w.work(ctx)
}

// offer waits until there is room for a batch. A part that is not asked for in a while is given up.
func (w *worker) offer(ctx context.Context, out *slot, batch arrow.RecordBatch) error {
	parked := time.NewTimer(slowAfter)
	defer parked.Stop()
	for {
		unasked := w.stream.unasked
		if w.statement.Short() {
			unasked = min(unasked, slowAfter)
		}
		long := time.NewTimer(unasked)
		select {
		case out.batches <- batch:
			long.Stop()
			return nil
		case <-ctx.Done():
			long.Stop()
			return ctx.Err()
		case <-parked.C:
			long.Stop()
			w.idle()
		case <-long.C:
			if w.stream.giveUp(w.part) {
				return errGivenUp
			}
		}
	}
}

// wanted waits until the consumer wants a batch, where the client is slow; else only while memory is short.
func (w *worker) wanted(ctx context.Context, out *slot) error {
	if !w.slow {
		return w.statement.Pause(ctx, out.hungry)
	}
	w.idle()
	started := time.Now()
	select {
	case <-out.hungry:
		w.slow = time.Since(started) > fastUnder
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// idle gives back what can be had again, and the statement's seat.
func (w *worker) idle() {
	w.slow = true
	if w.wake == nil {
		w.wake = w.statement.Rest()
	}
	if w.park == nil || w.memory == nil {
		return
	}
	held := w.statement.Used()
	w.park()
	w.free()
	w.statement.Idle(held - w.statement.Used())
}

// awake takes the seat again.
func (w *worker) awake() {
	if w.wake != nil {
		w.wake()
		w.wake = nil
	}
}
