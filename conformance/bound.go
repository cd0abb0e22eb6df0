package conformance

import (
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// What a server may send, so that one that never ends or lies about sizes fails its case and does not fill the memory: rows and bytes of an answer, and bytes of a
// message. All are far beyond what a script expects.
const (
	mostRows    = 1 << 20
	mostBytes   = 256 << 20
	mostMessage = 64 << 20
)

// bounded is an allocator that gives no more than mostBytes at a time. Compressed buffers name the size that they unpack to, and Arrow's reader asks for it
// unseen; that reader makes an error of a panic.
type bounded struct {
	memory.Allocator
	held *atomic.Int64
}

func newBounded() bounded { return bounded{memory.DefaultAllocator, &atomic.Int64{}} }

func (b bounded) take(n int) {
	if held := b.held.Add(int64(n)); n > 0 && (n > mostBytes || held > mostBytes) {
		b.held.Add(-int64(n))
		// An allocator cannot say no otherwise, and Arrow's reader makes an error of it: no answer that a script expects comes here.
		panic(fmt.Sprintf("it takes %d bytes of memory, more than the %d that an answer may", held, mostBytes))
	}
}

// Allocate gives memory, as far as there may be more.
func (b bounded) Allocate(n int) []byte {
	b.take(n)
	return b.Allocator.Allocate(n)
}

// Reallocate gives more memory or takes some back.
func (b bounded) Reallocate(n int, old []byte) []byte {
	b.take(n - len(old))
	return b.Allocator.Reallocate(n, old)
}

// Free takes memory back.
func (b bounded) Free(old []byte) {
	b.take(-len(old))
	b.Allocator.Free(old)
}

// keep adds a batch to an answer, as long as it is one that a script can expect.
func (a *Answer) keep(batch arrow.RecordBatch) error {
	if batch.NumRows() == 0 {
		return nil
	}
	batch.Retain()
	a.Batches = append(a.Batches, batch)
	for _, column := range batch.Columns() {
		a.bytes += column.Data().SizeInBytes()
	}
	switch n := a.Rows(); {
	case n > mostRows:
		return &mismatch{"the rows do not end", fmt.Sprintf("at most %d, which is more than any script expects", mostRows), fmt.Sprint(n)}
	case a.bytes > mostBytes:
		return &mismatch{"the answer is too large", fmt.Sprintf("at most %d bytes, which is more than any script expects", mostBytes), fmt.Sprint(a.bytes)}
	}
	return nil
}

// unreadable makes an error of a panic over what a server sent: offsets that lie outside of a buffer are found only when a value is looked at.
func unreadable(err *error) {
	if p := recover(); p != nil {
		*err = &mismatch{"what the server sent cannot be read", "values that lie where the message says", fmt.Sprint(p)}
	}
}
