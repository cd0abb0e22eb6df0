package parquet

import (
	"slices"

	"github.com/skua-data/skua/predicate"
)

// SortGroups puts row groups that may hold the least values of a field in front, descending the greatest. Those of which statistics tell nothing come
// last, and so do nulls: where they come first, the order says little. matches is as for RowGroups.
func (f *File) SortGroups(groups []Group, field predicate.Field, descending bool, matches func(fieldID int) (Match, bool)) {
	firsts := map[int]any{}
	var compare func(a, b any) int
	for _, g := range groups {
		b := f.boundsOf(g.Ordinal, field, matches)
		if b.compare == nil {
			return
		}
		compare = b.compare
		switch {
		case !descending:
			firsts[g.Ordinal] = b.low
		case !b.nan:
			firsts[g.Ordinal] = b.high
		}
	}
	slices.SortStableFunc(groups, func(x, y Group) int {
		a, b := firsts[x.Ordinal], firsts[y.Ordinal]
		switch {
		case a == nil && b == nil:
			return 0
		case a == nil:
			return 1
		case b == nil:
			return -1
		case descending:
			a, b = b, a
		}
		return compare(a, b)
	})
}

// boundsOf gives what statistics say of a field in a row group; the zero bounds where they say nothing.
func (f *File) boundsOf(ordinal int, field predicate.Field, matches func(int) (Match, bool)) (out bounds) {
	defer func() {
		if recover() != nil {
			out = bounds{} // statistics that cannot be read say nothing
		}
	}()
	out, _ = f.pruner(ordinal, matches).bounds(field)
	return out
}
