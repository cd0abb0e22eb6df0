package cpu

import (
	"encoding/binary"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// goZstd unpacks zstd in plain Go. It is what there is without cgo, and what the other one is compared with.
type goZstd struct {
	once    sync.Once
	decoder *zstd.Decoder
	err     error
}

func (z *goZstd) unpack(dst, src []byte) error {
	z.once.Do(func() {
		z.decoder, z.err = zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(0))
	})
	if z.err != nil {
		return z.err
	}
	got, err := z.decoder.DecodeAll(src, dst[:0:len(dst)])
	if err == nil && len(got) != len(dst) {
		return lengthError(len(got), len(dst))
	}
	return err
}

func (z *goZstd) close() {
	if z.decoder != nil {
		z.decoder.Close()
	}
}

const (
	zstdMagic     = 0xfd2fb528
	zstdSkippable = 0x184d2a50 // its last four bits are free
	zstdCompacted = 1          // block type of one byte that is repeated
)

// zstdFrames says whether b is a row of frames of the format as RFC 8878 has it, by their heads and those of their blocks alone. C's decoder
// also knows the formats from before, which no Parquet file has and which are not meant for bytes from outside.
func zstdFrames(b []byte) bool {
	for len(b) > 0 {
		n := zstdFrame(b)
		if n <= 0 || n > len(b) {
			return false
		}
		b = b[n:]
	}
	return true
}

// zstdFrame gives the length of the frame at the front of b, 0 where there is none.
func zstdFrame(b []byte) int {
	if len(b) < 8 {
		return 0
	}
	magic := binary.LittleEndian.Uint32(b)
	if magic&^0xf == zstdSkippable {
		return int(min(8+int64(binary.LittleEndian.Uint32(b[4:])), int64(len(b))+1))
	}
	if magic != zstdMagic {
		return 0
	}
	descriptor := b[4]
	single := int(descriptor >> 5 & 1)
	at := 5 + 1 - single + [...]int{0, 1, 2, 4}[descriptor&3] + [...]int{single, 2, 4, 8}[descriptor>>6]
	for last := false; !last; {
		if at+3 > len(b) {
			return 0
		}
		head := int(b[at]) | int(b[at+1])<<8 | int(b[at+2])<<16
		size := head >> 3
		if head>>1&3 == zstdCompacted {
			size = 1
		}
		last = head&1 == 1
		at += 3 + size
	}
	return at + int(descriptor>>2&1)*4
}
