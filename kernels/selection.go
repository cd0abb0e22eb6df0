package kernels

import (
	"encoding/binary"
	"math/bits"
	"sort"

	"github.com/apache/arrow-go/v18/arrow/array"
)

// Run is a half-open range of row ordinals inside a row group.
type Run struct{ From, To int64 }

// Selection is the set of rows of a row group that are still wanted: sorted, disjoint runs of ordinals. The rows in it are its survivors,
// counted from 0 in order. It is immutable and safe to share.
type Selection struct {
	runs   []Run
	before []int64 // survivors in front of each run
	count  int64
}

// All selects every row of a row group.
func All(rows int64) *Selection { return NewSelection([]Run{{0, rows}}) }

// NewSelection selects the rows of runs, which may come in any order, touch and overlap; empty ones are dropped.
func NewSelection(runs []Run) *Selection {
	sorted := make([]Run, 0, len(runs))
	for _, r := range runs {
		if r.From < r.To {
			sorted = append(sorted, r)
		}
	}
	if !sort.SliceIsSorted(sorted, func(i, j int) bool { return sorted[i].From < sorted[j].From }) {
		sort.Slice(sorted, func(i, j int) bool { return sorted[i].From < sorted[j].From })
	}
	var b builder
	for _, r := range sorted {
		b.add(r.From, r.To)
	}
	return b.selection()
}

// Count is the number of survivors.
func (s *Selection) Count() int64 { return s.count }

// Runs gives the runs in order, no two of which touch. The caller leaves them as they are.
func (s *Selection) Runs() []Run { return s.runs }

// Without drops single rows, given by ordinal in ascending order. Ordinals that are not selected mean nothing.
func (s *Selection) Without(sorted []int64) *Selection {
	if len(sorted) == 0 {
		return s
	}
	var b builder
	for _, r := range s.runs {
		from := r.From
		i := sort.Search(len(sorted), func(i int) bool { return sorted[i] >= r.From })
		for sorted = sorted[i:]; len(sorted) > 0 && sorted[0] < r.To; sorted = sorted[1:] {
			b.add(from, sorted[0])
			from = sorted[0] + 1
		}
		b.add(from, r.To)
	}
	return b.selection()
}

// Intersect keeps the rows that both select.
func (s *Selection) Intersect(o *Selection) *Selection {
	var b builder
	left, right := s.runs, o.runs
	for len(left) > 0 && len(right) > 0 {
		b.add(max(left[0].From, right[0].From), min(left[0].To, right[0].To))
		if left[0].To < right[0].To {
			left = left[1:]
			continue
		}
		right = right[1:]
	}
	return b.selection()
}

// Slice keeps the survivors from..from+n, or those of them that exist.
func (s *Selection) Slice(from, n int64) *Selection {
	from = max(from, 0)
	to := s.count
	if n < to-from {
		to = from + n
	}
	if from == 0 && to == s.count {
		return s
	}
	var b builder
	first := sort.Search(len(s.runs), func(i int) bool { return s.before[i]+s.runs[i].To-s.runs[i].From > from })
	for i := first; i < len(s.runs) && s.before[i] < to; i++ {
		r := s.runs[i]
		b.add(r.From+max(0, from-s.before[i]), min(r.To, r.From+to-s.before[i]))
	}
	return b.selection()
}

// Filter keeps the survivors for which mask is true: mask has one value per survivor, in order, and null drops as false does.
func (s *Selection) Filter(mask *array.Boolean) *Selection { return s.Pick(Where(mask)) }

// Pick keeps the survivors whose numbers it selects.
func (s *Selection) Pick(numbers *Selection) *Selection {
	b := builder{make([]Run, 0, len(numbers.runs))}
	at := 0
	for _, r := range numbers.runs {
		for from := r.From; from < r.To && at < len(s.runs); {
			run, before := s.runs[at], s.before[at]
			length := run.To - run.From
			if before+length <= from {
				at++
				continue
			}
			to := min(r.To, before+length)
			b.add(run.From+from-before, run.From+to-before)
			from = to
		}
	}
	return b.selection()
}

// Where selects the places where mask is true; null counts as false.
func Where(mask *array.Boolean) *Selection {
	var b builder
	n, offset := mask.Len(), mask.Data().Offset()
	values, valid := mask.Data().Buffers()[1], []byte(nil)
	if mask.NullN() > 0 {
		valid = mask.NullBitmapBytes()
	}
	if n == 0 || values == nil {
		return b.selection()
	}
	b.runs = make([]Run, 0, begins(values.Bytes(), offset, n))
	for at := 0; at < n; at += 64 {
		w := bits64(values.Bytes(), offset+at)
		if valid != nil {
			w &= bits64(valid, offset+at)
		}
		if left := n - at; left < 64 {
			w &= 1<<left - 1
		}
		for base := at; w != 0; {
			zeros := bits.TrailingZeros64(w)
			ones := bits.TrailingZeros64(^(w >> zeros))
			b.add(int64(base+zeros), int64(base+zeros+ones))
			if zeros+ones == 64 {
				break
			}
			w >>= zeros + ones
			base += zeros + ones
		}
	}
	return b.selection()
}

// begins is how many runs of ones begin among n bits, about.
func begins(b []byte, offset, n int) (runs int) {
	for at := 0; at < n; at += 64 {
		w := bits64(b, offset+at)
		runs += bits.OnesCount64(w &^ (w << 1))
	}
	return runs
}

// bits64 reads 64 bits from bit from on, or those there are.
func bits64(b []byte, from int) uint64 {
	b = b[from>>3:]
	var first [9]byte
	if len(b) < len(first) {
		copy(first[:], b)
		b = first[:]
	}
	shift := uint(from & 7)
	return binary.LittleEndian.Uint64(b)>>shift | uint64(b[8])<<(63-shift)<<1
}

// builder collects runs that come in order and joins those that touch or overlap.
type builder struct{ runs []Run }

func (b *builder) add(from, to int64) {
	if from >= to {
		return
	}
	if n := len(b.runs); n > 0 && from <= b.runs[n-1].To {
		b.runs[n-1].To = max(b.runs[n-1].To, to)
		return
	}
	b.runs = append(b.runs, Run{from, to})
}

func (b *builder) selection() *Selection {
	s := &Selection{runs: b.runs, before: make([]int64, len(b.runs))}
	for i, r := range b.runs {
		s.before[i] = s.count
		s.count += r.To - r.From
	}
	return s
}
