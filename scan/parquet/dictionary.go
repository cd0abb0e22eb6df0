package parquet

import (
	"context"
	"fmt"
	"io"
	"maps"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/pages"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/storage"
)

const (
	dictionaryMost  = 1 << 20 // bytes of a dictionary's page in the file; a longer one is not read to prune
	dictionaryShare = 4       // a dictionary is read where the filter's columns are at least so many times as long
	entriesMost     = 8 << 20 // bytes of a dictionary, unpacked
)

// PruneByDictionary sets Pruned of row groups where it has none and the dictionaries of the filter's columns prove that no row passes: column
// chunks all of whose pages are indexes into a dictionary hold its entries and nulls alone. It reads dictionaries that are short beside what
// pruning saves, those of a remote file together. What is not sure is kept, and a dictionary that cannot be read proves nothing.
func (f *File) PruneByDictionary(ctx context.Context, groups []Group, filter predicate.Expr, matches func(fieldID int) (Match, bool)) {
	f.pruneByDictionary(ctx, groups, filter, matches, worth{indexedLeast, dictionaryShare})
}

// worth says which dictionaries are worth reading.
type worth struct {
	least int64 // bytes of the columns that they decide
	times int64 // how many times as long as the dictionaries those are at least
}

func (f *File) pruneByDictionary(ctx context.Context, groups []Group, filter predicate.Expr, matches func(int) (Match, bool), w worth) {
	if filter = predicate.Simplify(filter); len(predicate.Fields(filter)) == 0 {
		return
	}
	var open []*dictionaryTest
	var ranges []storage.Range
	for i := range groups {
		if groups[i].Pruned != "" {
			continue
		}
		t := &dictionaryTest{file: f, group: &groups[i], matches: matches, worth: w, known: f.pruner(groups[i].Ordinal, matches), pages: map[int]storage.Range{}}
		if t.plan(filter) {
			open = append(open, t)
			for _, r := range t.pages {
				ranges = append(ranges, r)
			}
		}
	}
	if len(open) == 0 {
		return
	}
	source := io.ReaderAt(f.file)
	if storage.AccessOf(f.file).Remote() {
		fetch := storage.NewFetch(ctx, f.file, ranges)
		defer fetch.Close()
		fetch.Start()
		source = fetch
	}
	for _, t := range open {
		t.source = f.bytes(source)
		t.run()
	}
}

// dictionaryTest looks whether a row group's dictionaries have an entry that a filter keeps.
type dictionaryTest struct {
	file    *File
	group   *Group
	matches func(int) (Match, bool)
	worth   worth
	known   pruner                // what else tells of the row group
	parts   []predicate.Expr      // of the filter, those that dictionaries can decide
	pages   map[int]storage.Range // where the dictionaries lie that are needed, by leaf
	source  io.ReaderAt
	entries map[int]arrow.Array // those that were read; nil: unreadable
}

// plan finds the dictionaries by which the filter could be decided; false: by none, or they are too long.
func (t *dictionaryTest) plan(filter predicate.Expr) (worthwhile bool) {
	defer func() {
		if recover() != nil {
			worthwhile = false
		}
	}()
	for _, e := range conjunctsByField(filter) {
		pages := maps.Clone(t.pages)
		if t.decidable(e) {
			t.parts = append(t.parts, e)
			continue
		}
		t.pages = pages
	}
	var size, whole int64
	for leaf, r := range t.pages {
		size += r.Length
		whole += t.file.metadata.RowGroups[t.group.Ordinal].Columns[leaf].MetaData.TotalCompressedSize
	}
	return size > 0 && whole >= t.worth.least && whole >= size*t.worth.times
}

// conjunctsByField are the conjuncts of a filter, those of one and the same field joined: together they may keep no entry where each keeps some.
func conjunctsByField(filter predicate.Expr) []predicate.Expr {
	var out []predicate.Expr
	place := map[int]int{}
	for _, e := range predicate.Conjuncts(filter) {
		fields := predicate.Fields(e)
		if len(fields) != 1 {
			out = append(out, e)
			continue
		}
		if at, seen := place[fields[0].ID]; seen {
			out[at] = predicate.And{Left: out[at], Right: e}
			continue
		}
		place[fields[0].ID] = len(out)
		out = append(out, e)
	}
	return out
}

// decidable says whether dictionaries can prove e true for no row, and notes in pages which.
func (t *dictionaryTest) decidable(e predicate.Expr) bool {
	if t.known.impossible(e) != nil {
		return true
	}
	if len(predicate.Fields(e)) == 1 {
		return t.ofDictionary(e)
	}
	switch e := e.(type) {
	case predicate.And:
		left, right := t.decidable(e.Left), t.decidable(e.Right)
		return left || right
	case predicate.Or:
		return t.decidable(e.Left) && t.decidable(e.Right)
	}
	return false
}

// ofDictionary says whether the dictionary of e's one field can decide e: its chunk has no other values, and e keeps no null that may be there.
func (t *dictionaryTest) ofDictionary(e predicate.Expr) bool {
	n, field := t.file.onlyLeaf(e, t.matches)
	if n == nil || !asksValues(e) {
		return false
	}
	page, ok := t.file.dictionaryPage(t.group.Ordinal, n.Leaf)
	if !ok {
		return false
	}
	if !t.file.bounds(t.group.Ordinal, n, field).noNulls {
		null := array.MakeArrayOfNull(memory.DefaultAllocator, n.Field.Type, 1)
		defer null.Release()
		if keepsAny(e, null) {
			return false
		}
	}
	t.pages[n.Leaf] = page
	return true
}

