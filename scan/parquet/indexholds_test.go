package parquet

import "testing"

// TestPageIndexesThatCannotBeAreNotUsed has indexes that leave rows out, go backwards or say nothing of some pages: they prove nothing.
func TestPageIndexesThatCannotBeAreNotUsed(t *testing.T) {
	index := func(first ...int64) *pageIndex {
		n := len(first)
		return &pageIndex{first: first, nullPages: make([]bool, n), low: make([][]byte, n), high: make([][]byte, n)}
	}
	counted := index(0, 5)
	counted.nullCounts = []int64{0}
	short := index(0, 5)
	short.low = short.low[:1]
	for name, c := range map[string]struct {
		index *pageIndex
		want  bool
	}{
		"sound": {index(0, 4, 8), true}, "no page": {index(), false}, "first page behind the first row": {index(1, 5), false}, "backwards": {index(0, 6, 5), false},
		"behind the last row": {index(0, 11), false}, "counts of fewer pages": {counted, false}, "bounds of fewer pages": {short, false},
	} {
		if got := c.index.holds(10); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
