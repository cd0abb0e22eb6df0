//go:build cgo && unix

package duckdb

import (
	"errors"
	"os"
	"syscall"
)

// holdLock locks a file, which it makes if it is to; false: another process holds it. The lock ends with unlock, or with the process.
func holdLock(path string, make bool) (unlock func(), held bool, err error) {
	flags := os.O_RDWR | syscall.O_NOFOLLOW
	if make {
		flags |= os.O_CREATE | os.O_EXCL
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, false, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, false, nil
		}
		return nil, false, err
	}
	return func() { f.Close() }, true, nil
}

// ownFile reports whether a file is this user's.
func ownFile(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
