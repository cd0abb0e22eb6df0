package resource

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
)

func TestLimitsNameTheirSettingAndLeaveOthersAlone(t *testing.T) {
	for _, c := range []struct {
		name    string
		config  Config
		setting string
	}{
		{"none", Config{}, ""},
		{"statement", Config{StatementMemory: 1000, Memory: 1 << 20}, "skua.statement.memory.limit"},
		{"server", Config{Memory: 1000}, "skua.memory.limit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			checked := memory.NewCheckedAllocator(memory.NewGoAllocator())
			defer checked.AssertSize(t, 0)
			c.config.Allocator = checked
			pool := NewPool(c.config)
			s, other := pool.NewStatement("s"), pool.NewStatement("o")
			small := other.Allocator().Allocate(100)
			big := s.Allocator().Allocate(900)
			if s.Err() != nil {
				t.Errorf("within the limit: %v", s.Err())
			}
			big = s.Allocator().Reallocate(2000, big)
			err := s.Err()
			switch {
			case c.setting == "" && err != nil:
				t.Errorf("without a limit: %v", err)
			case c.setting != "" && (!fault.Is(err, fault.Exhausted) || !strings.Contains(err.Error(), c.setting)):
				t.Errorf("over the limit: %v", err)
			}
			if other.Err() != nil {
				t.Errorf("another statement pays: %v", other.Err())
			}
			if s.Used() != 2000 || s.Peak() != 2000 || pool.Used() != 2100 {
				t.Errorf("used %d, peak %d, all %d", s.Used(), s.Peak(), pool.Used())
			}
			s.Allocator().Free(big)
			other.Allocator().Free(small)
			if s.Used() != 0 || pool.Used() != 0 || s.Peak() != 2000 {
				t.Errorf("after freeing: used %d, all %d, peak %d", s.Used(), pool.Used(), s.Peak())
			}
		})
	}
}

func TestCoresAreSharedAndGivenBack(t *testing.T) {
	pool := NewPool(Config{Cores: 2})
	s := pool.NewStatement("s")
	var running, most int
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range 20 {
		workers.Go(func() {
			release, err := s.Core(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			defer release()
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			mu.Lock()
			running--
			mu.Unlock()
		})
	}
	workers.Wait()
	if most > 2 {
		t.Errorf("%d workers at once on 2 cores", most)
	}
	first, _ := s.Core(t.Context())
	second, _ := s.Core(t.Context())
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Core(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that left waits for a core: %v", err)
	}
	first()
	second()
}

func TestStatementTravelsInTheContext(t *testing.T) {
	s := NewPool(Config{}).NewStatement("id")
	if From(With(t.Context(), s)) != s {
		t.Error("another statement came back")
	}
	if free := From(t.Context()); free == nil || free.Err() != nil || free.Cores() != 1 {
		t.Error("without a statement there must be one without limits")
	}
}

// TestRestingCountsWhatIsHeldElsewhere: up to the seat, and nothing of it once the statement wakes.
func TestRestingCountsWhatIsHeldElsewhere(t *testing.T) {
	p := NewPool(Config{Memory: 40 << 20})
	s := p.NewStatement("s")
	leave, err := s.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := s.Allocator().Allocate(1 << 20)
	for _, c := range []struct{ held, counted int64 }{{0, 1 << 20}, {3 << 20, 4 << 20}, {1 << 30, 10 << 20}} {
		wake := s.RestHolding(c.held)
		if got := p.Used(); got != c.counted {
			t.Errorf("%d held: %d are counted, want %d", c.held, got, c.counted)
		}
		wake()
		if got := p.Used(); got != 10<<20 {
			t.Errorf("awake: %d are counted", got)
		}
	}
	s.Allocator().Free(b)
	leave()
	if p.Used() != 0 || s.Err() != nil {
		t.Errorf("%d bytes are left, %v", p.Used(), s.Err())
	}
}
