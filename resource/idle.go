package resource

import (
	"runtime/debug"
	"sync/atomic"
	"time"
)

const (
	idleMost  = 64 << 20        // bytes that lie idle until they are given back to the system
	idleAgain = 2 * time.Second // which costs a collection, so that it is not done more often than this
)

// idling is what statements gave back and do not want for a while. Where all of them wait for slow clients hardly anything is allocated, so that Go would not
// collect, and keep the memory of the busiest moment.
type idling struct {
	bytes atomic.Int64
	last  atomic.Int64 // when memory was last given back, in nanoseconds since 1970
}

// Idle tells that the statement gave n bytes back that it does not want for a while. Once that is much, the process gives them back to the system.
func (s *Statement) Idle(n int64) {
	i := &s.pool.idling
	if n <= 0 || i.bytes.Add(n) < idleMost {
		return
	}
	now, last := time.Now().UnixNano(), i.last.Load()
	if now-last < int64(idleAgain) || !i.last.CompareAndSwap(last, now) {
		return
	}
	i.bytes.Store(0)
	go debug.FreeOSMemory()
}
