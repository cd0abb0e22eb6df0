//go:build linux && (amd64 || arm64)

package host

import (
	"syscall"
	"unsafe"
)

// rlimitData is RLIMIT_DATA: what a process has mapped for itself to write to.
const rlimitData = 2

// bound bounds what a process may map for itself. A process that cannot be bound is watched all the same.
func bound(pid int, bytes int64) {
	if bytes <= 0 {
		return
	}
	limit := [2]uint64{uint64(bytes), uint64(bytes)}
	_, _, _ = syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), rlimitData, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
}
