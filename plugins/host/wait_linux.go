//go:build linux && (amd64 || arm64)

package host

import (
	"errors"
	"syscall"
)

// What waitid takes.
const (
	idOfProcess = 1          // P_PID
	waitExited  = 4          // WEXITED
	waitNoWait  = 0x01000000 // WNOWAIT: the process stays to be waited for
)

// awaitEnd returns when a child has ended, before its number may be given to another; false: it cannot tell.
func awaitEnd(pid int) bool {
	for {
		_, _, err := syscall.Syscall6(syscall.SYS_WAITID, idOfProcess, uintptr(pid), 0, waitExited|waitNoWait, 0, 0)
		if !errors.Is(err, syscall.EINTR) {
			return err == 0
		}
	}
}
