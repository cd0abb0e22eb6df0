//go:build unix

package host

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup keeps a terminal's signals from the plugin, and lets killGroup reach what it started.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(process *os.Process) {
	_ = syscall.Kill(-process.Pid, syscall.SIGKILL)
	_ = process.Kill()
}
