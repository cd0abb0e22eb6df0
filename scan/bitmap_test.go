package scan

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/apache/iceberg-go/table/dv"

	"github.com/skua-data/skua/fault"
)

// TestVectorsAreReadAsAnotherWritesThem reads vectors of every kind of container, with and without runs.
func TestVectorsAreReadAsAnotherWritesThem(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for name, fill := range map[string]func(set func(uint64), span func(from, to uint64)){
		"empty": func(func(uint64), func(uint64, uint64)) {},
		"one":   func(set func(uint64), _ func(uint64, uint64)) { set(7) },
		"sparse": func(set func(uint64), _ func(uint64, uint64)) {
			for range 2000 {
				set(uint64(r.Int63n(1 << 22)))
			}
		},
		"dense": func(set func(uint64), _ func(uint64, uint64)) {
			for range 90_000 {
				set(uint64(r.Int63n(1 << 18)))
			}
		},
		"runs": func(_ func(uint64), span func(uint64, uint64)) {
			span(5, 70_000)
			span(200_000, 200_001)
			span(1<<33, 1<<33+10)
		},
		"mixed": func(set func(uint64), span func(uint64, uint64)) {
			span(65_536, 131_072)
			for range 100 {
				set(uint64(r.Int63n(1 << 34)))
			}
		},
	} {
		b := dv.NewRoaringPositionBitmap()
		want := map[int64]bool{}
		fill(func(p uint64) { b.Set(p); want[int64(p)] = true }, func(from, to uint64) {
			b.SetRange(from, to)
			for p := from; p < to; p++ {
				want[int64(p)] = true
			}
		})
		raw, err := dv.SerializeDV(b)
		if err != nil {
			t.Fatal(err)
		}
		got, err := vectorPositions(raw, int64(len(want)))
		if err != nil || len(got) != len(want) || !slices.IsSorted(got) {
			t.Errorf("%s: %d positions of %d, %v", name, len(got), len(want), err)
			continue
		}
		for _, p := range got {
			if !want[p] {
				t.Errorf("%s: %d", name, p)
			}
		}
		if _, err := vectorPositions(raw, int64(len(want))-1); len(want) > 0 && !fault.Is(err, fault.Exhausted) {
			t.Errorf("%s: over the limit: %v", name, err)
		}
		for i := range min(len(raw), 300) {
			damaged := slices.Clone(raw)
			damaged[i] ^= 0x10
			if _, err := vectorPositions(damaged, 1<<30); !fault.Is(err, fault.Corrupt) {
				t.Errorf("%s: damaged at %d: %v", name, i, err)
			}
		}
	}
}

// TestVectorsThatClaimTooMuch asks for memory, and names what is wrong.
func TestVectorsThatClaimTooMuch(t *testing.T) {
	for name, bitmap := range map[string][]byte{
		"bitmaps without end":    {0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0},
		"containers without end": {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3a, 0x30, 0, 0, 0, 0, 1, 0},
		"a cookie of none":       {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4},
		"keys that fall":         {2, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0x3a, 0x30, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0x3a, 0x30, 0, 0, 0, 0, 0, 0},
		"a key that is negative": {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x3a, 0x30, 0, 0, 0, 0, 0, 0},
		"values that fall":       {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3a, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 16, 0, 0, 0, 5, 0, 4, 0},
		"a run past its end":     {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3b, 0x30, 0, 0, 1, 0, 0, 9, 0, 1, 0, 0xff, 0xff, 9, 0},
		"bytes behind":           {0, 0, 0, 0, 0, 0, 0, 0, 1},
	} {
		if _, err := vectorPositions(envelope(bitmap), 1<<30); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Every row of a container, 65,536 times over: 4 billion positions in less than a megabyte.
	all := []byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3b, 0x30, 0xff, 0xff}
	flags, heads, body := make([]byte, 8192), []byte(nil), []byte(nil)
	for i := range 65536 {
		flags[i/8] |= 1 << (i % 8)
		heads = append(heads, byte(i), byte(i>>8), 0xff, 0xff)
		body = append(body, 1, 0, 0, 0, 0xff, 0xff)
	}
	raw := envelope(slices.Concat(all, flags, heads, make([]byte, 4*65536), body))
	if _, err := vectorPositions(raw, 1<<20); !fault.Is(err, fault.Exhausted) {
		t.Errorf("billions of positions: %v", err)
	}
}
