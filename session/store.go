package session

import (
	"crypto/rand"
	"errors"
	"sync"
	"time"
)

// ErrTooMany says that the store, or what one owner may have of it, is full.
var ErrTooMany = errors.New("session: too many sessions")

// maxEnded bounds how many ended names a Store remembers.
const maxEnded = 1 << 16

// StoreConfig bounds a Store. Zero values mean what each field says.
type StoreConfig struct {
	Max         int              // sessions in all; 0: 10,000
	MaxPerOwner int              // sessions of one owner; 0: Max
	Idle        time.Duration    // a session unused for longer ends; 0: 8 hours
	Now         func() time.Time // nil: time.Now
}

// Store holds the sessions of a process: bounded, expiring, each bound to its owner. It is safe for concurrent use.
type Store struct {
	config StoreConfig

	mu     sync.Mutex
	byID   map[string]*entry
	bound  map[binding]*entry
	owners map[string]int
	ended  endings
}

// entry is a session with the key it is bound to.
type entry struct {
	session *Session
	key     *binding // what it is bound to, or nil
	named   bool     // somebody came by id: it outlives its key
}

type binding struct{ key, owner string }

// NewStore makes an empty store.
func NewStore(c StoreConfig) *Store {
	if c.Max <= 0 {
		c.Max = 10_000
	}
	if c.MaxPerOwner <= 0 {
		c.MaxPerOwner = c.Max
	}
	if c.Idle <= 0 {
		c.Idle = 8 * time.Hour
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Store{config: c, byID: map[string]*entry{}, bound: map[binding]*entry{}, owners: map[string]int{}, ended: newEndings(maxEnded)}
}

// Create makes a session with a fresh unguessable id. Over the bound it is ErrTooMany.
func (s *Store) Create(owner string, state State) (*Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.create(owner, state)
	if err != nil {
		return nil, err
	}
	return e.session, nil
}

func (s *Store) create(owner string, state State) (*entry, error) {
	now := s.config.Now()
	if len(s.byID) >= s.config.Max || s.owners[owner] >= s.config.MaxPerOwner {
		s.expire(now)
	}
	if len(s.byID) >= s.config.Max || s.owners[owner] >= s.config.MaxPerOwner {
		return nil, ErrTooMany
	}
	e := &entry{session: New(rand.Text(), owner, state, now)}
	s.byID[e.session.ID()] = e
	s.owners[owner]++
	return e, nil
}

// Get gives the session of an id if owner owns it, and counts as a use. A session that was ever got by id outlives the key it is bound to.
func (s *Store) Get(id, owner string) (*Session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.byID[id]
	if e == nil || e.session.Owner() != owner || !s.alive(e) {
		return nil, false
	}
	e.named = true
	return e.session, true
}

// Lookup gives the session that is bound to a key, if there is one, and counts as a use.
func (s *Store) Lookup(key, owner string) (*Session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.bound[binding{key, owner}]
	if e == nil || !s.alive(e) {
		return nil, false
	}
	return e.session, true
}

// Bound gives the session that is bound to a key, such as a connection's name, and makes it from create if there is none: of several callers
// at once all get the same. create is called without a lock held and may be called in vain.
func (s *Store) Bound(key, owner string, create func() (State, error)) (*Session, error) {
	if found, ok := s.Lookup(key, owner); ok {
		return found, nil
	}
	state, err := create()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b := binding{key, owner}
	if e := s.bound[b]; e != nil && s.alive(e) {
		return e.session, nil
	}
	e, err := s.create(owner, state)
	if err != nil {
		return nil, err
	}
	e.key = &b
	s.bound[b] = e
	s.ended.clear(b)
	return e.session, nil
}

// Unbind forgets a key of the owners given, as when a connection is gone; a session that nobody came to by id ends with it.
func (s *Store) Unbind(key string, owners ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, owner := range owners {
		e := s.bound[binding{key, owner}]
		if e == nil {
			continue
		}
		delete(s.bound, binding{key, owner})
		e.key = nil
		if !e.named {
			s.remove(e, Closed)
		}
	}
}

// Close ends a session, and reports whether there was one of that owner.
func (s *Store) Close(id, owner string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.byID[id]
	if e == nil || e.session.Owner() != owner {
		return false
	}
	s.remove(e, Closed)
	return true
}

// Ending says how the session of a key ended.
type Ending uint8

// The endings.
const (
	NotEnded Ending = iota
	Closed          // by the client
	Expired         // idle for too long
)

// CloseBound ends the session bound to a key, or marks the key as closed where no session was ever made. It reports whether the key had not
// ended before.
func (s *Store) CloseBound(key, owner string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := binding{key, owner}
	if e := s.bound[b]; e != nil {
		s.remove(e, Closed)
		return true
	}
	if s.ended.get(b) != NotEnded {
		return false
	}
	s.ended.add(b, Closed)
	return true
}

// Ended tells how the session last bound to a key ended; a new one at that key clears it. The latest 65,536 endings are remembered.
func (s *Store) Ended(key, owner string) Ending {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended.get(binding{key, owner})
}

// Expire ends the sessions that were idle for too long. A ticker of the server calls it.
func (s *Store) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(s.config.Now())
}

// Len is the number of sessions.
func (s *Store) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byID)
}

func (s *Store) expire(now time.Time) {
	for _, e := range s.byID {
		if now.Sub(e.session.Used()) > s.config.Idle {
			s.remove(e, Expired)
		}
	}
}

// alive touches a session, or removes it when its time is over.
func (s *Store) alive(e *entry) bool {
	now := s.config.Now()
	if now.Sub(e.session.Used()) > s.config.Idle {
		s.remove(e, Expired)
		return false
	}
	e.session.Touch(now)
	return true
}

func (s *Store) remove(e *entry, how Ending) {
	owner := e.session.Owner()
	delete(s.byID, e.session.ID())
	if s.owners[owner]--; s.owners[owner] == 0 {
		delete(s.owners, owner)
	}
	if e.key != nil {
		delete(s.bound, *e.key)
		s.ended.add(*e.key, how)
	}
}

// endings remembers how the latest keys ended.
type endings struct {
	how  map[binding]Ending
	ring []binding
	next int
}

func newEndings(n int) endings {
	return endings{how: map[binding]Ending{}, ring: make([]binding, 0, n)}
}

func (n *endings) get(b binding) Ending { return n.how[b] }

// clear forgets a key; its place in the ring stays until it is overwritten.
func (n *endings) clear(b binding) { delete(n.how, b) }

func (n *endings) add(b binding, how Ending) {
	if _, known := n.how[b]; known {
		n.how[b] = how
		return
	}
	n.how[b] = how
	if len(n.ring) < cap(n.ring) {
		n.ring = append(n.ring, b)
		return
	}
	delete(n.how, n.ring[n.next])
	n.ring[n.next] = b
	n.next = (n.next + 1) % len(n.ring)
}
