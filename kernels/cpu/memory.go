package cpu

import "github.com/apache/arrow-go/v18/arrow/memory"

// overwritten allocates what is written before anybody reads it, so that it need not be cleared, where the account can tell the difference.
type overwritten struct{ memory.Allocator }

var _ memory.Allocator = overwritten{}

// Allocate gives size bytes that hold anything.
func (o overwritten) Allocate(size int) []byte {
	if account, ok := o.Allocator.(interface{ Uncleared(size int) []byte }); ok {
		return account.Uncleared(size)
	}
	return o.Allocator.Allocate(size)
}

// Reallocate grows or shrinks b. What comes new behind it holds anything.
func (o overwritten) Reallocate(size int, b []byte) []byte {
	if size <= len(b) {
		return o.Allocator.Reallocate(size, b)
	}
	out := o.Allocate(size)
	copy(out, b)
	o.Free(b)
	return out
}
