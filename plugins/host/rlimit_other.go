//go:build !(linux && (amd64 || arm64))

package host

// bound does nothing: the system has no way to bound another process.
func bound(int, int64) {}
