// Package resource bounds and counts what a statement uses: memory, cores, bytes. A Statement travels in the context; EXPLAIN ANALYZE,
// progress and the statement log read the same counters. Where the process is at its limit of memory, statements wait for some, in order. It knows
// nothing of users.
package resource

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
)

// Config bounds a Pool. Zero values mean what each field says.
type Config struct {
	Memory          int64            // bytes for all statements together; 0: no limit
	Wait            time.Duration    // how long a statement waits for memory; 0: a minute
	StatementMemory int64            // bytes for one statement; 0: no limit
	Cores           int              // workers that run at once; 0: one
	Allocator       memory.Allocator // nil: a Recycler
}

// Pool is the memory and the cores of the process. It is safe for concurrent use.
type Pool struct {
	config    Config
	used      atomic.Int64
	peak      atomic.Int64
	cores     chan struct{}
	admission admission
	idling    idling
}

// NewPool makes a pool.
func NewPool(config Config) *Pool {
	if config.Cores <= 0 {
		config.Cores = 1
	}
	if config.Allocator == nil {
		config.Allocator = newRecycler(spared(config.Memory))
	}
	if config.Wait <= 0 {
		config.Wait = defaultWait
	}
	return &Pool{config: config, cores: make(chan struct{}, config.Cores)}
}

// spared is how much of a limit may lie in buffers that nobody uses.
func spared(limit int64) int {
	if limit <= 0 {
		return recycledIdle
	}
	return int(min(limit/8, recycledIdle))
}

// Cores is the number of workers that may run at once.
func (p *Pool) Cores() int { return p.config.Cores }

// Used is the memory in use that is counted, in bytes.
func (p *Pool) Used() int64 { return p.used.Load() }

// Peak is the most memory in use at once that was counted, in bytes.
func (p *Pool) Peak() int64 { return p.peak.Load() }

// count adds n bytes to what is in use.
func (p *Pool) count(n int64) int64 {
	used := p.used.Add(n)
	raise(&p.peak, used)
	return used
}

// claim adds n bytes to what is in use, unless that goes over the limit.
func (p *Pool) claim(n int64) bool {
	for {
		used := p.used.Load()
		if n > 0 && used+n > p.config.Memory {
			return false
		}
		if p.used.CompareAndSwap(used, used+n) {
			raise(&p.peak, used+n)
			return true
		}
	}
}

// raise makes v at least n.
func raise(v *atomic.Int64, n int64) {
	for have := v.Load(); n > have && !v.CompareAndSwap(have, n); have = v.Load() {
	}
}

// NewStatement starts the accounting of one statement.
func (p *Pool) NewStatement(id string) *Statement {
	s := &Statement{ID: id, pool: p}
	s.allocator.statement = s
	return s
}

// Counters are what a statement did so far. All are safe for concurrent use.
type Counters struct {
	Rows, Batches          atomic.Int64 // sent
	Bytes                  atomic.Int64 // Arrow bytes sent
	DataBytes, DeleteBytes atomic.Int64 // read from data and from delete files
	MetadataBytes          atomic.Int64 // read from metadata, manifest lists and manifests
	Requests               atomic.Int64 // sent to stores, those that failed included
	Retries                atomic.Int64 // of those, sent again after a failure
	Files                  atomic.Int64 // data files opened
	RowGroups              atomic.Int64 // of those files, considered for the byte ranges read
	RowGroupsPruned        atomic.Int64 // left out of those, by statistics, Bloom filters and dictionaries
	CacheHits, CacheMisses atomic.Int64 // metadata, manifest lists and manifests found decoded, or not
	SplitsDone             atomic.Int64
	GPUChunks, GPUBytes    atomic.Int64 // column chunks decoded on a GPU, once for each batch; bytes of pages sent there
	GPUFilters             atomic.Int64 // tests of column chunks on a GPU
}

// Statement is one statement's budget. It is safe for concurrent use.
type Statement struct {
	ID       string
	Counters Counters

	pool      *Pool
	peak      atomic.Int64
	exceeded  atomic.Pointer[fault.Error]
	allocator allocator
	inside    int // how often it entered and did not leave; the pool's lock is held

	mu       sync.Mutex // of what follows; it is taken after the pool's
	used     int64      // bytes that it allocated, or was charged for, and did not give back
	scratch  int64      // of those, what decoding needs, which counts for no limit of one statement
	seat     int64      // what it counts for at least: while it is inside
	reserved int64      // and while it reads row groups
	waiting  int        // reservations that wait; where others hold none, the seat is given up meanwhile
	resting  int        // workers whose client is slow; meanwhile, too
	counted  int64      // what the pool counts for it
}

// Allocator allocates on the statement's account. An allocation past a limit is given all the same and makes Err non-nil: whoever
// produces batches asks Err before each and stops, so that a limit costs the statement its result and nothing else. The limit of all statements is
// one statement's only where it is over it alone; else it waits: see Enter and Pause.
func (s *Statement) Allocator() memory.Allocator { return &s.allocator }

