package resource

import (
	"math"
	"os"
	"strconv"
	"strings"
)

// fallbackMemory is what a machine is taken to have that does not say.
const fallbackMemory = 8 << 30

// MachineMemory is the memory of the machine, or of the container that the process runs in, in bytes.
func MachineMemory() int64 {
	total := int64(fallbackMemory)
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		if fields := strings.Fields(string(text)); len(fields) > 1 && fields[0] == "MemTotal:" {
			if n, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
				total = n << 10
			}
		}
	}
	return min(total, ContainerMemory())
}

// ContainerMemory is what the container that the process runs in may use, in bytes; the largest number: as much as there is.
func ContainerMemory() int64 {
	text, err := os.ReadFile("/sys/fs/cgroup/memory.max")
	if err != nil {
		return math.MaxInt64
	}
	return parseMemory(string(text))
}

// parseMemory reads a bound of a container: a number, or max.
func parseMemory(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n <= 0 {
		return math.MaxInt64
	}
	return n
}
