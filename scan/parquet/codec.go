package parquet

import (
	"encoding/binary"
	"sync"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/zstd"

	"github.com/skua-data/skua/fault"
)

// unpacker unpacks src into dst, which is as long as the page says, and gives what it unpacked. It allocates nothing in proportion to what
// src claims.
type unpacker func(dst, src []byte) ([]byte, error)

// codecs are a decoder's codecs. arrow-go's Zstandard and Snappy allocate whatever a page claims to hold, so that these two are bounded here.
type codecs struct {
	once sync.Once
	zstd *zstd.Decoder
	err  error
}

// unpacker gives a codec's function; nil where pages are not packed.
func (c *codecs) unpacker(kind compress.Compression) (unpacker, error) {
	if kind == compress.Codecs.Uncompressed {
		return nil, nil
	}
	if kind == compress.Codecs.Zstd {
		c.once.Do(func() {
			c.zstd, c.err = zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(0))
		})
		if c.err != nil {
			return nil, c.err
		}
		return func(dst, src []byte) ([]byte, error) { return c.zstd.DecodeAll(src, dst[:0:len(dst)]) }, nil
	}
	codec, err := compress.GetCodec(kind)
	if err != nil {
		return nil, fault.New(fault.Unsupported, "the Parquet codec %s is not supported", kind)
	}
	if kind == compress.Codecs.Snappy {
		return func(dst, src []byte) ([]byte, error) {
			if n, size := binary.Uvarint(src); size <= 0 || n != uint64(len(dst)) {
				return nil, fault.New(fault.Corrupt, "snappy says %d bytes", n)
			}
			return compress.Decode(codec, dst, src)
		}, nil
	}
	return func(dst, src []byte) ([]byte, error) { return compress.Decode(codec, dst, src) }, nil
}

func (c *codecs) close() {
	if c.zstd != nil {
		c.zstd.Close()
	}
}
