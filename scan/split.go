package scan

import (
	"math"
	"slices"

	"github.com/skua-data/skua/fault"
)

// maxPieces bounds what a scan may be cut into, since a target of a few bytes would otherwise cost memory without end.
const maxPieces = 1 << 20

// extent is what split planning needs to know of a file task.
type extent struct {
	Size        int64
	Offsets     []int64 // of row groups, as the manifest has them
	Divisible   bool    // its format can be cut
	DeleteBytes int64
	Deletes     int
	Key         string // files of different keys share no group; all empty: one may hold any
}

// piece is a byte range of one of the files that are planned together.
type piece struct {
	File          int
	Start, Length int64
}

// group is what one split reads, with the weight that the packer gave it.
type group struct {
	Pieces []piece
	Weight int64
}

// planSplits cuts files, packs the pieces and joins neighbours again. The order of files decides the order of groups; keys come in the order
// in which they are met.
func planSplits(files []extent, o readOptions) ([]group, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	var out []group
	cut := 0
	for _, some := range byKey(files) {
		pieces, weights := make([]piece, 0, len(some)), make([]int64, 0, len(some))
		for _, i := range some {
			f := files[i]
			if f.count(o.Target) > int64(maxPieces-cut) {
				return nil, fault.New(fault.Exhausted, "a split size of %d bytes cuts the scan into more than %d pieces", o.Target, maxPieces).Change("split-size")
			}
			from := len(pieces)
			pieces = f.cut(pieces, i, o.Target)
			for _, p := range pieces[from:] {
				weights = append(weights, f.weight(p.Length, o.OpenCost))
			}
			cut += len(pieces) - from
		}
		out = gather(out, pieces, weights, o)
	}
	return out, nil
}

// byKey lists the indexes of files by key.
func byKey(files []extent) [][]int {
	if !slices.ContainsFunc(files, func(f extent) bool { return f.Key != "" }) {
		all := make([]int, len(files))
		for i := range all {
			all[i] = i
		}
		return [][]int{all}
	}
	at := map[string]int{}
	var out [][]int
	for i, f := range files {
		j, ok := at[f.Key]
		if !ok {
			j = len(out)
			at[f.Key], out = j, append(out, nil)
		}
		out[j] = append(out[j], i)
	}
	return out
}

// weight is what a piece of the file counts for: its bytes and all deletes of the file, or what opening them costs.
func (f extent) weight(length, openCost int64) int64 {
	return max(saturatingAdd(length, f.DeleteBytes), saturatingMul(int64(1+f.Deletes), openCost))
}

// gather packs pieces into groups.
func gather(out []group, pieces []piece, weights []int64, o readOptions) []group {
	bins := pack(weights, o.Target, o.Lookback, true)
	all := make([]piece, len(pieces))
	out = slices.Grow(out, len(bins))
	for _, bin := range bins {
		g := group{Pieces: all[:len(bin):len(bin)]}
		all = all[len(bin):]
		for i, at := range bin {
			g.Pieces[i] = pieces[at]
			g.Weight = saturatingAdd(g.Weight, weights[at])
		}
		g.Pieces = joinNeighbours(g.Pieces)
		out = append(out, g)
	}
	return out
}

// usable gives the offsets to cut at, or none where the recorded ones cannot be right.
func (f extent) usable() []int64 {
	n := len(f.Offsets)
	if n == 0 || f.Offsets[n-1] >= f.Size {
		return nil
	}
	for i := 1; i < n; i++ {
		if f.Offsets[i] <= f.Offsets[i-1] {
			return nil
		}
	}
	return f.Offsets
}

func (f extent) count(target int64) int64 {
	switch {
	case !f.Divisible:
		return 1
	case f.usable() != nil:
		return int64(len(f.Offsets))
	}
	return ceilDiv(f.Size, target)
}

// cut appends a piece per row group where the offsets are usable, else pieces of the target's size. What lies in front of the first offset is
// in no piece.
func (f extent) cut(out []piece, file int, target int64) []piece {
	if !f.Divisible {
		return append(out, piece{file, 0, f.Size})
	}
	if offsets := f.usable(); offsets != nil {
		for i, start := range offsets {
			end := f.Size
			if i+1 < len(offsets) {
				end = offsets[i+1]
			}
			out = append(out, piece{file, start, end - start})
		}
		return out
	}
	for start := int64(0); start < f.Size; start += target {
		out = append(out, piece{file, start, min(target, f.Size-start)})
		if f.Size-start <= target {
			break // start + target might overflow
		}
	}
	return out
}

// bin is an open bin of the packer: a chain of indexes.
type bin struct {
	first, last int
	weight      int64
}

// pack puts weights into bins: each into the first open bin that has room, else into a new one; past lookback open bins one is closed,
// the heaviest (the oldest of equals) or, without largestFirst, the oldest. The result lists indexes, in the order bins were closed.
func pack(weights []int64, target, lookback int64, largestFirst bool) [][]int {
	least := int64(math.MaxInt64)
	for _, w := range weights {
		least = min(least, w)
	}
	next, items := make([]int, len(weights)), make([]int, 0, len(weights))
	var out [][]int
	closeBin := func(b *bin) {
		from := len(items)
		for i := b.first; i >= 0; i = next[i] {
			items = append(items, i)
		}
		out = append(out, items[from:len(items):len(items)])
	}
	var open, room []*bin // room: those of open into which the least weight still fits
	for i, w := range weights {
		next[i] = -1
		var chosen *bin
		for _, b := range room {
			if saturatingAdd(b.weight, w) <= target {
				chosen = b
				break
			}
		}
		if chosen == nil {
			chosen = &bin{first: i, last: -1}
			open, room = append(open, chosen), append(room, chosen)
		} else {
			next[chosen.last] = i
		}
		chosen.last, chosen.weight = i, saturatingAdd(chosen.weight, w)
		if saturatingAdd(chosen.weight, least) > target {
			room = without(room, chosen)
		}
		if int64(len(open)) > lookback {
			closed := heaviest(open, largestFirst)
			open, room = without(open, closed), without(room, closed)
			closeBin(closed)
		}
	}
	for _, b := range open {
		closeBin(b)
	}
	return out
}

// heaviest is the bin to close: without largestFirst the oldest.
func heaviest(open []*bin, largestFirst bool) *bin {
	out := open[0]
	for _, b := range open[1:] {
		if largestFirst && b.weight > out.weight {
			out = b
		}
	}
	return out
}

func without[T comparable](list []T, gone T) []T {
	for i, v := range list {
		if v == gone {
			return append(list[:i], list[i+1:]...)
		}
	}
	return list
}

// joinNeighbours makes one piece of two that follow each other in the list and in the file. It reuses the list.
func joinNeighbours(pieces []piece) []piece {
	out := pieces[:0]
	for _, p := range pieces {
		if n := len(out); n > 0 && out[n-1].File == p.File && out[n-1].Start+out[n-1].Length == p.Start {
			out[n-1].Length += p.Length
			continue
		}
		out = append(out, p)
	}
	return out
}

func saturatingAdd(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func saturatingMul(a, b int64) int64 {
	if b != 0 && a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}