// asksValues says whether a test looks at more than whether there is a value.
func asksValues(e predicate.Expr) bool {
	switch e := e.(type) {
	case predicate.And:
		return asksValues(e.Left) || asksValues(e.Right)
	case predicate.Or:
		return asksValues(e.Left) || asksValues(e.Right)
	case predicate.Not:
		return asksValues(e.Expr)
	case predicate.IsNull, predicate.Constant:
		return false
	}
	return true
}

// run prunes the row group if the filter keeps no entry.
func (t *dictionaryTest) run() {
	defer func() {
		_ = recover() // a dictionary that cannot be read proves nothing
	}()
	t.entries = map[int]arrow.Array{}
	defer func() {
		for _, a := range t.entries {
			if a != nil {
				a.Release()
			}
		}
	}()
	for _, e := range t.parts {
		if t.impossible(e) {
			t.group.Pruned = fmt.Sprintf("dictionary: %s", e)
			return
		}
	}
}

// impossible says that e is true for no row.
func (t *dictionaryTest) impossible(e predicate.Expr) bool {
	if t.known.impossible(e) != nil {
		return true
	}
	if len(predicate.Fields(e)) == 1 {
		n, _ := t.file.onlyLeaf(e, t.matches)
		if n == nil || !t.ofDictionary(e) {
			return false
		}
		entries := t.read(n)
		return entries != nil && !keepsAny(e, entries)
	}
	switch e := e.(type) {
	case predicate.And:
		return t.impossible(e.Left) || t.impossible(e.Right)
	case predicate.Or:
		return t.decidable(e.Left) && t.decidable(e.Right) && t.impossible(e.Left) && t.impossible(e.Right)
	}
	return false
}

// keepsAny says whether a test of one field is true for any of the values. What cannot be tested is kept.
func keepsAny(e predicate.Expr, values arrow.Array) bool {
	mask, err := predicate.Evaluate(e, values.Len(), columnFunc(func(predicate.Field) (arrow.Array, error) { return values, nil }), memory.DefaultAllocator)
	if err != nil {
		return true
	}
	defer mask.Release()
	return kernels.Where(mask).Count() > 0
}

// read gives the entries of a leaf's dictionary in the type of the field; nil where they cannot be had.
func (t *dictionaryTest) read(n *kernels.Node) arrow.Array {
	if a, read := t.entries[n.Leaf]; read {
		return a
	}
	t.entries[n.Leaf] = nil
	r := t.pages[n.Leaf]
	raw := make([]byte, r.Length)
	if pages.ReadAt(t.source, raw, r.Offset) != nil {
		return nil
	}
	t.entries[n.Leaf] = t.file.dictionaryEntries(t.group.Ordinal, n, raw)
	return t.entries[n.Leaf]
}

// dictionaryPage gives the place of a column chunk's dictionary; false where the footer does not say that all data pages use it, and where it is long.
func (f *footer) dictionaryPage(ordinal, leaf int) (storage.Range, bool) {
	m := f.metadata.RowGroups[ordinal].Columns[leaf].MetaData
	if m.DictionaryPageOffset == nil || *m.DictionaryPageOffset <= 0 || f.metadata.Schema.Column(leaf).PhysicalType() == parquet.Types.Boolean {
		return storage.Range{}, false
	}
	r := storage.Range{Offset: *m.DictionaryPageOffset, Length: m.DataPageOffset - *m.DictionaryPageOffset}
	if r.Length <= 0 || r.Length > dictionaryMost || r.End() > f.size || !f.onlyDictionary(ordinal, leaf) {
		return storage.Range{}, false
	}
	return r, true
}

// onlyDictionary says that every data page of a column chunk is encoded with the dictionary. The statistics of encodings tell, page by page.
// Without them the list of encodings tells where it has the old name for dictionaries, under which a dictionary's own page goes too, and nothing
// else but what levels are encoded with; under the new name the page of the dictionary is PLAIN as data pages may be.
func (f *footer) onlyDictionary(ordinal, leaf int) bool {
	m := f.metadata.RowGroups[ordinal].Columns[leaf].MetaData
	encoded := false
	if len(m.EncodingStats) > 0 {
		for _, s := range m.EncodingStats {
			if s.Count <= 0 || s.PageType != pages.Data && s.PageType != pages.DataV2 {
				continue
			}
			if !usesDictionary(parquet.Encoding(s.Encoding)) {
				return false
			}
			encoded = true
		}
		return encoded
	}
	for _, e := range m.Encodings {
		switch id := parquet.Encoding(e); id {
		case parquet.Encodings.PlainDict:
			encoded = true
		case parquet.Encodings.RLE, parquet.Encodings.BitPacked:
		default:
			return false
		}
	}
	return encoded
}

func usesDictionary(id parquet.Encoding) bool {
	return id == parquet.Encodings.PlainDict || id == parquet.Encodings.RLEDict
}
