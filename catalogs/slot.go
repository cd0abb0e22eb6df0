package catalogs

import (
	"context"
	"sync"

	"github.com/skua-data/skua/fault"
)

// slot holds one catalog of a Set: not opened yet, being opened, open, or closed.
type slot struct {
	open func(ctx context.Context) (Catalog, error)

	mu      sync.Mutex
	catalog Catalog  // nil until open
	opening *opening // nil when nobody opens
	closed  bool
	running sync.WaitGroup // goroutines of opens, abandoned ones too
}

// opening is an open in flight that any number of callers wait for.
type opening struct {
	done    chan struct{} // closed when catalog and err are set
	waiters int
	cancel  context.CancelFunc
	catalog Catalog
	err     error
}

func newSlot(open func(ctx context.Context) (Catalog, error)) *slot { return &slot{open: open} }

// get gives the catalog, opening it first. The open goes on while any caller waits: it does not hang on the context of the first.
func (s *slot) get(ctx context.Context) (Catalog, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, errClosed()
	}
	if s.catalog != nil {
		defer s.mu.Unlock()
		return s.catalog, nil
	}
	o := s.opening
	if o == nil {
		o = s.start(ctx)
	}
	o.waiters++
	s.mu.Unlock()

	select {
	case <-o.done:
		return o.catalog, o.err
	case <-ctx.Done():
		s.leave(o)
		return nil, ctx.Err()
	}
}

// ready gives the catalog if it is open; nil: it is not.
func (s *slot) ready() Catalog {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.catalog
}

// start begins an open; the lock is held.
func (s *slot) start(ctx context.Context) *opening {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	o := &opening{done: make(chan struct{}), cancel: cancel}
	s.opening = o
	s.running.Add(1)
	go func() {
		defer s.running.Done()
		defer cancel()
		s.finish(o, ctx)
	}()
	return o
}

// finish runs an open and settles it. An open that everybody left is undone.
func (s *slot) finish(o *opening, ctx context.Context) {
	catalog, err := s.attempt(ctx)
	s.mu.Lock()
	wanted := s.opening == o && !s.closed
	if wanted {
		s.opening = nil
		if err == nil {
			s.catalog = catalog
		}
	}
	s.mu.Unlock()
	if !wanted {
		if err == nil {
			_ = catalog.Close() // nobody is left to tell
		}
		catalog, err = nil, errClosed()
	}
	o.catalog, o.err = catalog, err
	close(o.done)
}

func (s *slot) attempt(ctx context.Context) (catalog Catalog, err error) {
	defer fault.Recover(&err, fault.Internal, "open")
	catalog, err = s.open(ctx)
	if err == nil && catalog == nil {
		err = fault.New(fault.Internal, "the opener gave no catalog")
	}
	return catalog, err
}

// leave takes a caller from an open; the last one ends it.
func (s *slot) leave(o *opening) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o.waiters--
	if o.waiters == 0 && s.opening == o {
		s.opening = nil
		o.cancel()
	}
}

// close closes the catalog and waits for opens that still run.
func (s *slot) close() error {
	s.mu.Lock()
	catalog := s.catalog
	s.catalog, s.closed = nil, true
	if s.opening != nil {
		s.opening.cancel()
	}
	s.mu.Unlock()
	s.running.Wait()
	if catalog == nil {
		return nil
	}
	return catalog.Close()
}

func errClosed() error { return fault.New(fault.Unavailable, "the catalogs are closed") }
