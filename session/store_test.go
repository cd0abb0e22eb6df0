package session

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

func newTestStore(c StoreConfig) (*Store, *time.Time) {
	now := time.Unix(1_000_000, 0)
	c.Now = func() time.Time { return now }
	return NewStore(c), &now
}

func empty() (State, error) { return State{}, nil }

func TestASessionIsItsOwnersOnly(t *testing.T) {
	s, _ := newTestStore(StoreConfig{})
	made, err := s.Create("alice", State{Catalog: "c"})
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := s.Get(made.ID(), "alice"); !ok || got != made {
		t.Error("the owner does not get it")
	}
	if _, ok := s.Get(made.ID(), "bob"); ok {
		t.Error("another user gets it")
	}
	if s.Close(made.ID(), "bob") || !s.Close(made.ID(), "alice") || s.Close(made.ID(), "alice") {
		t.Error("it must be closed once, by its owner")
	}
	if other, _ := s.Create("alice", State{}); other.ID() == made.ID() || len(other.ID()) < 26 {
		t.Errorf("id %q", other.ID())
	}
}

func TestOneKeyGivesOneSessionToAll(t *testing.T) {
	s, _ := newTestStore(StoreConfig{})
	var wait sync.WaitGroup
	got := make([]*Session, 20)
	for i := range got {
		wait.Go(func() { got[i], _ = s.Bound("k", "alice", empty) })
	}
	wait.Wait()
	for _, g := range got {
		if g == nil || g != got[0] {
			t.Fatal("two sessions for one key")
		}
	}
	if other, _ := s.Bound("k", "bob", empty); other == got[0] {
		t.Error("two owners share a key's session")
	}
	if _, ok := s.Lookup("nothing", "alice"); ok || s.Len() != 2 {
		t.Errorf("looking made a session; there are %d", s.Len())
	}
	failure := errors.New("no state")
	if _, err := s.Bound("bad", "alice", func() (State, error) { return State{}, failure }); !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
}

func TestTheStoreIsBounded(t *testing.T) {
	s, now := newTestStore(StoreConfig{Max: 5, MaxPerOwner: 3, Idle: time.Minute})
	for i := range 3 {
		if _, err := s.Bound(fmt.Sprint(i), "alice", empty); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Create("alice", State{}); !errors.Is(err, ErrTooMany) {
		t.Errorf("one owner has more than 3: %v", err)
	}
	s.Create("bob", State{})
	s.Create("bob", State{})
	if _, err := s.Create("carol", State{}); !errors.Is(err, ErrTooMany) {
		t.Errorf("there are more than 5: %v", err)
	}
	*now = now.Add(2 * time.Minute) // what is idle makes room
	if _, err := s.Create("carol", State{}); err != nil || s.Len() != 1 {
		t.Errorf("%v, %d sessions", err, s.Len())
	}
}

func TestUseKeepsASessionAndIdlenessEndsIt(t *testing.T) {
	s, now := newTestStore(StoreConfig{Idle: time.Minute})
	kept, _ := s.Create("alice", State{})
	s.Bound("k", "alice", empty)
	for range 5 {
		*now = now.Add(50 * time.Second)
		if _, ok := s.Get(kept.ID(), "alice"); !ok {
			t.Fatal("a used session ended")
		}
	}
	s.Expire()
	if s.Len() != 1 || s.Ended("k", "alice") != Expired {
		t.Errorf("%d sessions, key ended: %d", s.Len(), s.Ended("k", "alice"))
	}
	*now = now.Add(2 * time.Minute)
	if _, ok := s.Get(kept.ID(), "alice"); ok {
		t.Error("an idle session is found")
	}
}

func TestEndingsOfKeys(t *testing.T) {
	s, _ := newTestStore(StoreConfig{})
	if s.Ended("k", "alice") != NotEnded {
		t.Error("ended before it began")
	}
	if !s.CloseBound("k", "alice") || s.CloseBound("k", "alice") {
		t.Error("a key without a session closes once")
	}
	s.Bound("k", "alice", empty)
	if s.Ended("k", "alice") != NotEnded {
		t.Error("a new session does not clear the ending")
	}
	if !s.CloseBound("k", "alice") || s.Len() != 0 || s.Ended("k", "alice") != Closed {
		t.Error("a bound session does not close")
	}
	for i := range maxEnded + 100 {
		s.CloseBound(fmt.Sprint(i), "bob")
	}
	if n := len(s.ended.how); n > maxEnded {
		t.Errorf("%d endings are remembered", n)
	}
}

func TestALostConnectionEndsWhatOnlyItLedTo(t *testing.T) {
	s, _ := newTestStore(StoreConfig{})
	s.Bound("gone", "alice", empty)
	named, _ := s.Bound("named", "alice", empty)
	s.Get(named.ID(), "alice")
	s.Unbind("gone", "alice", "bob")
	s.Unbind("named", "alice")
	if s.Len() != 1 {
		t.Fatalf("%d sessions", s.Len())
	}
	if _, ok := s.Lookup("named", "alice"); ok {
		t.Error("the key still leads to it")
	}
	if _, ok := s.Get(named.ID(), "alice"); !ok {
		t.Error("its id does not lead to it any more")
	}
}
