package cpu

import (
	"math/rand"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/bitutil"
)

// TestBitsAreCopiedAndCountedAsOneByOne compares with a loop over single bits.
func TestBitsAreCopiedAndCountedAsOneByOne(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 20_000 {
		src, out := make([]byte, 1+r.Intn(40)), make([]byte, 40)
		r.Read(src)
		r.Read(out)
		from := r.Intn(len(src) * 8)
		n := r.Intn(len(src)*8 - from + 1)
		at := r.Intn(len(out)*8 - n + 1)
		want, ones := append([]byte{}, out...), 0
		for i := range n {
			bit := bitutil.BitIsSet(src, from+i)
			bitutil.SetBitTo(want, at+i, bit)
			if bit {
				ones++
			}
		}
		if got := copyBits(out, at, src, from, n); got != ones || string(out) != string(want) {
			t.Fatalf("%d bits from %d to %d: %d ones of %d, %x want %x", n, from, at, got, ones, out, want)
		}
		if got := countBits(src, from, n); got != ones {
			t.Fatalf("%d bits from %d: %d ones of %d", n, from, got, ones)
		}
	}
}

// TestUnpackGivesWhatWasPacked packs values of every width and reads them at every position.
func TestUnpackGivesWhatWasPacked(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for width := range 33 {
		values, packed := make([]uint32, 64), make([]byte, 8*width)
		for i := range values {
			values[i] = uint32(r.Uint64() & (1<<width - 1))
			for bit := range width {
				bitutil.SetBitTo(packed, i*width+bit, values[i]>>bit&1 == 1)
			}
		}
		for from := range 64 {
			for to := from; to <= 64; to++ {
				h := hybrid{width: width, packed: packed, left: 64}
				out := make([]uint32, to-from)
				if err := h.skip(from); err != nil {
					t.Fatal(err)
				}
				h.unpack(out)
				for i, v := range out {
					if v != values[from+i] {
						t.Fatalf("width %d: value %d of [%d, %d) is %d, want %d", width, i, from, to, v, values[from+i])
					}
				}
			}
		}
	}
}
