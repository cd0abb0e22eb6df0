package storage

import (
	"cmp"
	"slices"
)

// Range is a run of bytes of a file.
type Range struct{ Offset, Length int64 }

// End is the offset after the last byte.
func (r Range) End() int64 { return r.Offset + r.Length }

// Access says how a file is best read. The zero Access is that of a file at hand: its bytes are read where and when they are wanted. Of a remote
// file every request costs a round trip, so that few large ones are better, and those that will be needed are sent before.
type Access struct {
	Tail     int64 // bytes to read from the end of a file whose footer is wanted
	Whole    int64 // a file of up to this size is read with one request
	Gap      int64 // bytes between two ranges that are cheaper to read than a request
	Request  int64 // bytes of one request, at most
	Parallel int   // requests for one file at once
	Ahead    int64 // bytes of one file that may be fetched and not yet read
}

// Remote says whether reading costs round trips.
func (a Access) Remote() bool { return a.Request > 0 }

// Remote is what a File of a store behind a network knows more. Files that wrap another give it as Unwrap; use RemoteOf.
type Remote interface {
	File
	Versioned
	Access() Access
}

// RemoteOf gives f, or the file that it wraps, where that one is remote; nil for files at hand.
func RemoteOf(f File) Remote { return wrapped[Remote](f) }

// AccessOf says how f is best read.
func AccessOf(f File) Access {
	if r := RemoteOf(f); r != nil {
		return r.Access()
	}
	return Access{}
}

// Coalesce gives the requests that read ranges, in order and without overlap: ranges at most gap bytes apart are read together, and what is longer
// than most is cut into pieces of about one size. Empty ranges are left out.
func Coalesce(ranges []Range, gap, most int64) []Range {
	sorted := slices.DeleteFunc(slices.Clone(ranges), func(r Range) bool { return r.Length <= 0 })
	slices.SortFunc(sorted, func(a, b Range) int { return cmp.Compare(a.Offset, b.Offset) })
	var runs []Range
	for _, r := range sorted {
		if last := len(runs) - 1; last >= 0 && r.Offset-runs[last].End() <= gap {
			runs[last].Length = max(runs[last].End(), r.End()) - runs[last].Offset
			continue
		}
		runs = append(runs, r)
	}
	if most <= 0 {
		return runs
	}
	var out []Range
	for _, r := range runs {
		pieces := (r.Length + most - 1) / most
		size := (r.Length + pieces - 1) / pieces
		for at := r.Offset; at < r.End(); at += size {
			out = append(out, Range{at, min(size, r.End()-at)})
		}
	}
	return out
}
