package kernels

import (
	"math/rand"
	"reflect"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// ordinals lists what a selection selects: the model of the tests below.
func ordinals(s *Selection) []int64 {
	out := []int64{}
	for _, r := range s.Runs() {
		for i := r.From; i < r.To; i++ {
			out = append(out, i)
		}
	}
	return out
}

func selectionOf(rows []int64) *Selection {
	runs := make([]Run, len(rows))
	for i, r := range rows {
		runs[i] = Run{r, r + 1}
	}
	return NewSelection(runs)
}

func randomRows(r *rand.Rand, rows int, dense float64) []int64 {
	out := []int64{}
	for i := range rows {
		if r.Float64() < dense {
			out = append(out, int64(i))
		}
	}
	return out
}

func keep(rows []int64, f func(i int, row int64) bool) []int64 {
	out := []int64{}
	for i, row := range rows {
		if f(i, row) {
			out = append(out, row)
		}
	}
	return out
}

func TestSelectionAgainstSets(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 500 {
		a, b := randomRows(r, 60, r.Float64()), randomRows(r, 60, r.Float64())
		s := selectionOf(a)
		mask := array.NewBooleanBuilder(memory.DefaultAllocator)
		chosen := keep(a, func(i int, _ int64) bool {
			switch r.Intn(3) {
			case 0:
				mask.AppendNull()
			case 1:
				mask.Append(false)
			default:
				mask.Append(true)
				return true
			}
			return false
		})
		from, n := r.Int63n(70)-5, r.Int63n(70)
		for what, c := range map[string]struct {
			got  *Selection
			want []int64
		}{
			"itself":    {s, a},
			"without":   {s.Without(b), keep(a, func(_ int, row int64) bool { return !slices.Contains(b, row) })},
			"intersect": {s.Intersect(selectionOf(b)), keep(a, func(_ int, row int64) bool { return slices.Contains(b, row) })},
			"slice": {s.Slice(from, n), keep(a, func(i int, _ int64) bool {
				return int64(i) >= from && int64(i)-max(from, 0) < n
			})},
			"filter": {s.Filter(mask.NewBooleanArray()), chosen},
		} {
			if got := ordinals(c.got); !reflect.DeepEqual(got, c.want) || c.got.Count() != int64(len(c.want)) {
				t.Fatalf("%s of %v and %v (%d, %d) is %v, want %v", what, a, b, from, n, got, c.want)
			}
			for i, run := range c.got.Runs() {
				if run.From >= run.To || (i > 0 && c.got.Runs()[i-1].To >= run.From) {
					t.Fatalf("%s has the runs %v", what, c.got.Runs())
				}
			}
		}
		mask.Release()
	}
}

func TestWhereGivesTheRunsOfAMask(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	for range 300 {
		n, dense := r.Intn(400), r.Float64()
		b := array.NewBooleanBuilder(memory.DefaultAllocator)
		for range n {
			if r.Intn(10) == 0 {
				b.AppendNull()
				continue
			}
			b.Append(r.Float64() < dense)
		}
		whole := b.NewBooleanArray()
		from := r.Intn(n + 1)
		mask := array.NewSlice(whole, int64(from), int64(n)).(*array.Boolean)
		want := []int64{}
		for i := range mask.Len() {
			if mask.IsValid(i) && mask.Value(i) {
				want = append(want, int64(i))
			}
		}
		if got := ordinals(Where(mask)); !reflect.DeepEqual(got, want) {
			t.Fatalf("%v from %d: %v, want %v", whole, from, got, want)
		}
		mask.Release()
		whole.Release()
		b.Release()
	}
}

func TestNewSelectionOrdersAndJoinsRuns(t *testing.T) {
	s := NewSelection([]Run{{5, 9}, {1, 3}, {8, 12}, {4, 4}, {3, 4}, {20, 10}})
	if want := []Run{{1, 4}, {5, 12}}; !reflect.DeepEqual(s.Runs(), want) {
		t.Errorf("runs %v, want %v", s.Runs(), want)
	}
	if n := All(0).Count(); n != 0 {
		t.Errorf("%d rows of none", n)
	}
	if s := All(1<<40).Slice(1<<39, 1<<62); s.Count() != 1<<39 {
		t.Errorf("%d rows", s.Count())
	}
}
