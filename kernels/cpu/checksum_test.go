package cpu

import (
	"bytes"
	"context"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/kernels/pages"
	"github.com/skua-data/skua/scan/parquet"
)

// TestPagesWhoseChecksumIsWrongAreErrors changes one byte in the body of each page of files that have checksums: decoders say so, though all of
// these files could be read.
func TestPagesWhoseChecksumIsWrongAreErrors(t *testing.T) {
	ours := New()
	defer ours.Close()
	for _, name := range []string{"checksums_v1.parquet", "checksums_v2.parquet"} {
		whole, err := os.ReadFile("../../scan/parquet/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []kernels.Decoder{ours, parquet.NewFallback()} {
			if err := readSummed(t, d, whole); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		tried := 0
		for at := 4; at < len(whole); {
			h, size, ok := pages.Parse(whole[at:])
			if !ok || !h.HasContent || h.Compressed == 0 || at+size+int(h.Compressed) > len(whole)-8 {
				break // behind the last page
			}
			at += size
			damaged := bytes.Clone(whole)
			damaged[at+int(h.Compressed)/2] ^= 0x10
			for _, d := range []kernels.Decoder{ours, parquet.NewFallback()} {
				if err := readSummed(t, d, damaged); !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "checksum") {
					t.Errorf("%s: %T reads a page with a changed byte at %d: %v", name, d, at, err)
				}
			}
			at, tried = at+int(h.Compressed), tried+1
		}
		if tried < 5 {
			t.Errorf("%s: %d pages", name, tried)
		}
	}
}

func readSummed(t *testing.T, d kernels.Decoder, data []byte) error {
	t.Helper()
	f, err := parquet.Open(context.Background(), memoryFile{bytes.NewReader(data)}, "memory.parquet")
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.Match([]arrow.Field{kernelstest.Field(1, "n", arrow.PrimitiveTypes.Int64, true), kernelstest.Field(2, "s", arrow.BinaryTypes.String, true)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range f.RowGroups(0, math.MaxInt64, nil, nil) {
		r, err := d.Open(context.Background(), f.RowGroup(g.Ordinal, []kernels.Column{m[0].Column, m[1].Column}))
		if err != nil {
			return err
		}
		batch, err := r.Read(context.Background(), []int{0, 1}, kernels.All(g.Rows), 0, g.Rows)
		if err == nil {
			batch.Release()
		}
		if closed := r.Close(); closed != nil {
			t.Fatal(closed)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// TestGzipOfSeveralMembers unpacks a page that was packed in two pieces, as gzip allows.
func TestGzipOfSeveralMembers(t *testing.T) {
	codec, err := compress.GetCodec(compress.Codecs.Gzip)
	if err != nil {
		t.Fatal(err)
	}
	a, b := []byte("one member and "), []byte("another")
	packed := append(codec.Encode(make([]byte, 0, 100), a), codec.Encode(make([]byte, 0, 100), b)...)
	got := make([]byte, len(a)+len(b))
	var c codecs
	if err := c.unpackGzip(got, packed); err != nil || string(got) != string(a)+string(b) {
		t.Errorf("%q, %v", got, err)
	}
}
