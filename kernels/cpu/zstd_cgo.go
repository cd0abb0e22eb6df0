//go:build cgo

package cpu

import (
	"sync"

	"github.com/DataDog/zstd"
)

// zstdContexts is how many idle contexts are kept: one for each that unpacks at once, on any machine that this is meant for.
const zstdContexts = 64

// zstdCodec unpacks zstd with libzstd, which takes about six tenths of the time that Go takes. A context serves one call at a time and belongs
// to no thread. Those that are not kept are freed by their finalizers.
type zstdCodec struct {
	goZstd
	mu   sync.Mutex
	idle []zstd.Ctx
}

func (z *zstdCodec) unpack(dst, src []byte) error {
	if len(dst) == 0 || len(src) == 0 || !zstdFrames(src) {
		return z.goZstd.unpack(dst, src) // it also says what is wrong
	}
	c := z.take()
	got, err := c.DecompressInto(dst, src)
	z.give(c)
	if err == nil && got != len(dst) {
		return lengthError(got, len(dst))
	}
	return err
}

func (z *zstdCodec) take() zstd.Ctx {
	z.mu.Lock()
	defer z.mu.Unlock()
	if n := len(z.idle); n > 0 {
		c := z.idle[n-1]
		z.idle = z.idle[:n-1]
		return c
	}
	return zstd.NewCtx()
}

func (z *zstdCodec) give(c zstd.Ctx) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if len(z.idle) < zstdContexts {
		z.idle = append(z.idle, c)
	}
}

func (z *zstdCodec) close() {
	z.goZstd.close()
	z.idle = nil
}
