package session

import (
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// State is what a statement sees of its session. It is read once per statement: a concurrent SET affects the next one.
type State struct {
	Conf      Conf     // what the client set, over Startup
	Startup   Conf     // what the operator configured; RESET goes back to it
	Catalog   string   // current catalog; empty when none is configured
	Namespace []string // current namespace in it; empty: the root
	Objects   Objects  // variables and temporary views
}

// Get gives the value in force for a key: the session's, else the start-up one.
func (s State) Get(key string) (string, bool) {
	if v, ok := s.Conf.Get(key); ok {
		return v, true
	}
	return s.Startup.Get(key)
}

// Prefix yields the keys in force that begin with prefix, in byte order. Its cost grows with what the two configurations hold under the prefix,
// not with their size.
func (s State) Prefix(prefix string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		var own [][2]string
		for k, v := range s.Conf.Prefix(prefix) {
			own = append(own, [2]string{k, v})
		}
		for k, v := range s.Startup.Prefix(prefix) {
			for len(own) > 0 && own[0][0] < k {
				if !yield(own[0][0], own[0][1]) {
					return
				}
				own = own[1:]
			}
			if overridden := len(own) > 0 && own[0][0] == k; !overridden && !yield(k, v) {
				return
			}
		}
		for _, p := range own {
			if !yield(p[0], p[1]) {
				return
			}
		}
	}
}

// All gives the merged configuration in force.
func (s State) All() Conf {
	out := s.Startup
	for k, v := range s.Conf.All() {
		out = out.With(k, v)
	}
	return out
}

// Session is one client's session. It is safe for concurrent use.
type Session struct {
	id    string
	owner string
	mu    sync.Mutex // serialises Update, and guards given
	given map[string]given
	state atomic.Pointer[State]
	used  atomic.Int64 // unix nanoseconds of the last use
}

// New makes a session. id is unguessable and owner the principal it is bound to; both are the caller's to choose.
func New(id, owner string, state State, now time.Time) *Session {
	s := &Session{id: id, owner: owner}
	s.state.Store(&state)
	s.Touch(now)
	return s
}

// ID is the session's unguessable name: whoever holds it and is its owner is in the session. Log only a hash of it.
func (s *Session) ID() string { return s.id }

// Owner is the principal the session is bound to.
func (s *Session) Owner() string { return s.owner }

// State is the state now. Its Namespace must not be changed.
func (s *Session) State() State { return *s.state.Load() }

// Update changes the state by change, which sees the latest and may refuse; then nothing changes. Updates of one session run one after another.
func (s *Session) Update(change func(State) (State, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	next, err := change(s.State())
	if err != nil {
		return err
	}
	next.Namespace = slices.Clone(next.Namespace)
	s.state.Store(&next)
	return nil
}

// Touch notes a use, which postpones expiry.
func (s *Session) Touch(now time.Time) { s.used.Store(now.UnixNano()) }

// Used is the time of the last use.
func (s *Session) Used() time.Time { return time.Unix(0, s.used.Load()) }
