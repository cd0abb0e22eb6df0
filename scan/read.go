package scan

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
)

// Open reads splits in parallel, as many as there are cores and the read option allows, and delivers them in order.
func (p *tablePlan) Open(ctx context.Context, from, to int) (array.RecordReader, error) {
	if from < 0 || to > len(p.splits) || from > to {
		return nil, fault.New(fault.Invalid, "splits %d to %d of a scan that has %d", from, to, len(p.splits))
	}
	resource.ProgressOf(ctx).Expect(to - from)
	return newStream(ctx, p.Schema(), to-from, p.options.Concurrency, p.request.Limit, func(ctx context.Context, i int, emit func(arrow.RecordBatch) error) error {
		if p.counting != nil {
			return p.countSplit(ctx, p.splits[from+i], emit)
		}
		return p.readSplit(ctx, p.splits[from+i], emit)
	}), nil
}

func (p *tablePlan) readSplit(ctx context.Context, s split, emit func(arrow.RecordBatch) error) error {
	statement := resource.From(ctx)
	err := again(ctx, emit, func(emit func(arrow.RecordBatch) error) error {
		size, joined := newSizer(p), newCoalescer(p, statement.Allocator(), emit)
		defer joined.drop()
		for _, t := range s.Tasks {
			if err := p.readTask(ctx, t, size, statement.Allocator(), joined.take); err != nil {
				return err
			}
		}
		return joined.flush()
	})
	if err == nil {
		statement.Counters.SplitsDone.Add(1)
		resource.ProgressOf(ctx).Done()
	}
	return err
}

// produce reads part i of a stream and hands each batch to emit, which takes it over also when it fails.
type produce func(ctx context.Context, i int, emit func(arrow.RecordBatch) error) error

// stream is a RecordReader over parts that workers read ahead: each worker holds at most one finished batch and one in the making, and goes on
// to the next part only when its part is delivered or waits in full. It begins with one worker. The others come once the consumer has waited for a
// while: one that is slower than a worker, such as a client that reads a batch a second, has nothing of what they would hold. A worker whose part is
// not asked for in a while gives it up, and what it holds; the part is read again when its turn comes.
type stream struct {
	refs    atomic.Int64
	schema  *arrow.Schema
	ctx     context.Context // the caller's
	cancel  context.CancelFunc
	workers sync.WaitGroup
	begin   func() // starts a worker
	waited  time.Duration
	unasked time.Duration // after which a worker gives its part up
	parts   int
	limit   int64

	ahead chan struct{} // a token for each part that is claimed and not delivered yet
	mu    sync.Mutex
	slots map[int]*slot
	claim int
	given []int // parts that were given up, to be claimed again
	more  int   // workers that may still begin
	alive int   // workers that did not end
	at    int   // part being delivered; only the consumer changes it

	current arrow.RecordBatch
	sent    int64
	err     error
	done    bool
}

// slot carries one part's batches; err is set before the channel closes.
type slot struct {
	batches chan arrow.RecordBatch
	hungry  chan struct{} // holds a token when the consumer waits for a batch
	err     error
}

// newStream starts reading, at most atOnce parts at a time; 0: as the cores allow.
func newStream(ctx context.Context, schema *arrow.Schema, parts int, atOnce, limit int64, read produce) *stream {
	return startStream(ctx, schema, parts, atOnce, limit, unasked, read)
}

func startStream(ctx context.Context, schema *arrow.Schema, parts int, atOnce, limit int64, unasked time.Duration, read produce) *stream {
	s := &stream{schema: schema, ctx: ctx, parts: parts, limit: limit, slots: map[int]*slot{}, unasked: unasked}
	s.refs.Store(1)
	inner, cancel := context.WithCancel(ctx)
	s.cancel = cancel
	workers := min(max(resource.From(ctx).Cores(), 1), parts)
	if atOnce > 0 {
		workers = int(min(int64(workers), atOnce))
	}
	s.ahead = make(chan struct{}, 2*workers)
	s.begin = func() {
		s.workers.Add(1)
		go func() {
			defer s.workers.Done()
			s.work(inner, read)
		}()
	}
	if s.more = workers; workers > 0 {
		s.start(1)
	}
	return s
}

func (s *stream) slot(i int) *slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	out, ok := s.slots[i]
	if !ok {
		out = &slot{batches: make(chan arrow.RecordBatch, 1), hungry: make(chan struct{}, 1)}
		s.slots[i] = out
	}
	return out
}

// next claims a part, once there is room ahead of the consumer.
func (s *stream) next(ctx context.Context) (int, bool) {
	select {
	case s.ahead <- struct{}{}:
	case <-ctx.Done():
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.given); n > 0 {
		i := slices.Min(s.given)
		s.given = slices.DeleteFunc(s.given, func(other int) bool { return other == i })
		return i, true
	}
	if s.claim == s.parts {
		<-s.ahead
		return 0, false
	}
	s.claim++
	return s.claim - 1, true
}

// unasked is how long a worker holds a batch of a part that is not being delivered.
const unasked = time.Second

// errGivenUp ends the reading of a part that is read again later.
var errGivenUp = errors.New("the part was given up")

