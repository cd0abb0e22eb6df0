package parquet

import (
	"slices"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels/pages"
)

const (
	largest = 2 << 30 // bytes of one buffer; no legal page needs more
	tiny    = 64      // bytes that are not accounted for
)

// guarded allocates for arrow-go's decoders on a statement's account. It refuses single buffers that no legal page needs, by a panic that
// the reader turns into an error, and leaves tiny ones to the garbage collector: the delta decoders never give theirs back, which would
// otherwise count against the process for ever.
type guarded struct{ account memory.Allocator }

var heap = memory.NewGoAllocator()

func (g guarded) of(size int) memory.Allocator {
	if size > largest || size < 0 {
		// No page can lead here past the limits of its header; arrow-go's interface has no other way to say no, and the reader recovers.
		panic(fault.New(fault.Exhausted, "a buffer of %d bytes", size))
	}
	if size <= tiny {
		return heap
	}
	return g.account
}

// Allocate allocates size bytes.
func (g guarded) Allocate(size int) []byte { return g.of(size).Allocate(size) }

// Reallocate grows or shrinks b.
func (g guarded) Reallocate(size int, b []byte) []byte {
	if from, to := g.of(len(b)), g.of(size); from == to {
		return to.Reallocate(size, b)
	}
	out := g.Allocate(size)
	copy(out, b)
	g.Free(b)
	return out
}

// Free frees b.
func (g guarded) Free(b []byte) { g.of(len(b)).Free(b) }

// buffers keep the bytes of a chunk in memory of an account.
type buffers struct {
	mem  memory.Allocator
	held []*memory.Buffer
}

// Get gives n bytes, with slack behind them.
func (b *buffers) Get(n int) []byte {
	out := memory.NewResizableBuffer(b.mem)
	out.Resize(n + pages.Slack)
	b.held = append(b.held, out)
	return out.Bytes()[:n]
}

// Put gives back what Get gave.
func (b *buffers) Put(given []byte) {
	for i, held := range b.held {
		if cap(given) > 0 && unsafe.SliceData(given) == unsafe.SliceData(held.Bytes()) {
			held.Release()
			b.held = slices.Delete(b.held, i, i+1)
			return
		}
	}
}
