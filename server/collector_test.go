package server

import (
	"math"
	"testing"
)

func TestTheCollectorIsBoundByTheContainersMemory(t *testing.T) {
	for most, want := range map[int64]int64{1 << 30: 3 << 28, math.MaxInt64: math.MaxInt64, 9223372036854771712: 6917529027641078784} {
		if got := collectorLimit(most); got != want {
			t.Errorf("%d: %d, want %d", most, got, want)
		}
	}
}

func TestTheHeapGrowsByTheSameWhetherSmallOrLarge(t *testing.T) {
	for live, want := range map[uint64]int{0: 400, 1 << 20: 400, 32 << 20: 200, 64 << 20: 100, 128 << 20: 50, 1 << 30: 25} {
		if got := collectorPercent(live); got != want {
			t.Errorf("%d MiB live: %d %%, want %d", live>>20, got, want)
		}
	}
}
