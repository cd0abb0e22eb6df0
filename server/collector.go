package server

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"

	"github.com/skua-data/skua/resource"
)

// boundCollector lets the garbage collector run more often, rather than the kernel end the process, where the container has little memory, and has it
// steered. GOMEMLIMIT and GOGC say otherwise.
func boundCollector() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(collectorLimit(resource.ContainerMemory()))
	}
	if os.Getenv("GOGC") == "" {
		steering.Do(steerLater)
	}
}

// collectorLimit is how much of a container's memory Go's heap may take: three quarters, for the SQL engine allocates beside it. A container
// without a bound has none.
func collectorLimit(most int64) int64 {
	if most == math.MaxInt64 {
		return most
	}
	return most / 4 * 3
}

// The heap grows by about headroom bytes from one collection to the next, whether it is small or large: of the batches in a scan hardly any become
// garbage, so that a share of them would be memory that nobody uses; and a small heap would be collected all the time.
const (
	headroom     = 64 << 20
	leastPercent = 25
	mostPercent  = 400
)

// collectorPercent is how far a heap may grow, in percent of what lives in it.
func collectorPercent(live uint64) int {
	if live == 0 {
		return mostPercent
	}
	return int(min(max(headroom*100/live, leastPercent), mostPercent))
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
		want := collectorPercent(live[0].Value.Uint64())
		if d := want - *c.percent; d*8 > *c.percent || -d*8 > *c.percent {
			*c.percent = want
			debug.SetGCPercent(want)
		}
	}
	runtime.SetFinalizer(&cycle{c.percent}, steer)
}
