package resource

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skua-data/skua/fault"
)

const (
	mostSeat    = 24 << 20    // bytes that a running statement counts for at least
	mostWaiting = 1000        // statements that wait at once
	defaultWait = time.Minute // how long one waits
	memoryLimit = "skua.memory.limit"
)

// admission lets statements in while the process has memory for them, in the order in which they came. Those that are inside go on, slower where memory
// is short, so that none of them dies of the others.
type admission struct {
	mu      sync.Mutex
	waiting list.List // of *waiter
	wanting list.List // of *reservation: those inside go before those that wait to come in
	inside  map[*Statement]struct{}
	keeping int           // of those, the ones that wait for memory to keep something
	eased   chan struct{} // closed when memory is no longer short; nil: nobody asked
	watched atomic.Bool   // somebody waits for memory to be given back
	relief  []func()
	relieve sync.Mutex
	last    time.Time // when memory was last asked for
	moved   time.Time // when one of those that wait was last let in
}

type waiter struct {
	statement *Statement
	in        chan struct{} // closed when it was let in
}

// OnShort has f called, one call at a time, where statements wait for memory: it lets go of what the process can do without.
func (p *Pool) OnShort(f func()) {
	p.admission.mu.Lock()
	defer p.admission.mu.Unlock()
	p.admission.relief = append(p.admission.relief, f)
}

// Enter waits until the process has memory for another statement. Statements that come later wait behind it. It fails with fault.Exhausted when a thousand
// wait already, and after the Pool's Wait in which nobody was let in; and when ctx ends. leave is called once the statement holds no memory any more. A statement that is inside
// enters again at once.
func (s *Statement) Enter(ctx context.Context) (leave func(), err error) {
	p := s.pool
	if p.config.Memory <= 0 {
		return func() {}, nil
	}
	a := &p.admission
	a.mu.Lock()
	a.watched.Store(true) // before looking, so that nothing is given back unseen
	if (s.inside > 0 || a.waiting.Len() == 0) && p.sit(s) {
		p.settle()
		a.mu.Unlock()
		return p.leaver(s), nil
	}
	if n := a.waiting.Len(); n >= mostWaiting {
		p.settle()
		a.mu.Unlock()
		return nil, fault.New(fault.Exhausted, "the server is at its limit of %d bytes of memory, and %d statements wait for some", p.config.Memory, n).Change(memoryLimit)
	}
	w := &waiter{s, make(chan struct{})}
	place := a.waiting.PushBack(w)
	a.mu.Unlock()
	p.askForMemory()
	if err := p.await(ctx, w.in, nil); err != nil {
		return nil, p.giveUp(place, err)
	}
	return p.leaver(s), nil
}

// await waits until one of two channels gives, for as long as the line moves.
func (p *Pool) await(ctx context.Context, a, b <-chan struct{}) error {
	for wait := p.config.Wait; ; {
		patience := time.NewTimer(wait)
		select {
		case <-a:
			patience.Stop()
			return nil
		case <-b:
			patience.Stop()
			return nil
		case <-ctx.Done():
			patience.Stop()
			return ctx.Err()
		case <-patience.C:
		}
		p.admission.mu.Lock()
		wait = p.config.Wait - time.Since(p.admission.moved)
		p.admission.mu.Unlock()
		if wait <= 0 {
			return fault.New(fault.Exhausted, "the server is at its limit of %d bytes of memory, and none came free in %s", p.config.Memory, p.config.Wait).Change(memoryLimit)
		}
	}
}

// giveUp takes a waiter out, also where it was let in at the last moment.
func (p *Pool) giveUp(place *list.Element, err error) error {
	a := &p.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	w := place.Value.(*waiter)
	select {
	case <-w.in:
		p.stand(w.statement)
	default:
		a.waiting.Remove(place)
	}
	p.settle()
	return err
}

