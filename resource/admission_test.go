package resource

import (
	"container/list"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skua-data/skua/fault"
)

// waiting waits until n statements wait.
func waiting(t *testing.T, p *Pool, n int) {
	t.Helper()
	inLine(t, p, &p.admission.waiting, n)
}

// inLine waits until n stand in one of the pool's lines.
func inLine(t *testing.T, p *Pool, line *list.List, n int) {
	t.Helper()
	for range 10_000 {
		p.admission.mu.Lock()
		got := line.Len()
		p.admission.mu.Unlock()
		if got == n {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("%d never stood in line", n)
}

func enter(t *testing.T, p *Pool) (*Statement, func()) {
	t.Helper()
	s := p.NewStatement("s")
	leave, err := s.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s, leave
}

func TestEverybodyGetsThroughASmallLimit(t *testing.T) {
	const limit, statements, batches, batch = 64 << 10, 60, 20, 8 << 10
	p := NewPool(Config{Memory: limit, Cores: 2})
	var most atomic.Int64
	var all sync.WaitGroup
	for range statements {
		all.Go(func() {
			s := p.NewStatement("s")
			leave, err := s.Enter(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			defer leave()
			ready := make(chan []byte, 1)
			hungry := make(chan struct{}, 1)
			var client sync.WaitGroup
			client.Go(func() {
				for {
					select {
					case hungry <- struct{}{}:
					default:
					}
					b, more := <-ready
					if !more {
						return
					}
					s.Allocator().Free(b)
				}
			})
			for range batches {
				if err := s.Pause(t.Context(), hungry); err != nil {
					t.Error(err)
				}
				b := s.Allocator().Allocate(batch)
				for used, peak := p.Used(), most.Load(); used > peak && !most.CompareAndSwap(peak, used); peak = most.Load() {
				}
				ready <- b
			}
			close(ready)
			client.Wait()
			if err := s.Err(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	// Four seats at most; each of those inside may be past the limit with what its client waits for and with what it just took.
	if bound := int64(limit + 8*3*batch); most.Load() > bound {
		t.Errorf("%d bytes were in use at once, bound %d", most.Load(), bound)
	}
	if p.Used() != 0 || p.admission.watched.Load() {
		t.Errorf("%d bytes are left, watched %t", p.Used(), p.admission.watched.Load())
	}
}

func TestStatementsComeInAsTheyCame(t *testing.T) {
	p := NewPool(Config{Memory: 1000})
	first, leave := enter(t, p)
	kept, _ := first.Hold(600) // leaves one seat
	var mu sync.Mutex
	var order []int
	var all sync.WaitGroup
	for i := range 5 {
		all.Go(func() {
			_, leave := enter(t, p)
			mu.Lock()
			order = append(order, i)
			mu.Unlock()
			leave()
		})
		waiting(t, p, i+1)
	}
	if again, err := first.Enter(t.Context()); err != nil {
		t.Errorf("a statement that is inside: %v", err)
	} else {
		again()
	}
	leave()
	all.Wait()
	kept()
	if !slices.Equal(order, []int{0, 1, 2, 3, 4}) {
		t.Errorf("let in: %v", order)
	}
}

func TestWhoWaitsCanLeaveAndDoesNotWaitForEver(t *testing.T) {
	p := NewPool(Config{Memory: 1000, Wait: 20 * time.Millisecond})
	s, leave := enter(t, p)
	held := s.Allocator().Allocate(1000)
	_, err := p.NewStatement("late").Enter(t.Context())
	if !fault.Is(err, fault.Exhausted) || !strings.Contains(err.Error(), "skua.memory.limit") || !strings.Contains(err.Error(), "20ms") {
		t.Errorf("after the time: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	p.config.Wait = time.Hour
	done := make(chan error)
	go func() {
		_, err := p.NewStatement("gone").Enter(ctx)
		done <- err
	}()
	waiting(t, p, 1)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	waiting(t, p, 0)
	s.Allocator().Free(held)
	leave()
	if p.Used() != 0 {
		t.Errorf("%d bytes are left", p.Used())
	}
}

func TestNoMoreThanAThousandWait(t *testing.T) {
	p := NewPool(Config{Memory: 1000})
	s, leave := enter(t, p)
	held := s.Allocator().Allocate(1000)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range mostWaiting {
		all.Go(func() {
			if leave, err := p.NewStatement("w").Enter(ctx); err == nil {
				leave()
			}
		})
	}
	waiting(t, p, mostWaiting)
	if _, err := p.NewStatement("one more").Enter(t.Context()); !fault.Is(err, fault.Exhausted) || !strings.Contains(err.Error(), "1000 statements wait") {
		t.Errorf("one more: %v", err)
	}
	cancel()
	all.Wait()
	s.Allocator().Free(held)
	leave()
}

func TestABigStatementMakesRoomForSmallOnes(t *testing.T) {
	p := NewPool(Config{Memory: 1000})
	big, leave := enter(t, p)
	held := big.Allocator().Allocate(950)
	var small sync.WaitGroup
	small.Go(func() {
		_, leave := enter(t, p)
		leave()
	})
	waiting(t, p, 1)
	hungry := make(chan struct{}, 1)
	hungry <- struct{}{}
	if err := big.Pause(t.Context(), hungry); err != nil {
		t.Errorf("its client waits: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	paused := make(chan error)
	go func() { paused <- big.Pause(ctx, hungry) }()
	select {
	case err := <-paused:
		t.Errorf("it went on before the small one: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	big.Allocator().Free(held) // its client took what there was
	small.Wait()
	if err := <-paused; err != nil {
		t.Error(err)
	}
	cancel()
	leave()
}

func TestKeepWaitsAndNamesItsLimit(t *testing.T) {
	p := NewPool(Config{Memory: 1000, Wait: 50 * time.Millisecond})
	asked := make(chan struct{}, 1)
	p.OnShort(func() { asked <- struct{}{} })
	a, leaveA := enter(t, p)
	b, leaveB := enter(t, p)
	if _, err := a.Keep(t.Context(), 1001); !fault.Is(err, fault.Exhausted) || !strings.Contains(err.Error(), "skua.memory.limit") {
		t.Errorf("over the limit by itself: %v", err)
	}
	release, err := a.Keep(t.Context(), 400)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Keep(t.Context(), 400); !fault.Is(err, fault.Exhausted) {
		t.Errorf("where there is no room: %v", err)
	}
	<-asked
	p.config.Wait = time.Hour
	done := make(chan func())
	go func() {
		release, err := b.Keep(t.Context(), 400)
		if err != nil {
			t.Error(err)
		}
		done <- release
	}()
	release()
	(<-done)()
	leaveA()
	alone, err := b.Keep(t.Context(), 900) // over the limit with its seat, and nobody else will give any back
	if err != nil {
		t.Error(err)
	}
	alone()
	leaveB()
	if p.Used() != 0 {
		t.Errorf("%d bytes are left", p.Used())
	}
}

func TestWithoutALimitNobodyWaits(t *testing.T) {
	p := NewPool(Config{})
	for range 100 {
		s, _ := enter(t, p)
		s.Charge(1 << 40)
		if err := s.Pause(t.Context(), nil); err != nil || s.Short() || s.Err() != nil {
			t.Fatalf("%v, %v", err, s.Err())
		}
	}
}

// TestWhatIsKeptComesOutOfTheSeat fills the process with seats: what their statements keep goes no further.
func TestWhatIsKeptComesOutOfTheSeat(t *testing.T) {
	p := NewPool(Config{Memory: 1000})
	var statements [4]*Statement
	var ends, releases []func()
	for i := range statements {
		s, leave := enter(t, p)
		statements[i], ends = s, append(ends, leave)
	}
	for i, s := range statements {
		leave, used := ends[i], s.Allocator().Allocate(100)
		release, err := s.Keep(t.Context(), 60)
		if err != nil {
			t.Fatal(err)
		}
		ends[i] = func() { s.Allocator().Free(used); leave() }
		releases = append(releases, release)
	}
	if p.Used() != 1000 || p.Peak() != 1000 {
		t.Errorf("%d bytes are counted, %d at most", p.Used(), p.Peak())
	}
	for _, end := range ends {
		end()
	}
	if p.Used() != 4*60 {
		t.Errorf("%d bytes are kept", p.Used())
	}
	for _, release := range releases {
		release()
	}
	if p.Used() != 0 {
		t.Errorf("%d bytes are left", p.Used())
	}
}
