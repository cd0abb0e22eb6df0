package avro

import (
	"bytes"
	"compress/bzip2"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"github.com/skua-data/skua/fault"
)

const plainMost = 512 << 20 // bytes of an unpacked block

// unpack unpacks a block.
func unpack(codec string, packed []byte) ([]byte, error) {
	switch codec {
	case "", "null":
		return packed, nil
	case "deflate":
		return readAll(flate.NewReader(bytes.NewReader(packed)))
	case "bzip2":
		return readAll(bzip2.NewReader(bytes.NewReader(packed)))
	case "zstandard":
		r, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(plainMost))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return readAll(r)
	case "snappy":
		return unpackSnappy(packed)
	}
	return nil, fault.New(fault.Unsupported, "the Avro codec %s is not supported", codec)
}

func readAll(r io.Reader) ([]byte, error) {
	out, err := io.ReadAll(io.LimitReader(r, plainMost+1))
	if err != nil {
		return nil, fault.New(fault.Corrupt, "unpack a block: %w", err)
	}
	if len(out) > plainMost {
		return nil, fault.New(fault.Exhausted, "a block unpacks to more than %d bytes", plainMost)
	}
	return out, nil
}

// unpackSnappy unpacks a block and compares its checksum.
func unpackSnappy(packed []byte) ([]byte, error) {
	if len(packed) < crc32.Size {
		return nil, fault.New(fault.Corrupt, "a snappy block of %d bytes", len(packed))
	}
	sum := binary.BigEndian.Uint32(packed[len(packed)-crc32.Size:])
	packed = packed[:len(packed)-crc32.Size]
	n, err := s2.DecodedLen(packed)
	if err != nil || n > plainMost || n > 64*len(packed)+64 {
		return nil, fault.New(fault.Corrupt, "a snappy block of %d bytes says %d", len(packed), n)
	}
	out, err := s2.Decode(nil, packed)
	if err != nil {
		return nil, fault.New(fault.Corrupt, "unpack a block: %w", err)
	}
	if crc32.ChecksumIEEE(out) != sum {
		return nil, fault.New(fault.Corrupt, "a block's checksum is %08x and not %08x", crc32.ChecksumIEEE(out), sum)
	}
	return out, nil
}
