package scan

import (
	"context"
	"sync"

	"github.com/skua-data/skua/resource"
)

// shared is an immutable value that a cache and plans hold together. Its memory counts as the process's while one of them holds it, and once; a
// cache that lets go of it takes nothing from a plan.
type shared[T any] struct {
	value T
	size  int64 // bytes

	mu      sync.Mutex
	holders int
	free    func()
}

// holder is what the cache needs to know of a shared value.
type holder interface {
	hold(ctx context.Context) bool
	letGo()
}

// hold adds a holder; false: the value would take the process over its limit, and nothing is added.
func (s *shared[T]) hold(ctx context.Context) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holders == 0 {
		free, ok := resource.From(ctx).Hold(s.size)
		if !ok {
			return false
		}
		s.free = free
	}
	s.holders++
	return true
}

// wait adds a holder, once the process has memory for it.
func (s *shared[T]) wait(ctx context.Context) error {
	free, err := resource.From(ctx).Keep(ctx, s.size)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holders++; s.holders > 1 {
		free() // another was faster
		return nil
	}
	s.free = free
	return nil
}

// letGo takes a holder away.
func (s *shared[T]) letGo() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holders--; s.holders == 0 {
		s.free()
	}
}
