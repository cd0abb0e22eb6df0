//go:build linux && (amd64 || arm64)

package host_test

const hardLimits = true
