package cpu

import (
	"bytes"
	"encoding/binary"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/pierrec/lz4/v4"

	"github.com/skua-data/skua/fault"
)

// unpacker unpacks src into dst and fills it; anything else is an error. It allocates nothing in proportion to what src claims.
type unpacker func(dst, src []byte) error

// codec is a row of the table of codecs. ratio is the most bytes that one packed byte can become, so that a page which claims more is
// refused before memory is set aside for it.
type codec struct {
	id    compress.Compression
	ratio int64
	new   func(*codecs) unpacker // nil: pages are not packed
}

var codecTable = []codec{
	{id: compress.Codecs.Uncompressed, ratio: 1},
	{id: compress.Codecs.Snappy, ratio: 64, new: func(*codecs) unpacker { return unpackSnappy }},
	{id: compress.Codecs.Gzip, ratio: 1100, new: func(c *codecs) unpacker { return c.unpackGzip }},
	{id: compress.Codecs.Zstd, ratio: 64 << 10, new: func(c *codecs) unpacker { return c.zstd.unpack }},
	{id: compress.Codecs.Lz4Raw, ratio: 256, new: func(*codecs) unpacker { return unpackLz4 }},
	{id: compress.Codecs.Lz4, ratio: 256, new: func(*codecs) unpacker { return unpackLz4Hadoop }},
	{id: compress.Codecs.Brotli, ratio: 1 << 24, new: func(c *codecs) unpacker { return c.unpackBrotli }},
}

func codecOf(id compress.Compression) *codec {
	for i := range codecTable {
		if codecTable[i].id == id {
			return &codecTable[i]
		}
	}
	return nil
}

// codecs are what a decoder keeps for its codecs.
type codecs struct {
	zstd    zstdCodec
	gzips   sync.Pool
	brotlis sync.Pool
}

func unpackSnappy(dst, src []byte) error {
	if n, size := binary.Uvarint(src); size <= 0 || n != uint64(len(dst)) {
		return fault.New(fault.Corrupt, "snappy says %d bytes of %d", n, len(dst))
	}
	_, err := s2.Decode(dst, src)
	return err
}

func lengthError(got, want int) error {
	return fault.New(fault.Corrupt, "a page of %d bytes that says %d", got, want)
}

func (c *codecs) unpackGzip(dst, src []byte) error {
	r, _ := c.gzips.Get().(*gzip.Reader)
	if r == nil {
		r = new(gzip.Reader)
	}
	defer c.gzips.Put(r)
	if err := r.Reset(bytes.NewReader(src)); err != nil {
		return err
	}
	return fillFrom(r, dst)
}

func (c *codecs) unpackBrotli(dst, src []byte) error {
	r, _ := c.brotlis.Get().(*brotli.Reader)
	if r == nil {
		r = brotli.NewReader(nil)
	}
	defer c.brotlis.Put(r)
	if err := r.Reset(bytes.NewReader(src)); err != nil {
		return err
	}
	return fillFrom(r, dst)
}

// fillFrom fills dst and wants the stream to end there.
func fillFrom(r io.Reader, dst []byte) error {
	if n, err := io.ReadFull(r, dst); err != nil {
		if n < len(dst) && (err == io.EOF || err == io.ErrUnexpectedEOF) {
			return lengthError(n, len(dst))
		}
		return err
	}
	var more [1]byte
	n, err := io.ReadFull(r, more[:])
	if n > 0 {
		return lengthError(len(dst)+1, len(dst))
	}
	if err == io.EOF {
		return nil
	}
	return err
}

func unpackLz4(dst, src []byte) error {
	n, err := lz4.UncompressBlock(src, dst)
	if err == nil && n != len(dst) {
		return lengthError(n, len(dst))
	}
	return err
}

// unpackLz4Hadoop reads Hadoop's frames of LZ4: the length of what they hold, then blocks with their packed lengths. Some writers gave
// plain blocks under the same name, so those are tried where the frames do not fit.
func unpackLz4Hadoop(dst, src []byte) error {
	if err := unpackFrames(dst, src); err == nil {
		return nil
	}
	return unpackLz4(dst, src)
}

func unpackFrames(dst, src []byte) error {
	for len(src) > 0 {
		if len(src) < 4 {
			return io.ErrUnexpectedEOF
		}
		inFrame := int(binary.BigEndian.Uint32(src))
		if src = src[4:]; inFrame > len(dst) {
			return lengthError(inFrame, len(dst))
		}
		for inFrame > 0 {
			if len(src) < 4 {
				return io.ErrUnexpectedEOF
			}
			packed := int(binary.BigEndian.Uint32(src))
			if src = src[4:]; packed > len(src) || packed == 0 {
				return io.ErrUnexpectedEOF
			}
			n, err := lz4.UncompressBlock(src[:packed], dst[:inFrame])
			if err != nil {
				return err
			}
			if n == 0 {
				return io.ErrUnexpectedEOF
			}
			dst, src, inFrame = dst[n:], src[packed:], inFrame-n
		}
	}
	if len(dst) > 0 {
		return lengthError(0, len(dst))
	}
	return nil
}

func (c *codecs) close() { c.zstd.close() }
