package duckdb

import (
	"os"
	"strconv"
	"strings"
)

// fallbackMemory is what a machine is taken to have that does not say.
const fallbackMemory = 8 << 30

// machineMemory is the memory of the machine, or of the container that the process runs in, in bytes.
func machineMemory() int64 {
	total := int64(fallbackMemory)
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		if fields := strings.Fields(string(text)); len(fields) > 1 && fields[0] == "MemTotal:" {
			if n, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
				total = n << 10
			}
		}
	}
	if text, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 && n < total {
			total = n
		}
	}
	return total
}
