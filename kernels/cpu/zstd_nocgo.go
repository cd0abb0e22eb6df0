//go:build !cgo

package cpu

// zstdCodec unpacks zstd.
type zstdCodec struct{ goZstd }
