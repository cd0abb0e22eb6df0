package server

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// containerMemory is where a container's bound of memory stands.
const containerMemory = "/sys/fs/cgroup/memory.max"

// boundCollector lets the garbage collector run more often, rather than the kernel end the process, where the container has little memory.
// GOMEMLIMIT says otherwise.
func boundCollector() {
	text, err := os.ReadFile(containerMemory)
	if err != nil || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetMemoryLimit(collectorLimit(string(text)))
}

// collectorLimit is how much of a container's memory Go's heap may take: three quarters, for the SQL engine allocates beside it. A container
// without a bound has none.
func collectorLimit(most string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(most), 10, 64)
	if err != nil || n <= 0 {
		return math.MaxInt64
	}
	return n / 4 * 3
}
