package resource

import (
	"context"
	"sync"
	"time"

	"github.com/skua-data/skua/fault"
)

// Hold counts n bytes that outlive the statement, such as what a cache keeps, on the process's account until release is called. False: they
// would take the process over its limit, and nothing is counted.
func (s *Statement) Hold(n int64) (release func(), ok bool) {
	p := s.pool
	switch {
	case p.config.Memory <= 0:
		p.count(n)
	case !p.claim(n):
		return func() {}, false
	}
	return p.releaser(n), true
}

func (p *Pool) releaser(n int64) func() {
	return sync.OnceFunc(func() {
		p.used.Add(-n)
		p.gaveBack()
	})
}

// Keep is Hold for what the statement cannot do without, such as its plan: it takes what is free of the statement's seat, or waits until there is room, as
// Enter does. It fails at once where n is over the limit by itself. Where everybody inside waits so, the first of them goes on.
func (s *Statement) Keep(ctx context.Context, n int64) (release func(), err error) {
	p := s.pool
	if release, ok := s.Hold(n); ok {
		return release, nil
	}
	if s.spareSeat(n) {
		return p.releaser(n), nil
	}
	if n > p.config.Memory {
		return nil, fault.New(fault.Exhausted, "%d bytes are over the server's limit of %d", n, p.config.Memory).Change(memoryLimit)
	}
	p.askForMemory()
	a := &p.admission
	a.mu.Lock()
	a.keeping++
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.keeping--
		p.settle()
	}()
	for deadline := time.Now().Add(p.config.Wait); ; {
		a.mu.Lock()
		alone := a.keeping >= len(a.inside)
		a.mu.Unlock()
		if alone {
			p.count(n)
			return p.releaser(n), nil
		}
		if release, ok := s.Hold(n); ok {
			return release, nil
		}
		if time.Now().After(deadline) {
			return nil, fault.New(fault.Exhausted, "%d bytes are needed where the server is at its limit of %d, and none came free in %s", n, p.config.Memory, p.config.Wait).Change(memoryLimit)
		}
		select {
		case <-time.After(keepAgain):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// spareSeat takes n bytes off the statement's seat, if so many are free there: the process counts them on for something else.
func (s *Statement) spareSeat(n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting > 0 || s.resting > 0 || max(s.used, s.reserved)+n > s.seat {
		return false
	}
	s.seat, s.counted = s.seat-n, s.counted-n
	return true
}

// keepAgain is how often Keep looks whether there is room.
const keepAgain = 20 * time.Millisecond

// Charge counts n bytes that the statement holds outside of its allocator, until release is called.
func (s *Statement) Charge(n int64) (release func()) {
	s.add(n)
	return sync.OnceFunc(func() { s.add(-n) })
}
