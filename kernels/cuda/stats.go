package cuda

import (
	"fmt"
	"sync/atomic"
)

// Stats count what went to the device and what did not. All are safe for concurrent use.
type Stats struct {
	Chunks    atomic.Int64 // column chunks decoded, once for each batch
	Filters   atomic.Int64 // tests of a column chunk
	Bytes     atomic.Int64 // of pages sent up
	Back      atomic.Int64 // Arrow bytes that came back
	Rows      atomic.Int64 // slots that came back
	Kept      atomic.Int64 // chunks that the router left to the base decoder
	Refused   atomic.Int64 // chunks that a kernel, the plan or the driver gave back
	Busy      atomic.Int64 // batches for which no slot was free
	SkipPages atomic.Int64 // pages without wanted rows, which were not sent
}

// String tells them in one line.
func (s *Stats) String() string {
	return fmt.Sprintf("chunks %d, filters %d, bytes up %d, bytes back %d, rows %d, kept on the CPU %d, given back %d, busy %d, pages left out %d",
		s.Chunks.Load(), s.Filters.Load(), s.Bytes.Load(), s.Back.Load(), s.Rows.Load(), s.Kept.Load(), s.Refused.Load(), s.Busy.Load(), s.SkipPages.Load())
}
