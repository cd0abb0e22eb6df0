package parquet

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/pierrec/lz4/v4"

	"github.com/skua-data/skua/fault"
)

func lz4Block(t *testing.T, plain []byte) []byte {
	t.Helper()
	out := make([]byte, lz4.CompressBlockBound(len(plain)))
	n, err := lz4.CompressBlock(plain, out, nil)
	if err != nil || n == 0 {
		t.Fatal(n, err)
	}
	return out[:n]
}

// frame writes blocks as Hadoop does.
func hadoopFrame(t *testing.T, blocks ...[]byte) []byte {
	t.Helper()
	total := 0
	var body []byte
	for _, b := range blocks {
		total += len(b)
		packed := lz4Block(t, b)
		body = append(binary.BigEndian.AppendUint32(body, uint32(len(packed))), packed...)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(total)), body...)
}

func TestOldLZ4(t *testing.T) {
	a, b := bytes.Repeat([]byte("abcdefgh"), 40), bytes.Repeat([]byte("xyz"), 77)
	plain := append(append([]byte(nil), a...), b...)
	for name, packed := range map[string][]byte{
		"one frame, one block":        hadoopFrame(t, plain),
		"one frame, two blocks":       hadoopFrame(t, a, b),
		"two frames":                  append(hadoopFrame(t, a), hadoopFrame(t, b)...),
		"a plain block and no frames": lz4Block(t, plain),
	} {
		got, err := unpackHadoop(make([]byte, len(plain)), packed)
		if err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		for cut := range packed {
			got, err := unpackHadoop(make([]byte, len(plain)), packed[:cut])
			if err == nil && bytes.Equal(got, plain) {
				t.Errorf("%s: %d of %d bytes are enough", name, cut, len(packed))
			}
		}
		if got, err := unpackHadoop(make([]byte, len(plain)-1), packed); err == nil && len(got) == len(plain) {
			t.Errorf("%s: unpacked beyond its page", name)
		}
	}
}

// TestGzipOfSeveralMembers unpacks a page that was packed in two pieces, as gzip allows.
func TestGzipOfSeveralMembers(t *testing.T) {
	var c codecs
	defer c.close()
	codec, err := compress.GetCodec(compress.Codecs.Gzip)
	if err != nil {
		t.Fatal(err)
	}
	a, b := []byte("one member and "), []byte("another")
	packed := append(codec.Encode(make([]byte, 0, 100), a), codec.Encode(make([]byte, 0, 100), b)...)
	unpack, err := c.unpacker(compress.Codecs.Gzip)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := unpack(make([]byte, len(a)+len(b)), packed); err != nil || string(got) != string(a)+string(b) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestUnknownCodecsAreRefusedByName(t *testing.T) {
	var c codecs
	for kind, name := range map[compress.Compression]string{compress.Codecs.Lzo: "LZO", 99: "99"} {
		_, err := c.unpacker(kind)
		if !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), "not supported") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPagesOfNoBytes unpacks pages of nulls alone in every codec.
func TestPagesOfNoBytes(t *testing.T) {
	var c codecs
	defer c.close()
	for _, kind := range []compress.Compression{compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Brotli, compress.Codecs.Zstd, compress.Codecs.Lz4Raw} {
		codec, err := compress.GetCodec(kind)
		if err != nil {
			t.Fatal(err)
		}
		packed := codec.Encode(make([]byte, 0, 100), nil)
		unpack, err := c.unpacker(kind)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := unpack([]byte{}, packed); err != nil || len(got) != 0 {
			t.Errorf("%s: %d bytes, %v", kind, len(got), err)
		}
	}
}