// Err says that the statement went over a limit, and names its setting.
func (s *Statement) Err() error {
	if e := s.exceeded.Load(); e != nil {
		return e
	}
	return nil
}

// Peak is the most memory that the statement held at once, in bytes.
func (s *Statement) Peak() int64 { return s.peak.Load() }

// Used is the memory that the statement holds now, in bytes.
func (s *Statement) Used() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// Core waits for a core and gives the function that returns it; call it once.
func (s *Statement) Core(ctx context.Context) (release func(), err error) {
	select {
	case s.pool.cores <- struct{}{}:
		return func() { <-s.pool.cores }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// FreeCores is how many of the pool's cores nobody holds now.
func (s *Statement) FreeCores() int { return cap(s.pool.cores) - len(s.pool.cores) }

// Cores is the number of workers worth starting.
func (s *Statement) Cores() int { return s.pool.config.Cores }

// add counts n bytes that the statement took, or gave back.
func (s *Statement) add(n int64) {
	s.mu.Lock()
	s.used += n
	raise(&s.peak, s.used)
	own := s.used - s.scratch
	s.recount()
	s.mu.Unlock()
	if n <= 0 {
		if n < 0 {
			s.pool.gaveBack()
		}
		return
	}
	if limit := s.pool.config.StatementMemory; limit > 0 && own > limit {
		s.exceed("skua.statement.memory.limit", own, limit)
	}
	if limit := s.pool.config.Memory; limit > 0 && own > limit {
		s.exceed(memoryLimit, own, limit)
	}
}

// Scratch counts n bytes that decoding took for a while, or gave back where n is negative. They end no statement: without them none could go on.
func (s *Statement) Scratch(n int64) {
	s.mu.Lock()
	s.used, s.scratch = s.used+n, s.scratch+n
	raise(&s.peak, s.used)
	s.recount()
	s.mu.Unlock()
	if n < 0 {
		s.pool.gaveBack()
	}
}

// recount brings up to date what the pool counts: what is in use, or what was promised where that is more. The lock is held.
func (s *Statement) recount() {
	if n := max(s.used, s.promised(s.reserved)) - s.counted; n != 0 {
		s.counted += n
		s.pool.count(n)
	}
}

// promised is what the statement counts for however little it uses, with reservations of some bytes. The lock is held.
func (s *Statement) promised(reserved int64) int64 {
	if s.waiting > 0 || s.resting > 0 {
		return reserved
	}
	return max(s.seat, reserved)
}

// Rest has the statement count for no more than it uses, and has reserved, until it is told to wake: its client does not take what is there. It may wake where
// memory is short, for it is inside.
func (s *Statement) Rest() (wake func()) {
	s.rest(1)
	s.pool.gaveBack()
	return sync.OnceFunc(func() { s.rest(-1) })
}

// RestHolding is Rest for a statement for which somebody else holds n bytes that are not counted otherwise: it counts for them, too, but for no more in all than
// its seat.
func (s *Statement) RestHolding(n int64) (wake func()) {
	s.mu.Lock()
	n = max(0, min(n, s.seat-s.used))
	s.used, s.scratch = s.used+n, s.scratch+n
	s.resting++
	s.recount()
	s.mu.Unlock()
	s.pool.gaveBack()
	return sync.OnceFunc(func() {
		s.rest(-1)
		s.Scratch(-n)
	})
}

func (s *Statement) rest(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resting += n
	s.recount()
}

func (s *Statement) exceed(setting string, used, limit int64) {
	s.exceeded.CompareAndSwap(nil, fault.New(fault.Exhausted, "statement %s: %d bytes of memory are over the limit of %d", s.ID, used, limit).Change(setting))
}

type key struct{}

// With puts a statement into a context.
func With(ctx context.Context, s *Statement) context.Context { return context.WithValue(ctx, key{}, s) }

// From gives the statement of a context; without one, a fresh one without limits, so that a scan runs outside a server too.
func From(ctx context.Context) *Statement {
	if s, ok := ctx.Value(key{}).(*Statement); ok {
		return s
	}
	return NewPool(Config{}).NewStatement("")
}

// allocator counts on the statement's account.
type allocator struct{ statement *Statement }

// Allocate allocates size bytes.
func (a *allocator) Allocate(size int) []byte {
	a.statement.add(int64(size))
	return a.statement.pool.config.Allocator.Allocate(size)
}

// Uncleared allocates size bytes that may hold anything, where that costs less than clearing them.
func (a *allocator) Uncleared(size int) []byte {
	a.statement.add(int64(size))
	if r, ok := a.statement.pool.config.Allocator.(interface{ Uncleared(size int) []byte }); ok {
		return r.Uncleared(size)
	}
	return a.statement.pool.config.Allocator.Allocate(size)
}

// Reallocate grows or shrinks b.
func (a *allocator) Reallocate(size int, b []byte) []byte {
	a.statement.add(int64(size - len(b)))
	return a.statement.pool.config.Allocator.Reallocate(size, b)
}

// Free frees b.
func (a *allocator) Free(b []byte) {
	a.statement.add(-int64(len(b)))
	a.statement.pool.config.Allocator.Free(b)
}
