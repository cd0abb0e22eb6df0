package kernelstest

import (
	"math/rand"

	"github.com/skua-data/skua/kernels"
)

// RandomSelection selects some of rows: by blocks, one by one, or all.
func RandomSelection(r *rand.Rand, rows int64) *kernels.Selection {
	var runs []kernels.Run
	gap, length := 1+r.Int63n(max(rows/2, 1)), 1+r.Int63n(max(rows/2, 1))
	switch r.Intn(4) {
	case 0:
		return kernels.All(rows)
	case 1:
		gap, length = 4, 2
	}
	for at := r.Int63n(gap + 1); at < rows; {
		to := min(rows, at+1+r.Int63n(length))
		runs = append(runs, kernels.Run{From: at, To: to})
		at = to + r.Int63n(gap+1)
	}
	return kernels.NewSelection(runs)
}