// giveUp takes a part back from its worker, unless it is being delivered.
func (s *stream) giveUp(i int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i <= s.at {
		return false
	}
	drain(s.slots[i])
	delete(s.slots, i)
	s.given = append(s.given, i)
	<-s.ahead
	return true
}

// spare says whether a part need not wait for memory: another worker reads for the client meanwhile, and gets to it.
func (s *stream) spare(i int) bool {
	s.mu.Lock()
	alone := s.alive == 1
	s.mu.Unlock()
	return !alone && s.giveUp(i)
}

// work reads parts until none is left. A part that fails ends the worker: what comes after it is not wanted.
func (s *stream) work(ctx context.Context, read produce) {
	gaveUp := false
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.alive--; gaveUp {
			s.more++
		}
	}()
	for i, ok := s.next(ctx); ok; i, ok = s.next(ctx) {
		out := s.slot(i)
		err := s.part(ctx, i, out, read)
		if gaveUp = errors.Is(err, errGivenUp); gaveUp {
			return
		}
		out.err = err
		close(out.batches)
		if out.err != nil {
			return
		}
	}
}

// part reads one part while holding a core, which it gives back while it waits for the consumer, or for memory that the consumer does not wait for.
func (s *stream) part(ctx context.Context, i int, out *slot, read produce) (err error) {
	statement := resource.From(ctx)
	w := &worker{stream: s, part: i, statement: statement}
	if err := w.work(ctx); err != nil {
		return err
	}
	defer w.rest()
	defer w.free()
	defer fault.Recover(&err, fault.Internal, "read part %d", i)
	return read(withWorker(ctx, w), i, func(batch arrow.RecordBatch) error {
		if err := statement.Err(); err != nil {
			batch.Release()
			return err
		}
		return w.deliver(ctx, out, batch)
	})
}

// Next advances to the next batch.
func (s *stream) Next() bool {
	if s.current != nil {
		s.current.Release()
		s.current = nil
	}
	for !s.done && s.at < s.parts && (s.limit < 0 || s.sent < s.limit) {
		if s.receive() {
			return true
		}
	}
	s.done = true
	s.cancel()
	return false
}

// patience is how long a consumer waits in all, for one worker's batches, before there are more workers.
const patience = 100 * time.Millisecond

// take waits for a batch of a part; false: there is none.
func (s *stream) take(out *slot) (batch arrow.RecordBatch, ok bool) {
	select {
	case batch, ok = <-out.batches:
		return batch, ok
	default:
	}
	select {
	case out.hungry <- struct{}{}:
	default:
	}
	s.mu.Lock()
	more := s.more
	s.mu.Unlock()
	if more > 0 {
		started := time.Now()
		enough := time.NewTimer(patience - s.waited)
		defer enough.Stop()
		select {
		case batch, ok = <-out.batches:
			s.waited += time.Since(started)
			return batch, ok
		case <-s.ctx.Done():
		case <-enough.C:
			s.beginAll()
		}
	}
	select {
	case batch, ok = <-out.batches:
	case <-s.ctx.Done():
		s.err, s.done = s.ctx.Err(), true
	}
	return batch, ok
}

// beginAll starts every worker that there may be, but one at most where memory is short: what that needs is hard enough to get.
func (s *stream) beginAll() {
	s.mu.Lock()
	s.waited = 0
	n := s.more
	if resource.From(s.ctx).Short() {
		n = min(n, max(0, 1-s.alive))
	}
	s.mu.Unlock()
	s.start(n)
}

// start starts workers.
func (s *stream) start(n int) {
	s.mu.Lock()
	s.more, s.alive = s.more-n, s.alive+n
	s.mu.Unlock()
	for range n {
		s.begin()
	}
}

// receive takes one batch of the part being delivered; false: that part is over, or the stream is.
func (s *stream) receive() bool {
	out := s.slot(s.at)
	batch, ok := s.take(out)
	if ok {
		s.current = batch
		s.sent += batch.NumRows()
		return true
	}
	if s.done {
		return false
	}
	if out.err != nil {
		s.err, s.done = out.err, true
		return false
	}
	s.mu.Lock()
	delete(s.slots, s.at)
	s.at++
	s.mu.Unlock()
	<-s.ahead
	return false
}

// RecordBatch is the current batch, the stream's until the next Next.
func (s *stream) RecordBatch() arrow.RecordBatch { return s.current }

// Record is RecordBatch under its old name.
func (s *stream) Record() arrow.RecordBatch { return s.current }

// Schema is the plan's schema.
func (s *stream) Schema() *arrow.Schema { return s.schema }

// Err tells why Next gave false early.
func (s *stream) Err() error { return s.err }

// Retain adds a holder.
func (s *stream) Retain() { s.refs.Add(1) }

// Release ends the stream when the last holder is gone: it stops the workers, waits for them and frees what they had finished.
func (s *stream) Release() {
	if s.refs.Add(-1) != 0 {
		return
	}
	s.done = true
	s.cancel()
	s.workers.Wait()
	if s.current != nil {
		s.current.Release()
		s.current = nil
	}
	for _, out := range s.slots {
		drain(out)
	}
}

// drain frees the batches of a part that nobody took. Workers are gone; a part none of them began has no open channel to wait for.
func drain(out *slot) {
	for {
		select {
		case batch, ok := <-out.batches:
			if !ok {
				return
			}
			batch.Release()
		default:
			return
		}
	}
}
