package server

import (
	"math"
	"testing"
)

func TestTheCollectorIsBoundByTheContainersMemory(t *testing.T) {
	for _, c := range []struct{ most, memory, want int64 }{
		{1 << 30, 0, 3 << 28}, {math.MaxInt64, 0, math.MaxInt64}, {9223372036854771712, 0, 6917529027641078784},
		{math.MaxInt64, 64 << 20, 144 << 20}, {1 << 30, 256 << 20, 384 << 20}, {256 << 20, 1 << 30, 192 << 20}, {math.MaxInt64, math.MaxInt64, math.MaxInt64},
	} {
		if got := collectorLimit(c.most, c.memory); got != c.want {
			t.Errorf("%d and %d: %d, want %d", c.most, c.memory, got, c.want)
		}
	}
}

func TestTheHeapGrowsByTheSameWhetherSmallOrLarge(t *testing.T) {
	for live, want := range map[uint64]int{0: 400, 1 << 20: 400, 32 << 20: 200, 64 << 20: 100, 128 << 20: 50, 1 << 30: 25} {
		if got := collectorPercent(live, headroom); got != want {
			t.Errorf("%d MiB live: %d %%, want %d", live>>20, got, want)
		}
	}
	for memory, want := range map[int64]int64{0: 64 << 20, 1 << 30: 64 << 20, 128 << 20: 32 << 20, 8 << 20: 16 << 20} {
		if got := collectorRoom(memory); got != want {
			t.Errorf("a limit of %d MiB: %d, want %d", memory>>20, got, want)
		}
	}
}
