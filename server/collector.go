package server

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"

	"github.com/skua-data/skua/resource"
)

// boundCollector lets the garbage collector run more often, rather than the kernel end the process, where the container has little memory or statements
// may have little, and has it steered. memory is what statements may take together; 0: as much as there is. GOMEMLIMIT and GOGC say otherwise.
func boundCollector(memory int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(collectorLimit(resource.ContainerMemory(), memory))
	}
	if os.Getenv("GOGC") == "" {
		room.Store(collectorRoom(memory))
		steering.Do(steerLater)
	}
}

// besides is what Go's heap holds beside what is counted for statements: the server itself, and what is about to be collected.
const besides = 64 << 20

// collectorLimit is how much memory Go may take before it collects all the time: three quarters of a container's, for the SQL engine allocates beside it;
// and a quarter more than statements may take, and besides. A container without a bound has none.
func collectorLimit(most, memory int64) int64 {
	out := most
	if most != math.MaxInt64 {
		out = most / 4 * 3
	}
	if memory > 0 && memory < math.MaxInt64/2 {
		out = min(out, memory+memory/4+besides)
	}
	return out
}

// The heap grows by about headroom bytes from one collection to the next, whether it is small or large: of the batches in a scan hardly any become
// garbage, so that a share of them would be memory that nobody uses; and a small heap would be collected all the time.
const (
	headroom      = 64 << 20
	leastHeadroom = 16 << 20
	leastPercent  = 25
	mostPercent   = 400
)

// room is the headroom of this process.
var room atomic.Int64

// collectorRoom is less where statements may take little.
func collectorRoom(memory int64) int64 {
	if memory <= 0 {
		return headroom
	}
	return min(max(memory/4, leastHeadroom), headroom)
}

// collectorPercent is how far a heap may grow, in percent of what lives in it.
func collectorPercent(live, room uint64) int {
	if live == 0 {
		return mostPercent
	}
	return int(min(max(room*100/live, leastPercent), mostPercent))
}

var steering sync.Once

// cycle is garbage from the start: the runtime tells of it once in every collection.
type cycle struct{ percent *int }

// steerLater sets how far the heap may grow after each collection.
func steerLater() {
	percent := debug.SetGCPercent(100)
	debug.SetGCPercent(percent)
	runtime.SetFinalizer(&cycle{&percent}, steer)
}

// steer changes the percentage only where it matters: that stops all goroutines for a moment.
func steer(c *cycle) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if live[0].Value.Kind() == metrics.KindUint64 {
		want := collectorPercent(live[0].Value.Uint64(), uint64(room.Load()))
		if d := want - *c.percent; d*8 > *c.percent || -d*8 > *c.percent {
			*c.percent = want
			debug.SetGCPercent(want)
		}
	}
	runtime.SetFinalizer(&cycle{c.percent}, steer)
}
