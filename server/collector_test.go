package server

import (
	"math"
	"testing"
)

func TestTheCollectorIsBoundByTheContainersMemory(t *testing.T) {
	for most, want := range map[string]int64{"1073741824\n": 805306368, "max\n": math.MaxInt64, "": math.MaxInt64, "-1": math.MaxInt64, "9223372036854771712": 6917529027641078784} {
		if got := collectorLimit(most); got != want {
			t.Errorf("%q: %d, want %d", most, got, want)
		}
	}
}
