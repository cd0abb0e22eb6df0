package parquet

import (
	"encoding/binary"
	"sync"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

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
	if kind == compress.Codecs.Lz4 {
		return unpackHadoop, nil
	}
	codec, err := compress.GetCodec(kind)
	if err != nil {
		return nil, fault.New(fault.Unsupported, "the Parquet codec %s (number %d) is not supported", kind, kind)
	}
	if kind == compress.Codecs.Snappy {
		return func(dst, src []byte) ([]byte, error) {
			if n, size := binary.Uvarint(src); size <= 0 || n != uint64(len(dst)) {
				return nil, fault.New(fault.Corrupt, "snappy says %d bytes", n)
			}
			return compress.Decode(codec, dst, src)
		}, nil
	}
	return func(dst, src []byte) ([]byte, error) {
		if len(dst) == 0 { // a page of nulls alone; not every codec unpacks its nothing into nothing
			return dst, nil
		}
		return compress.Decode(codec, dst, src)
	}, nil
}

// unpackHadoop reads the codec LZ4 as Hadoop writes it: frames of a length, of what they hold unpacked, and blocks with their packed lengths.
// Some writers put a plain block under the same name, so that one is tried where the frames do not fit.
func unpackHadoop(dst, src []byte) ([]byte, error) {
	if n, ok := unpackFrames(dst, src); ok && n == len(dst) {
		return dst, nil
	}
	n, err := lz4.UncompressBlock(src, dst)
	if err != nil {
		return nil, fault.New(fault.Corrupt, "lz4: neither Hadoop's frames nor a block: %w", err)
	}
	return dst[:n], nil
}

func unpackFrames(dst, src []byte) (n int, ok bool) {
	for len(src) > 0 {
		if len(src) < 4 {
			return 0, false
		}
		holds := int64(binary.BigEndian.Uint32(src))
		if src = src[4:]; holds > int64(len(dst)-n) {
			return 0, false
		}
		for end := n + int(holds); n < end; {
			if len(src) < 4 {
				return 0, false
			}
			packed := int64(binary.BigEndian.Uint32(src))
			if src = src[4:]; packed == 0 || packed > int64(len(src)) {
				return 0, false
			}
			got, err := lz4.UncompressBlock(src[:packed], dst[n:end])
			if err != nil || got == 0 {
				return 0, false
			}
			n, src = n+got, src[packed:]
		}
	}
	return n, true
}

func (c *codecs) close() {
	if c.zstd != nil {
		c.zstd.Close()
	}
}
