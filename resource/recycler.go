package resource

import (
	"github.com/apache/arrow-go/v18/arrow/memory"
)

const (
	recycledLeast = 4 << 10  // bytes of a buffer that is worth keeping
	recycledMost  = 32 << 20 // and the most
	recycledIdle  = 64 << 20 // bytes kept while nobody uses them
)

// Recycler is an allocator that gives freed buffers out again, by size class: the batches of a scan are as large as each other, so that a scan
// soon allocates none, the kernel maps no pages for it and the garbage collector does not run for it. It is safe for concurrent use. What it
// keeps is bounded and goes when it is not used; the rest is Go's heap, so that a buffer nobody frees is not lost.
type Recycler struct {
	heap  memory.GoAllocator
	spare *Spare
}

var _ memory.Allocator = (*Recycler)(nil)

// NewRecycler makes a Recycler that keeps nothing yet.
func NewRecycler() *Recycler { return newRecycler(recycledIdle) }

func newRecycler(idle int) *Recycler { return &Recycler{spare: NewSpare(idle)} }

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
	if size < recycledLeast || size > recycledMost || size != Class(size) {
		return
	}
	r.spare.Put(b)
}

// take says whether the bytes were used before.
func (r *Recycler) take(size int) (b []byte, old bool) {
	if size < recycledLeast || size > recycledMost {
		return r.heap.Allocate(size), false
	}
	rounded := Class(size)
	if b := r.spare.Take(rounded); b != nil {
		return b[:size], true
	}
	return r.heap.Allocate(rounded)[:size], false
}
