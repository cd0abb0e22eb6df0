package resource

import (
	"math/bits"
	"runtime"
	"sync"
	"weak"
)

// Spare keeps buffers that nobody uses, by capacity, up to a bound in bytes. What lay unused from one run of Go's garbage collector to the next is let
// go of, so that the sizes of one table are not kept for the next one. It is safe for concurrent use.
type Spare struct {
	bound int
	mu    sync.Mutex
	free  map[int]*stack
	idle  int
	told  bool // collections trim
}

// stack holds the buffers of one capacity. The least that it held since the last collection is what nobody needed.
type stack struct {
	buffers [][]byte
	least   int
}

// NewSpare makes one that keeps at most bound bytes.
func NewSpare(bound int) *Spare { return &Spare{bound: bound} }

// Take gives a buffer of just that capacity, whatever its bytes are; nil: there is none.
func (s *Spare) Take(capacity int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.free[capacity]
	if k == nil || len(k.buffers) == 0 {
		return nil
	}
	last := len(k.buffers) - 1
	b := k.buffers[last]
	k.buffers[last] = nil
	k.buffers = k.buffers[:last]
	k.least = min(k.least, last)
	s.idle -= capacity
	return b
}

// Put keeps a buffer, if there is room for it.
func (s *Spare) Put(b []byte) {
	size := cap(b)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.idle+size > s.bound {
		return
	}
	if !s.told {
		s.told, s.free = true, map[int]*stack{}
		s.trimLater()
	}
	k := s.free[size]
	if k == nil {
		k = &stack{}
		s.free[size] = k
	}
	k.buffers = append(k.buffers, b[:0])
	s.idle += size
}

// Idle is how many bytes are kept.
func (s *Spare) Idle() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.idle
}

// Drop lets go of all.
func (s *Spare) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.free)
	s.idle = 0
}

// trim lets go of what was not used since the last time.
func (s *Spare) trim() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for size, k := range s.free {
		left := len(k.buffers) - k.least
		clear(k.buffers[left:])
		k.buffers = k.buffers[:left]
		s.idle -= size * k.least
		if k.least = left; left == 0 {
			delete(s.free, size)
		}
	}
}

// collected is garbage from the start: the runtime tells of it once in every collection.
type collected struct{ of weak.Pointer[Spare] }

// trimLater lets every collection trim, for as long as somebody has the Spare.
func (s *Spare) trimLater() {
	runtime.SetFinalizer(&collected{weak.Make(s)}, func(c *collected) {
		if s := c.of.Value(); s != nil {
			s.trim()
			s.trimLater()
		}
	})
}

// Class is the capacity of buffers for n bytes: at least 4 KiB, and one of four for each power of two.
func Class(n int) int {
	if n <= recycledLeast {
		return recycledLeast
	}
	shift := bits.Len(uint(n-1)) - 3
	return (n + 1<<shift - 1) >> shift << shift
}
