package parquet

import (
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/pages"
	"github.com/skua-data/skua/storage"
)

// narrowing is what of a row group's column chunks is fetched where not all rows are wanted: the pages that have survivors, as the offset index
// tells where they lie.
type narrowing struct {
	file    *File
	ordinal int
	leaves  []int // that may be fetched in part
	fetch   *storage.Fetch
	tried   bool
	pages   map[int][]kernels.Page // of the chunks that were narrowed
}

// located gives the pages of a leaf whose chunk is fetched in part.
func (n *narrowing) located(leaf int) []kernels.Page { return n.pages[leaf] }

// to lets only pages with rows of a selection be fetched, the first time and before anything was. It does so for chunks in which requests have
// less to fetch for it, and where reading the index costs less than that.
func (n *narrowing) to(rows *kernels.Selection) {
	if n.tried {
		return
	}
	n.tried = true
	all := n.file.metadata.RowGroups[n.ordinal].NumRows
	access := storage.AccessOf(n.file.file)
	if rows.Count() == all || n.fetch.Started() {
		return
	}
	var leaves []int
	var saved int64
	for _, leaf := range n.leaves {
		if n.file.metadata.Schema.Column(leaf).MaxRepetitionLevel() > 0 {
			continue
		}
		if gaps := gapBytes(rows, all, n.file.chunkRange(n.ordinal, leaf).Length, access.Gap); gaps > 0 {
			leaves, saved = append(leaves, leaf), saved+gaps
		}
	}
	index := n.file.offsetIndexes(n.ordinal, leaves, saved)
	for _, leaf := range leaves {
		pages := n.file.pagesOf(n.ordinal, leaf, index[leaf])
		if pages == nil {
			continue
		}
		chunk := n.file.chunkRange(n.ordinal, leaf)
		keep := withRows(pages, rows)
		if pages[0].Offset > chunk.Offset {
			keep = append(keep, storage.Range{Offset: chunk.Offset, Length: pages[0].Offset - chunk.Offset})
		}
		var size int64
		for _, r := range storage.Coalesce(keep, access.Gap, 0) {
			size += r.Length
		}
		if size+access.Gap >= chunk.Length {
			continue
		}
		if n.pages == nil {
			n.pages = map[int][]kernels.Page{}
		}
		n.pages[leaf] = pages
		n.fetch.Narrow(chunk, keep)
	}
}

// gapBytes estimates how many bytes of a column chunk lie between the rows of a selection, in pieces that are more than least.
func gapBytes(rows *kernels.Selection, all, size, least int64) (out int64) {
	last := int64(0)
	each := float64(size) / float64(all)
	for _, r := range append(append([]kernels.Run(nil), rows.Runs()...), kernels.Run{From: all, To: all}) {
		if gap := int64(float64(r.From-last) * each); gap > least {
			out += gap
		}
		last = r.To
	}
	return out
}

// withRows gives the places of the pages that have rows of a selection.
func withRows(pages []kernels.Page, rows *kernels.Selection) (out []storage.Range) {
	next := 0
	for _, r := range rows.Runs() {
		for i := max(next, kernels.PageOf(pages, r.From)); i < len(pages) && pages[i].FirstRow < r.To; i++ {
			out = append(out, storage.Range{Offset: pages[i].Offset, Length: pages[i].Length})
			next = i + 1
		}
	}
	return out
}

// worthIndex is how many times a gap reading must save for a request of its own to be worth sending for the index.
const worthIndex = 8

// offsetIndexes reads the offset indexes of some leaves together; none where that costs more than the bytes to be saved.
func (f *File) offsetIndexes(ordinal int, leaves []int, saved int64) map[int][]byte {
	access := storage.AccessOf(f.file)
	places := map[int]storage.Range{}
	var ranges []storage.Range
	var size int64
	for _, leaf := range leaves {
		chunk := f.metadata.RowGroups[ordinal].Columns[leaf]
		if chunk.OffsetIndexOffset == nil || chunk.OffsetIndexLength == nil {
			continue
		}
		r := storage.Range{Offset: *chunk.OffsetIndexOffset, Length: int64(*chunk.OffsetIndexLength)}
		if r.Offset < 0 || r.Length <= 0 || r.Length > indexMost || r.Offset > f.size-r.Length {
			continue
		}
		places[leaf] = r
		if end := f.size - int64(len(f.tail)); r.Offset < end {
			ranges, size = append(ranges, r), size+r.Length
		}
	}
	requests := storage.Coalesce(ranges, access.Gap, access.Request)
	if cost := int64(len(requests))*worthIndex*access.Gap + size; len(requests) > 0 && cost > saved {
		return nil
	}
	held := make([][]byte, len(requests))
	for i, r := range requests {
		held[i] = make([]byte, r.Length)
		if pages.ReadAt(f.file, held[i], r.Offset) != nil {
			return nil
		}
	}
	out := map[int][]byte{}
	for leaf, r := range places {
		if r.Offset >= f.size-int64(len(f.tail)) {
			out[leaf], _ = f.piece(r.Offset, r.Length)
			continue
		}
		for i, q := range requests {
			if r.Offset >= q.Offset && r.End() <= q.End() {
				out[leaf] = held[i][r.Offset-q.Offset:][:r.Length]
			}
		}
	}
	return out
}

// pagesOf reads where the pages of a column chunk lie; nil where the index does not fit the chunk.
func (f *File) pagesOf(ordinal, leaf int, index []byte) []kernels.Page {
	var x pageIndex
	if len(index) == 0 || !x.readOffsetIndex(index) || len(x.first) == 0 || x.first[0] != 0 {
		return nil
	}
	chunk, rows := f.chunkRange(ordinal, leaf), f.metadata.RowGroups[ordinal].NumRows
	out := make([]kernels.Page, len(x.first))
	end := chunk.Offset
	for i, place := range x.places {
		if place.Offset < end || place.Length <= 0 || place.Length > chunk.End()-place.Offset || x.first[i] >= rows || i > 0 && x.first[i] <= x.first[i-1] {
			return nil
		}
		out[i], end = kernels.Page{Offset: place.Offset, Length: place.Length, FirstRow: x.first[i]}, place.Offset+place.Length
	}
	return out
}