func (p *Pool) leaver(s *Statement) func() {
	return sync.OnceFunc(func() {
		p.admission.mu.Lock()
		defer p.admission.mu.Unlock()
		p.stand(s)
		p.settle()
	})
}

// seat is what a statement inside counts for at least.
func (p *Pool) seat() int64 { return min(mostSeat, p.config.Memory/4) }

// sit lets a statement in, if there is room: the first always may. The lock is held.
func (p *Pool) sit(s *Statement) bool {
	a := &p.admission
	if s.inside == 0 {
		switch {
		case len(a.inside) == 0:
			s.take(p.seat())
		case a.wanting.Len() > 0 || !s.takeFree(p.seat()):
			return false
		}
		if a.inside == nil {
			a.inside = map[*Statement]struct{}{}
		}
		a.inside[s] = struct{}{}
	}
	s.inside++
	return true
}

// stand lets it out. The lock is held.
func (p *Pool) stand(s *Statement) {
	if s.inside--; s.inside == 0 {
		delete(p.admission.inside, s)
		s.take(0)
	}
}

// take sets what the statement counts for at least.
func (s *Statement) take(seat int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seat = seat
	s.recount()
}

// takeFree is take, if the process has the memory.
func (s *Statement) takeFree(seat int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	growth := max(s.used, seat, s.reserved) - s.counted
	if !s.pool.claim(growth) {
		return false
	}
	s.seat, s.counted = seat, s.counted+growth
	return true
}

// settle lets in who may come in and wakes those that paused. The lock is held.
func (p *Pool) settle() {
	a := &p.admission
	p.grant()
	for front := a.waiting.Front(); front != nil && p.sit(front.Value.(*waiter).statement); front = a.waiting.Front() {
		w := a.waiting.Remove(front).(*waiter)
		a.moved = time.Now()
		close(w.in)
	}
	if a.eased != nil && !p.short() {
		close(a.eased)
		a.eased = nil
	}
	a.watched.Store(a.waiting.Len() > 0 || a.wanting.Len() > 0 || a.eased != nil || a.keeping > 0)
}

// short says whether those inside should take no more than they must. The lock is held.
func (p *Pool) short() bool {
	return p.used.Load() > p.config.Memory || p.admission.waiting.Len() > 0 || p.admission.wanting.Len() > 0
}

// gaveBack is called when memory was given back.
func (p *Pool) gaveBack() {
	if !p.admission.watched.Load() {
		return
	}
	p.admission.mu.Lock()
	defer p.admission.mu.Unlock()
	p.settle()
}

// Pause waits while memory is short, or others wait for some, and until hungry gives: then the client waits for what comes next, and a statement
// that is inside always makes that. Whoever produces batches ahead of a client calls it before each.
func (s *Statement) Pause(ctx context.Context, hungry <-chan struct{}) error {
	p := s.pool
	a := &p.admission
	if p.config.Memory <= 0 {
		return nil
	}
	for a.watched.Load() || p.used.Load() > p.config.Memory {
		a.mu.Lock()
		a.watched.Store(true)
		if !p.short() {
			p.settle()
			a.mu.Unlock()
			return nil
		}
		if a.eased == nil {
			a.eased = make(chan struct{})
		}
		eased := a.eased
		a.mu.Unlock()
		select {
		case <-eased:
		case <-hungry:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Short says whether Pause would wait.
func (s *Statement) Short() bool {
	p := s.pool
	return p.config.Memory > 0 && (p.admission.watched.Load() || p.used.Load() > p.config.Memory)
}

// askForMemory has the process let go of what it can do without, at most once a second.
func (p *Pool) askForMemory() {
	a := &p.admission
	a.mu.Lock()
	relief, due := a.relief, time.Since(a.last) >= time.Second
	if due {
		a.last = time.Now()
	}
	a.mu.Unlock()
	if !due || len(relief) == 0 {
		return
	}
	go func() {
		a.relieve.Lock()
		defer a.relieve.Unlock()
		for _, f := range relief {
			f()
		}
	}()
}
