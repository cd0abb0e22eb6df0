package cpu

import (
	"math/bits"
	"sync"
)

const (
	slack      = 64       // bytes behind a scratch buffer's length that may be read and written: block copies overrun
	pooledMost = 32 << 20 // bytes of one buffer that is worth keeping
	idleMost   = 96 << 20 // bytes kept while nobody uses them
)

// pool keeps scratch buffers by size class: pages, pieces of chunks and dictionaries are as large as each other, so that a scan soon
// allocates none. What is in a buffer is arbitrary.
type pool struct {
	mu   sync.Mutex
	free map[int][][]byte // by capacity
	idle int
}

// get gives n bytes, with slack behind them.
func (p *pool) get(n int) []byte {
	size := sizeClass(n + slack)
	p.mu.Lock()
	defer p.mu.Unlock()
	if stack := p.free[size]; len(stack) > 0 {
		b := stack[len(stack)-1]
		p.free[size] = stack[:len(stack)-1]
		p.idle -= size
		return b[:n]
	}
	return make([]byte, size)[:n]
}

// put takes a buffer back, which may be nil.
func (p *pool) put(b []byte) {
	size := cap(b)
	p.mu.Lock()
	defer p.mu.Unlock()
	if size == 0 || size > pooledMost || p.idle+size > idleMost {
		return
	}
	if p.free == nil {
		p.free = map[int][][]byte{}
	}
	p.free[size] = append(p.free[size], b)
	p.idle += size
}

// grow gives a buffer of at least n bytes in place of b, whose contents are lost.
func (p *pool) grow(b []byte, n int) []byte {
	if cap(b) >= n+slack {
		return b[:n]
	}
	p.put(b)
	return p.get(n)
}

func (p *pool) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free, p.idle = nil, 0
}

// sizeClass rounds up to four classes for each power of two.
func sizeClass(n int) int {
	if n <= 4096 {
		return 4096
	}
	shift := bits.Len(uint(n-1)) - 3
	return (n + 1<<shift - 1) >> shift << shift
}
