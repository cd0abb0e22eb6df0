package resource

import (
	"math/bits"
	"sync"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

const (
	recycledLeast = 4 << 10  // bytes of a buffer that is worth keeping
	recycledMost  = 32 << 20 // and the most
	recycledIdle  = 64 << 20 // bytes kept while nobody uses them
)

// Recycler is an allocator that gives freed buffers out again, by size class: the batches of a scan are as large as each other, so that a scan
// soon allocates none, the kernel maps no pages for it and the garbage collector does not run for it. It is safe for concurrent use. What it
// keeps is bounded; the rest is Go's heap, so that a buffer nobody frees is not lost.
type Recycler struct {
	heap memory.GoAllocator
	mu   sync.Mutex
	free map[int][][]byte // by capacity
	idle int
}

var _ memory.Allocator = (*Recycler)(nil)

// NewRecycler makes a Recycler that keeps nothing yet.
func NewRecycler() *Recycler { return &Recycler{free: map[int][][]byte{}} }

// Allocate gives size bytes, all 0.
func (r *Recycler) Allocate(size int) []byte {
	b, old := r.take(size)
	if old {
		clear(b)
	}
	return b
}

// Uncleared gives size bytes that hold anything, even what another statement left: whoever asks for it writes every byte that it lets out.
func (r *Recycler) Uncleared(size int) []byte {
	b, _ := r.take(size)
	return b
}

// Reallocate grows or shrinks b. What comes new behind it is 0.
func (r *Recycler) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		out := b[:size]
		if size > len(b) {
			clear(out[len(b):])
		}
		return out
	}
	out := r.Uncleared(size)
	clear(out[copy(out, b):])
	r.Free(b)
	return out
}

// Free takes a buffer back.
func (r *Recycler) Free(b []byte) {
	size := cap(b)
	if size < recycledLeast || size > recycledMost || size != class(size) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.idle+size > recycledIdle {
		return
	}
	r.free[size] = append(r.free[size], b[:0])
	r.idle += size
}

// take says whether the bytes were used before.
func (r *Recycler) take(size int) (b []byte, old bool) {
	if size < recycledLeast || size > recycledMost {
		return r.heap.Allocate(size), false
	}
	rounded := class(size)
	r.mu.Lock()
	defer r.mu.Unlock()
	if stack := r.free[rounded]; len(stack) > 0 {
		b = stack[len(stack)-1]
		r.free[rounded] = stack[:len(stack)-1]
		r.idle -= rounded
		return b[:size], true
	}
	return r.heap.Allocate(rounded)[:size], false
}

// class rounds up to four classes for each power of two.
func class(n int) int {
	if n <= recycledLeast {
		return recycledLeast
	}
	shift := bits.Len(uint(n-1)) - 3
	return (n + 1<<shift - 1) >> shift << shift
}
