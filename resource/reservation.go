package resource

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// The first reservation in line goes on over the limit after grace, where all others wait, too, and only what was sent to their clients is under way; and
// after a part of the time that statements wait for memory at most, so that nobody waits for what never comes free.
const (
	grace        = 50 * time.Millisecond
	patiencePart = 30 // of Config.Wait: two seconds
)

// reservation is one that waits.
type reservation struct {
	statement *Statement
	bytes     int64
	first     time.Time     // since when it is the first; zero: it is not
	in        chan struct{} // closed when it was granted
}

// Reserve waits until the process has n bytes for what a statement that is inside is about to do, such as reading a row group: it counts for them, or for
// what it uses where that is more, until release is called. Reservations are granted in the order in which they came, before others are let in. While one
// waits and its statement holds no other, the statement's seat is given up. The first in line goes on over the limit after a while, at once where it is
// alone: none of those inside waits for ever. It fails only when ctx ends.
func (s *Statement) Reserve(ctx context.Context, n int64) (release func(), err error) {
	p := s.pool
	if p.config.Memory <= 0 || n <= 0 {
		return func() {}, nil
	}
	if release, ok := s.TryReserve(n); ok {
		return release, nil
	}
	a := &p.admission
	a.mu.Lock()
	a.watched.Store(true)
	r := &reservation{statement: s, bytes: n, in: make(chan struct{})}
	place := a.wanting.PushBack(r)
	s.reserve(0, 1)
	p.settle()
	a.mu.Unlock()
	p.askForMemory()
	if err := p.wait(ctx, place); err != nil {
		return func() {}, err
	}
	return s.unreserver(n), nil
}

// TryReserve is Reserve where that does not wait; false: it would, and nothing is reserved.
func (s *Statement) TryReserve(n int64) (release func(), ok bool) {
	p := s.pool
	if p.config.Memory <= 0 || n <= 0 {
		return func() {}, true
	}
	if s.covered(n) {
		return s.unreserver(n), true
	}
	a := &p.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.wanting.Len() > 0 || !s.fits(n, 0) {
		return func() {}, false
	}
	return s.unreserver(n), true
}

// wait waits until a reservation is granted.
func (p *Pool) wait(ctx context.Context, place *list.Element) error {
	a := &p.admission
	again := time.NewTicker(grace / 2)
	defer again.Stop()
	for r := place.Value.(*reservation); ; {
		select {
		case <-r.in:
			return nil
		case <-again.C:
			a.mu.Lock()
			p.settle()
			a.mu.Unlock()
		case <-ctx.Done():
			a.mu.Lock()
			defer a.mu.Unlock()
			select {
			case <-r.in:
				r.statement.reserve(-r.bytes, 0)
			default:
				a.wanting.Remove(place)
				r.statement.reserve(0, -1)
			}
			p.settle()
			return ctx.Err()
		}
	}
}

// covered takes a reservation that is part of what the statement counts for anyway.
func (s *Statement) covered(n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting > 0 || s.resting > 0 || s.reserved+n > s.seat {
		return false
	}
	s.reserved += n
	return true
}

// fits reserves n bytes, for one of those that wait or for none, if the process has them.
func (s *Statement) fits(n int64, waiting int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	growth := max(s.used, s.seat, s.reserved+n) - s.counted
	if !s.pool.claim(growth) {
		return false
	}
	s.reserved, s.waiting, s.counted = s.reserved+n, s.waiting-waiting, s.counted+growth
	s.recount() // others of the statement may wait on
	return true
}

// reserve changes what is reserved, and how many reservations wait.
func (s *Statement) reserve(n int64, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reserved, s.waiting = s.reserved+n, s.waiting+waiting
	s.recount()
}

func (s *Statement) unreserver(n int64) (release func()) {
	return sync.OnceFunc(func() {
		s.reserve(-n, 0)
		s.pool.gaveBack()
	})
}

// grant gives reservations what there is, in order. The lock is held.
func (p *Pool) grant() {
	a := &p.admission
	for place := a.wanting.Front(); place != nil; place = a.wanting.Front() {
		r := place.Value.(*reservation)
		if r.first.IsZero() {
			r.first = time.Now()
		}
		if !r.statement.fits(r.bytes, 1) {
			if !p.overdue(r) {
				return
			}
			r.statement.reserve(r.bytes, -1)
		}
		a.wanting.Remove(place)
		close(r.in)
	}
}

// overdue says whether the first reservation in line has waited long enough for others. The lock is held.
func (p *Pool) overdue(r *reservation) bool {
	others, resting := 0, 0
	for other := range p.admission.inside {
		if other != r.statement {
			others++
			if other.rests() {
				resting++
			}
		}
	}
	waited := time.Since(r.first)
	return others == 0 || waited >= p.config.Wait/patiencePart || waited >= grace && resting == others
}

// rests says whether the statement waits for memory or for its client, and reads nothing meanwhile.
func (s *Statement) rests() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return (s.waiting > 0 || s.resting > 0) && s.reserved == 0
}
