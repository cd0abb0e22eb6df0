package cpu

import (
	"sync"

	"github.com/skua-data/skua/kernels/pages"
	"github.com/skua-data/skua/resource"
)

const (
	slack      = pages.Slack
	pooledMost = 32 << 20 // bytes of one buffer that is worth keeping
	idleMost   = 96 << 20 // bytes kept while nobody uses them
)

// pool keeps scratch buffers by size class: pages, pieces of chunks and dictionaries are as large as each other, so that a scan soon
// allocates none. What is in a buffer is arbitrary. The zero pool is ready.
type pool struct {
	made  sync.Once
	spare *resource.Spare
}

func (p *pool) kept() *resource.Spare {
	p.made.Do(func() { p.spare = resource.NewSpare(idleMost) })
	return p.spare
}

// get gives n bytes, with slack behind them.
func (p *pool) get(n int) []byte {
	size := resource.Class(n + slack)
	if b := p.kept().Take(size); b != nil {
		return b[:n]
	}
	return make([]byte, size)[:n]
}

// put takes a buffer back, which may be nil.
func (p *pool) put(b []byte) {
	if size := cap(b); size > 0 && size <= pooledMost {
		p.kept().Put(b)
	}
}

func (p *pool) drop() { p.kept().Drop() }

// scratch takes buffers from the pool on the account of a statement, and gives them back.
type scratch struct {
	pool    *pool
	account *resource.Statement // nil: nobody counts
}

func (s *scratch) count(n int) {
	if s.account != nil {
		s.account.Scratch(int64(n))
	}
}

// Get gives n bytes, with slack behind them.
func (s *scratch) Get(n int) []byte {
	b := s.pool.get(n)
	s.count(cap(b))
	return b
}

// Put takes a buffer back, which may be nil. Where memory is short it is not kept.
func (s *scratch) Put(b []byte) {
	if cap(b) == 0 {
		return
	}
	if s.account == nil || !s.account.Short() {
		s.pool.put(b)
	}
	s.count(-cap(b))
}

// grow gives a buffer of at least n bytes in place of b, whose contents are lost.
func (s *scratch) grow(b []byte, n int) []byte {
	if cap(b) >= n+slack {
		return b[:n]
	}
	s.Put(b)
	return s.Get(n)
}
