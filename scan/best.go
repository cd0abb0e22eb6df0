package scan

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/scan/parquet"
)

// Best says that whoever asks keeps only those rows that come first by a column, and learns while it reads how good a row must be. Files are read
// in the order of their bounds; a file, a row group or a row that is not good enough may be left out. It is a hint: all rows may come.
type Best struct {
	Field      predicate.Field // a top-level column of Schema, among the request's fields
	Descending bool
	NullsFirst bool
	// Bound gives what a row must pass to count, as far as it is known by now, and a number that grows with each change; nil: nothing is known. It only
	// becomes stricter, and is called by several goroutines.
	Bound func() (e predicate.Expr, version int64)
}

// byBest is why files are left out that were planned and hold no row that is good enough.
const byBest = "the best rows found before"

// ranked is what planning knows of a file's rows by the column of a Best.
type ranked struct {
	stats known
	facts bool
}

// String spells the order as SQL does; empty: there is none.
func (b *Best) String() string {
	if b == nil {
		return ""
	}
	out := strings.Join(b.Field.Path, ".")
	if b.Descending {
		out += " DESC"
	}
	if b.NullsFirst {
		return out + " NULLS FIRST"
	}
	return out + " NULLS LAST"
}

// rank keeps what statistics tell of a file.
func (f *dataFile) rank(b *Best, stats fileStats) {
	if b == nil {
		return
	}
	f.ranked.stats, f.ranked.facts = stats.facts(b.Field)
	for _, field := range f.Spec.Fields {
		if field.Source == b.Field.ID && isIdentity(field) {
			if of, ok := valueFacts(f.Partition, field); ok {
				f.ranked = ranked{of, true}
			}
		}
	}
}

// sort puts files that may hold the best rows in front. Files of which nothing is known come last: by then a bound is.
func (b *Best) sort(files []*dataFile) {
	slices.SortStableFunc(files, func(x, y *dataFile) int { return b.compare(x.ranked, y.ranked) })
}

func (b *Best) compare(x, y ranked) int {
	if b.NullsFirst {
		if xn, yn := x.stats.Nulls != none, y.stats.Nulls != none; xn != yn {
			return order(xn)
		}
	}
	at := func(r ranked) any {
		switch {
		case !b.Descending:
			return r.stats.Lower
		case arrow.IsFloating(b.Field.Type.ID()) && r.stats.NaNs != none:
			return nil // NaN comes before what the bound says
		}
		return r.stats.Upper
	}
	l, r := at(x), at(y)
	if l == nil || r == nil || isNaN(l) || isNaN(r) {
		known := func(v any) bool { return v != nil && !isNaN(v) }
		if known(l) != known(r) {
			return order(known(l))
		}
		return 0
	}
	c, _ := compare(l, r)
	if b.Descending {
		return -c
	}
	return c
}

// order is -1 for what comes first.
func order(first bool) int {
	if first {
		return -1
	}
	return 1
}

// arrange puts the splits, and the tasks in each, into the order of their files. Of a file whose greatest values are wanted the last ranges come
// first: rows are often in ascending order.
func (b *Best) arrange(splits []split, files []*dataFile) {
	place := make(map[*dataFile]int, len(files))
	for i, f := range files {
		place[f] = i
	}
	compare := func(x, y task) int {
		switch {
		case x.File != y.File:
			return place[x.File] - place[y.File]
		case b.Descending:
			x, y = y, x
		}
		return cmp.Compare(x.Start, y.Start)
	}
	for _, s := range splits {
		slices.SortStableFunc(s.Tasks, compare)
	}
	slices.SortStableFunc(splits, func(x, y split) int { return compare(x.Tasks[0], y.Tasks[0]) })
}

// passed says that no row of a file is good enough any more.
func (b *Best) passed(f *dataFile, required func(predicate.Field) bool) bool {
	if b == nil {
		return false
	}
	bound, _ := b.Bound()
	if bound == nil {
		return false
	}
	return !mayMatch(withoutNulls(predicate.Simplify(bound), required), func(predicate.Field) (known, bool) { return f.ranked.stats, f.ranked.facts })
}

// narrow takes in what is known of the best rows by now, and says whether that is more than before.
func (f *openFile) narrow() bool {
	best := f.plan.request.Best
	if best == nil {
		return false
	}
	bound, version := best.Bound()
	if bound == nil || version == f.bound {
		return false
	}
	f.bound = version
	filter := f.plan.filter
	if filter == nil {
		filter = bound
	} else {
		filter = predicate.And{Left: filter, Right: bound}
	}
	f.pushed, f.rest = splitFilter(predicate.Simplify(filter), f.holds)
	f.indexed = nil
	return true
}

// choose lists the row groups of a task, as far as they may hold rows that count: those with the best first.
func (f *openFile) choose(ctx context.Context, t task) []parquet.Group {
	f.narrow()
	groups := f.file.RowGroups(t.Start, t.reach(), f.pushed, f.match)
	f.byDictionary(ctx, groups)
	if p, ok := f.file.(parquetFile); ok && f.plan.request.Best != nil {
		p.SortGroups(groups, f.plan.request.Best.Field, f.plan.request.Best.Descending, f.match)
	}
	return groups
}

// rechoose leaves out of the row groups that are to be read what cannot count any more.
func (f *openFile) rechoose(t task, left []parquet.Group) {
	if !f.narrow() {
		return
	}
	pruned := map[int]string{}
	for _, g := range f.file.RowGroups(t.Start, t.reach(), f.pushed, f.match) {
		pruned[g.Ordinal] = g.Pruned
	}
	for i := range left {
		if left[i].Pruned == "" {
			left[i].Pruned = pruned[left[i].Ordinal]
		}
	}
}

// passedFiles are the planned files that were never opened.
type passedFiles struct {
	mu    sync.Mutex
	files map[*dataFile]bool // false: a part of it was read
}

// note keeps whether a part of a file was read.
func (p *passedFiles) note(f *dataFile, read bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.files == nil {
		p.files = map[*dataFile]bool{}
	}
	passed, known := p.files[f]
	p.files[f] = !read && (passed || !known)
}

func (p *passedFiles) count() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, passed := range p.files {
		if passed {
			n++
		}
	}
	return n
}
