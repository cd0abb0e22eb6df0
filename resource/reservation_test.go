package resource

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"
)

// wanting waits until n reservations wait.
func wanting(t *testing.T, p *Pool, n int) {
	t.Helper()
	inLine(t, p, &p.admission.wanting, n)
}

func reserve(t *testing.T, s *Statement, n int64) func() {
	t.Helper()
	release, ok := s.TryReserve(n)
	if !ok {
		t.Fatalf("no room for %d", n)
	}
	return release
}

func TestAStatementCountsForTheMostOfWhatItHasAndWhatItMayTake(t *testing.T) {
	p := NewPool(Config{Memory: 1000})
	s, leave := enter(t, p)
	counts := func(step string, want int64) {
		t.Helper()
		if p.Used() != want {
			t.Errorf("%s: %d bytes, want %d", step, p.Used(), want)
		}
	}
	counts("its seat", 250)
	s.Scratch(200)
	counts("less than its seat", 250)
	free := reserve(t, s, 240)
	counts("a reservation inside its seat", 250)
	more := reserve(t, s, 300)
	counts("reservations", 540)
	s.Scratch(500)
	counts("more than was reserved", 700)
	if s.Err() != nil || s.Used() != 700 {
		t.Errorf("%v, %d used", s.Err(), s.Used())
	}
	if _, ok := s.TryReserve(701); ok {
		t.Error("more than the limit was reserved")
	}
	more()
	more()
	free()
	s.Scratch(-650)
	counts("all but its seat given back", 250)
	s.Scratch(-50)
	leave()
	counts("left", 0)
	if p.Peak() != 700 {
		t.Errorf("peak %d", p.Peak())
	}
}

func TestReservationsAreGrantedInOrderAndBeforeOthersComeIn(t *testing.T) {
	p := NewPool(Config{Memory: 1000, Wait: time.Hour})
	reader, leaveReader := enter(t, p)
	reading := reserve(t, reader, 450)
	var mu sync.Mutex
	var order []int
	then := func(i int) {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, i)
	}
	first, leaveFirst := enter(t, p)
	second, leaveSecond := enter(t, p)
	var all sync.WaitGroup
	for i, w := range []struct {
		statement *Statement
		leave     func()
		bytes     int64
	}{{first, leaveFirst, 700}, {second, leaveSecond, 300}} { // the second would fit at once
		all.Go(func() {
			defer w.leave()
			release, err := w.statement.Reserve(t.Context(), w.bytes)
			if err != nil {
				t.Error(err)
			}
			then(i)
			release()
		})
		wanting(t, p, i+1)
	}
	if p.Used() != 450 {
		t.Errorf("%d bytes: those that wait keep their seats", p.Used())
	}
	all.Go(func() {
		_, leave := enter(t, p)
		then(2)
		leave()
	})
	waiting(t, p, 1)
	reading()
	all.Wait()
	leaveReader()
	if !slices.Equal(order, []int{0, 1, 2}) && !slices.Equal(order, []int{0, 2, 1}) || p.Used() != 0 || p.Peak() > 1000 {
		t.Errorf("granted in the order %v, %d bytes left, peak %d", order, p.Used(), p.Peak())
	}
}

func TestReservationsOverTheLimitGoOnAlone(t *testing.T) {
	p := NewPool(Config{Memory: 1000, Wait: time.Hour})
	var all sync.WaitGroup
	for range 3 {
		s, leave := enter(t, p)
		all.Go(func() {
			defer leave()
			release, err := s.Reserve(t.Context(), 1500)
			if err != nil {
				t.Error(err)
			}
			release()
		})
	}
	all.Wait()
	if p.Used() != 0 || p.Peak() > 1500 {
		t.Errorf("%d bytes left, peak %d", p.Used(), p.Peak())
	}
}

func TestAReservationWaitsForSlowOnesNotForEver(t *testing.T) {
	p := NewPool(Config{Memory: 1000, Wait: 30 * time.Millisecond * patiencePart})
	slow, leaveSlow := enter(t, p)
	s, leave := enter(t, p)
	reading := reserve(t, slow, 750)
	release, err := s.Reserve(t.Context(), 500)
	if err != nil || p.Used() != 1250 {
		t.Errorf("%v, %d bytes", err, p.Used())
	}
	release()
	leave()
	reading()
	leaveSlow()
}

func TestWhoeverLeavesTheLineOfReservationsHoldsNothing(t *testing.T) {
	p := NewPool(Config{Memory: 1000, Wait: time.Hour})
	other, leaveOther := enter(t, p)
	s, leave := enter(t, p)
	reading := reserve(t, other, 750)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := s.Reserve(ctx, 500)
		done <- err
	}()
	wanting(t, p, 1)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	reading()
	if p.Used() != 500 {
		t.Errorf("%d bytes beside two seats", p.Used()-500)
	}
	leave()
	leaveOther()
	if p.Used() != 0 || p.admission.watched.Load() {
		t.Errorf("%d bytes are left, watched %t", p.Used(), p.admission.watched.Load())
	}
}

// TestStatementsOfSlowClientsLeaveTheirSeats: those whose clients take nothing do not keep others out.
func TestStatementsOfSlowClientsLeaveTheirSeats(t *testing.T) {
	p := NewPool(Config{Memory: 1000, Wait: time.Hour})
	var wake []func()
	for range 4 {
		s, leave := enter(t, p)
		defer leave()
		s.Scratch(10)
		defer s.Scratch(-10)
		wake = append(wake, s.Rest())
	}
	if p.Used() != 40 {
		t.Errorf("those that rest count for %d bytes, not for the 40 that they use", p.Used())
	}
	_, leave := enter(t, p)
	for _, w := range wake {
		w()
		w()
	}
	if p.Used() != 1250 {
		t.Errorf("awake they count for %d bytes, want their seats", p.Used())
	}
	leave()
}
