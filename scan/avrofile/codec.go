package avrofile

import (
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"github.com/skua-data/skua/fault"
)

// Codecs unpacks blocks, and keeps its buffers and tables for the next file. It is safe for concurrent use.
type Codecs struct {
	most    int
	flates  sync.Pool // of *inflater
	zstds   sync.Pool // of *zstd.Decoder
	buffers sync.Pool // of *[]byte
}

// NewCodecs makes codecs that refuse a block which unpacks to more than most bytes.
func NewCodecs(most int) *Codecs { return &Codecs{most: most} }

// keptBuffer is the largest buffer that is kept, in bytes.
const keptBuffer = 16 << 20

// GiveBack takes a buffer that Unpack returned and that nothing needs any more.
func (c *Codecs) GiveBack(buffer []byte) {
	if cap(buffer) > 0 && cap(buffer) <= keptBuffer {
		c.buffers.Put(&buffer)
	}
}

// Unpack unpacks a block into dst, which it may replace by a larger buffer. Without a codec the result is packed itself.
func (c *Codecs) Unpack(codec string, packed, dst []byte) ([]byte, error) {
	if !IsPacked(codec) {
		return packed, nil
	}
	if cap(dst) == 0 {
		if b, ok := c.buffers.Get().(*[]byte); ok {
			dst = (*b)[:0]
		}
	}
	switch codec {
	case "deflate":
		return c.inflate(packed, dst)
	case "snappy":
		return c.unpackSnappy(packed, dst)
	case "zstandard":
		return c.unpackZstd(packed, dst)
	case "bzip2":
		return c.readInto(bzip2.NewReader(bytes.NewReader(packed)), dst, 4*len(packed))
	}
	return nil, fault.New(fault.Unsupported, "the Avro codec %s is not supported", codec)
}

// inflater is a decompressor that can be used again.
type inflater struct {
	packed bytes.Reader
	plain  io.ReadCloser
}

func (c *Codecs) inflate(packed, dst []byte) ([]byte, error) {
	f, ok := c.flates.Get().(*inflater)
	if !ok {
		f = &inflater{}
		f.plain = flate.NewReader(&f.packed)
	}
	defer c.flates.Put(f)
	f.packed.Reset(packed)
	if err := f.plain.(flate.Resetter).Reset(&f.packed, nil); err != nil {
		return nil, fault.New(fault.Corrupt, "unpack: %w", err)
	}
	return c.readInto(f.plain, dst, 6*len(packed))
}

func (c *Codecs) unpackZstd(packed, dst []byte) ([]byte, error) {
	r, ok := c.zstds.Get().(*zstd.Decoder)
	if !ok {
		var err error
		if r, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(uint64(c.most))); err != nil {
			return nil, err
		}
	}
	defer func() {
		_ = r.Reset(nil) // lets go of the bytes
		c.zstds.Put(r)
	}()
	// The frame may state a size that it does not have, so it is not trusted for a buffer.
	if err := r.Reset(bytes.NewReader(packed)); err != nil {
		return nil, fault.New(fault.Corrupt, "unpack: %w", err)
	}
	return c.readInto(r, dst, 6*len(packed))
}

// readInto reads everything into dst, which grows with what comes and begins with about the size expected.
func (c *Codecs) readInto(r io.Reader, dst []byte, expected int) ([]byte, error) {
	if cap(dst) == 0 {
		dst = make([]byte, 0, min(expected, 1<<20)+512)
	}
	for {
		if len(dst) == cap(dst) {
			grown := make([]byte, len(dst), 2*cap(dst)+512)
			copy(grown, dst)
			dst = grown
		}
		n, err := r.Read(dst[len(dst):min(cap(dst), c.most+1)])
		dst = dst[:len(dst)+n]
		switch {
		case len(dst) > c.most:
			return nil, fault.New(fault.Exhausted, "it unpacks to more than %d bytes", c.most)
		case err == io.EOF:
			return dst, nil
		case err != nil:
			return nil, fault.New(fault.Corrupt, "unpack: %w", err)
		}
	}
}

// unpackSnappy unpacks a block and compares its checksum.
func (c *Codecs) unpackSnappy(packed, dst []byte) ([]byte, error) {
	if len(packed) < crc32.Size {
		return nil, fault.New(fault.Corrupt, "a snappy block of %d bytes", len(packed))
	}
	at := len(packed) - crc32.Size
	sum := binary.BigEndian.Uint32(packed[at:])
	n, err := s2.DecodedLen(packed[:at])
	if err != nil || n > c.most || n > 64*at+64 {
		return nil, fault.New(fault.Corrupt, "a snappy block of %d bytes says that it unpacks to %d", at, n)
	}
	out, err := s2.Decode(dst[:cap(dst)], packed[:at])
	if err != nil {
		return nil, fault.New(fault.Corrupt, "unpack: %w", err)
	}
	if got := crc32.ChecksumIEEE(out); got != sum {
		return nil, fault.New(fault.Corrupt, "a block's checksum is %08x and not %08x", got, sum)
	}
	return out, nil
}
