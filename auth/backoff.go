package auth

import (
	"strings"
	"sync"
	"time"

	"github.com/skua-data/skua/fault"
)

// A user's first wrong passwords cost nothing; each one after them doubles the time in which no password of that user is tried.
const (
	freeFailures = 5
	firstPause   = time.Second
	longestPause = time.Minute
	maxGuessed   = 10_000 // users with failures that are remembered
)

// backoff slows down whoever guesses passwords, user by user, whether the user exists or not.
type backoff struct {
	now func() time.Time

	mu    sync.Mutex
	users map[string]*failures
}

type failures struct {
	count int
	last  time.Time
}

func newBackoff(now func() time.Time) *backoff {
	return &backoff{now: now, users: map[string]*failures{}}
}

// pause is how long nothing is tried after so many failures.
func pause(count int) time.Duration {
	if count < freeFailures {
		return 0
	}
	return min(longestPause, firstPause<<min(count-freeFailures, 30))
}

// keyOf bounds what a name costs to remember.
func keyOf(user string) string { return strings.Clone(user[:min(len(user), maxName)]) }

// check refuses a try that comes too early.
func (b *backoff) check(user string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.users[keyOf(user)]
	if f == nil {
		return nil
	}
	if wait := pause(f.count) - b.now().Sub(f.last); wait > 0 {
		return fault.New(fault.Unauthenticated, "too many failed logins of this user; try again in %s", max(time.Second, wait.Round(time.Second)))
	}
	return nil
}

// failed counts a wrong password.
func (b *backoff) failed(user string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.users[keyOf(user)]
	if f == nil {
		b.make()
		f = &failures{}
		b.users[keyOf(user)] = f
	}
	if b.now().Sub(f.last) > 10*longestPause {
		f.count = 0
	}
	f.count, f.last = f.count+1, b.now()
}

// make makes room for a user: first of those whose failures are long ago, else of whose are the fewest.
func (b *backoff) make() {
	if len(b.users) < maxGuessed {
		return
	}
	least := ""
	for name, f := range b.users {
		if b.now().Sub(f.last) > longestPause {
			delete(b.users, name)
		} else if least == "" || f.count < b.users[least].count {
			least = name
		}
	}
	if len(b.users) >= maxGuessed {
		delete(b.users, least)
	}
}

// passed forgets a user's failures.
func (b *backoff) passed(user string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.users, keyOf(user))
}
