package cpu

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// zstdPages are packed pages with what they hold.
func zstdPages(t testing.TB) (packed, plain [][]byte) {
	random := rand.New(rand.NewPCG(1, 2))
	add := func(body []byte, options ...zstd.EOption) {
		w, err := zstd.NewWriter(nil, options...)
		if err != nil {
			t.Fatal(err)
		}
		packed, plain = append(packed, w.EncodeAll(body, nil)), append(plain, body)
	}
	for _, size := range []int{1, 7, 255, 256, 300, 65_536 + 256, 200_000, 1 << 20} {
		text, noise := make([]byte, size), make([]byte, size)
		for i := range text {
			text[i], noise[i] = "abcd"[random.IntN(4)], byte(random.Uint32())
		}
		for _, body := range [][]byte{text, noise, make([]byte, size)} {
			add(body)
			add(body, zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true))
			add(body, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(1<<15))
		}
	}
	// Two frames with one between them that is skipped.
	two := append(bytes.Clone(packed[0]), 0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3)
	packed, plain = append(packed, append(two, packed[9]...)), append(plain, append(bytes.Clone(plain[0]), plain[9]...))
	return packed, plain
}

// zstdAgree unpacks with both and wants the same bytes, or an error of both.
func zstdAgree(t testing.TB, z *zstdCodec, g *goZstd, src []byte, size int) (body []byte, ok bool) {
	t.Helper()
	got, want := make([]byte, size), make([]byte, size)
	err, wantErr := z.unpack(got, src), g.unpack(want, src)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%d bytes to %d: %v, and in Go: %v", len(src), size, err, wantErr)
	}
	if err == nil && !bytes.Equal(got, want) {
		t.Fatalf("%d bytes to %d: not what Go gives", len(src), size)
	}
	return got, err == nil
}

func TestZstdIsTheSameWithAndWithoutC(t *testing.T) {
	var z zstdCodec
	var g goZstd
	defer z.close()
	defer g.close()
	packed, plain := zstdPages(t)
	for i, src := range packed {
		if !zstdFrames(src) {
			t.Errorf("page %d: its frames are not found", i)
		}
		body, ok := zstdAgree(t, &z, &g, src, len(plain[i]))
		if !ok || !bytes.Equal(body, plain[i]) {
			t.Errorf("page %d of %d bytes: unpacked %t, or other bytes", i, len(plain[i]), ok)
		}
		for _, size := range []int{0, len(plain[i]) - 1, len(plain[i]) + 1} {
			if _, ok := zstdAgree(t, &z, &g, src, size); ok {
				t.Errorf("page %d of %d bytes came as %d", i, len(plain[i]), size)
			}
		}
		for _, cut := range []int{0, 3, len(src) / 2, len(src) - 1} {
			if _, ok := zstdAgree(t, &z, &g, src[:cut], len(plain[i])); ok {
				t.Errorf("page %d came whole from %d of %d bytes", i, cut, len(src))
			}
		}
		if _, ok := zstdAgree(t, &z, &g, append(bytes.Clone(src), 1, 2, 3, 4), len(plain[i])); ok {
			t.Errorf("page %d came with four bytes behind it", i)
		}
	}
}

func TestOldZstdFormatsStayOutside(t *testing.T) {
	packed, _ := zstdPages(t)
	for version := byte(0x22); version < 0x28; version++ {
		old := bytes.Clone(packed[0])
		old[0] = version
		if zstdFrames(old) || zstdFrames(append(bytes.Clone(packed[0]), old...)) {
			t.Errorf("a frame that begins with %#x passes", version)
		}
	}
}

func FuzzZstd(f *testing.F) {
	packed, plain := zstdPages(f)
	for i, src := range packed {
		if len(src) < 1000 {
			f.Add(src, len(plain[i]))
		}
	}
	var z zstdCodec
	var g goZstd
	f.Fuzz(func(t *testing.T, src []byte, size int) { zstdAgree(t, &z, &g, src, size&(1<<20-1)) })
}
