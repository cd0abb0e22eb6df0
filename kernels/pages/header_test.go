package pages_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/skua-data/skua/kernels/kernelstest"
	"github.com/skua-data/skua/kernels/pages"
)

func TestHeadersAreReadAsTheyAreWritten(t *testing.T) {
	for _, h := range []pages.Header{
		{Kind: pages.Data, Uncompressed: 1 << 29, Compressed: 77, Values: 1, Encoding: 3, DefEncoding: 2, RepEncoding: 1, HasContent: true, IsData: true},
		{Kind: pages.Dictionary, Uncompressed: 200, Compressed: 300, Values: math.MaxInt32, HasContent: true},
		{Kind: pages.DataV2, Values: 20, Unpacked: true, HasContent: true, IsData: true},
		{Kind: pages.DataV2, Values: 1000, Nulls: 3, Rows: 800, Encoding: 8, DefLength: 5, RepLength: 6, HasContent: true, IsData: true},
	} {
		b := kernelstest.EncodeHeader(h)
		got, size, ok := pages.Parse(append(b, "more"...))
		if !ok || size != len(b) || got != h {
			t.Errorf("%+v became %+v, %d bytes of %d, %t", h, got, size, len(b), ok)
		}
		for i := range b {
			if _, _, ok := pages.Parse(b[:i]); ok {
				t.Errorf("%d bytes of %d are a header", i, len(b))
			}
		}
	}
}

// FuzzPageHeader reads arbitrary bytes as a page header: what is read must be inside the bytes, and no number negative.
func FuzzPageHeader(f *testing.F) {
	for _, path := range []string{"pyarrow_v2.parquet", "duckdb.parquet", "spark_types_1.parquet"} {
		raw, err := os.ReadFile(filepath.Join("../../scan/parquet/testdata", path))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw[4:min(len(raw), 300)])
	}
	f.Add([]byte{0x15, 0x06, 0x15, 0xf0, 0x01, 0x15, 0xf0, 0x01, 0x5c, 0x15, 0x02, 0x15, 0x04, 0x15, 0x06, 0x15, 0x00, 0x15, 0x02, 0x15, 0x04, 0x12, 0x00, 0x00})
	f.Fuzz(func(t *testing.T, b []byte) {
		h, size, ok := pages.Parse(b)
		if !ok {
			return
		}
		if size > len(b) {
			t.Fatalf("a header of %d bytes in %d", size, len(b))
		}
		for _, n := range []int64{h.Kind, h.Uncompressed, h.Compressed, h.Values, h.Encoding, h.Nulls, h.Rows, h.DefLength, h.RepLength} {
			if n < 0 {
				t.Fatalf("%+v", h)
			}
		}
		for i := range size {
			if _, _, ok := pages.Parse(b[:i]); ok {
				t.Fatalf("%d bytes of %d are a header", i, size)
			}
		}
	})
}
