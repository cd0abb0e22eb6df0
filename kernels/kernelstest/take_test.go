package kernelstest

import (
	"math/rand"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/kernels"
)

func TestTakeGivesTheRowsOfEveryType(t *testing.T) {
	mem := NewSoiled()
	defer mem.AssertSize(t, 0)
	r := rand.New(rand.NewSource(5))
	fields := append(Flat(true), Nested()...)
	for _, nulls := range []float64{0, 0.3, 1} {
		batch := Random(fields, 300, nulls, 9, memory.DefaultAllocator)
		for i, f := range fields {
			for range 6 {
				from := r.Int63n(40)
				a := array.NewSlice(batch.Column(i), from, from+200)
				sel := kernels.NewSelection(nil)
				for sel.Count() < 2 {
					sel = randomSelection(r, 200)
				}
				got, err := kernels.Take(a, sel, mem)
				if err != nil {
					t.Fatal(err)
				}
				if want := rowsOf(a, sel); !array.Equal(got, want) || !arrow.TypeEqual(got.DataType(), f.Type) {
					t.Fatalf("%s: got %v, want %v", f.Name, got, want)
				}
				got.Release()
			}
		}
		batch.Release()
	}
	nothing := array.NewNull(10)
	if got, err := kernels.Take(nothing, kernels.NewSelection([]kernels.Run{{From: 1, To: 2}, {From: 4, To: 6}}), mem); err != nil || got.Len() != 3 {
		t.Errorf("%v, %v", got, err)
	}
}

func randomSelection(r *rand.Rand, rows int64) *kernels.Selection {
	var runs []kernels.Run
	for at := r.Int63n(5); at < rows; at += 1 + r.Int63n(20) {
		to := min(rows, at+r.Int63n(9))
		runs = append(runs, kernels.Run{From: at, To: to})
		at = to
	}
	return kernels.NewSelection(runs)
}
