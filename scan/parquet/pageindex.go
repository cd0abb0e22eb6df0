package parquet

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/pages"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/storage"
)

const (
	indexMost    = 16 << 20  // bytes of an index; a longer one is not read
	indexedLeast = 128 << 10 // bytes of a column chunk from which on its index is worth reading
)

// pageIndex is what a file's column index and offset index say of the pages of one column chunk.
type pageIndex struct {
	first      []int64 // ordinal in the row group of each page's first row
	places     []storage.Range
	nullPages  []bool
	nullCounts []int64 // nil: unknown
	low, high  [][]byte
}

// Pages gives the rows of a row group that lie in pages which may have a row that passes the filter; nil: all. As with RowGroups, what is not sure
// is kept, and an index that cannot be read proves nothing. It reads the indexes of the filter's columns where the file has them.
func (f *File) Pages(g Group, filter predicate.Expr, matches func(fieldID int) (Match, bool)) *kernels.Selection {
	return f.pages(g, filter, matches, indexedLeast)
}

// pages does it for column chunks of at least some bytes.
func (f *File) pages(g Group, filter predicate.Expr, matches func(fieldID int) (Match, bool), least int64) *kernels.Selection {
	var out *kernels.Selection
	indexes := map[int]*pageIndex{}
	for _, e := range predicate.Conjuncts(predicate.Simplify(filter)) {
		n, field := f.onlyLeaf(e, matches)
		if n == nil {
			continue
		}
		if f.metadata.RowGroups[g.Ordinal].Columns[n.Leaf].MetaData.TotalCompressedSize < least {
			continue
		}
		index, read := indexes[n.Leaf]
		if !read {
			index = f.pageIndex(g, n.Leaf)
			indexes[n.Leaf] = index
		}
		if index == nil {
			continue
		}
		rows := f.possiblePages(g, e, n, field, index)
		if out != nil {
			rows = out.Intersect(rows)
		}
		out = rows
	}
	return out
}

// onlyLeaf gives the leaf that a test reads, if it is one, with a value or null in every row.
func (f *File) onlyLeaf(e predicate.Expr, matches func(int) (Match, bool)) (*kernels.Node, predicate.Field) {
	fields := predicate.Fields(e)
	if len(fields) == 0 {
		return nil, predicate.Field{}
	}
	for _, other := range fields[1:] {
		if other.ID != fields[0].ID {
			return nil, fields[0]
		}
	}
	m, ok := matches(fields[0].ID)
	if !ok || !m.Present {
		return nil, fields[0]
	}
	n := m.Column.Node.Find(fields[0].ID)
	if n == nil || n.Kind != kernels.Leaf || n.Rep > 0 {
		return nil, fields[0]
	}
	return n, fields[0]
}

// possiblePages selects the pages of which it is not proved that no row passes.
func (f *File) possiblePages(g Group, e predicate.Expr, n *kernels.Node, field predicate.Field, index *pageIndex) (out *kernels.Selection) {
	defer func() {
		if recover() != nil {
			out = kernels.All(g.Rows) // bounds that cannot be read prove nothing
		}
	}()
	var runs []kernels.Run
	for page, from := range index.first {
		to := g.Rows
		if page+1 < len(index.first) {
			to = index.first[page+1]
		}
		p := pruner{bounds: func(predicate.Field) (bounds, bool) { return f.pageBounds(n.Leaf, field.Type, index, page), true }}
		if p.impossible(e) == nil {
			runs = append(runs, kernels.Run{From: from, To: to})
		}
	}
	return kernels.NewSelection(runs)
}

// pageBounds are what the index proves about a page, in the type of the field.
func (f *File) pageBounds(leaf int, target arrow.DataType, index *pageIndex, page int) bounds {
	column := f.metadata.Schema.Column(leaf)
	out := bounds{noNulls: column.MaxDefinitionLevel() == 0, onlyNulls: index.nullPages[page]}
	if index.nullCounts != nil && !out.onlyNulls {
		out.noNulls = out.noNulls || index.nullCounts[page] == 0 && len(column.ColumnPath()) == 1
	}
	order := f.order(leaf)
	if out.onlyNulls || order == unknownOrder || order == undefinedOrder && !signed(column) {
		return out
	}
	out.order(column, target, index.low[page], index.high[page])
	return out
}

// pageIndex reads the index of a column chunk; nil where there is none or it does not hold together.
func (f *File) pageIndex(g Group, leaf int) (out *pageIndex) {
	defer func() {
		if recover() != nil {
			out = nil
		}
	}()
	chunk := f.metadata.RowGroups[g.Ordinal].Columns[leaf]
	if chunk.ColumnIndexOffset == nil || chunk.OffsetIndexOffset == nil || chunk.ColumnIndexLength == nil || chunk.OffsetIndexLength == nil {
		return nil
	}
	columnIndex, ok := f.piece(*chunk.ColumnIndexOffset, int64(*chunk.ColumnIndexLength))
	if !ok {
		return nil
	}
	offsetIndex, ok := f.piece(*chunk.OffsetIndexOffset, int64(*chunk.OffsetIndexLength))
	if !ok {
		return nil
	}
	index := &pageIndex{}
	if !index.readColumnIndex(columnIndex) || !index.readOffsetIndex(offsetIndex) || !index.holds(g.Rows) {
		return nil
	}
	return index
}

// piece reads a part of the file that is no page.
func (f *File) piece(at, length int64) ([]byte, bool) {
	if at < 0 || length <= 0 || length > indexMost || at > f.size-length {
		return nil, false
	}
	b := make([]byte, length)
	return b, pages.ReadAt(f.bytes(f.file), b, at) == nil
}

// holds says whether the parts of an index go together: a page begins where the one before ends.
func (x *pageIndex) holds(rows int64) bool {
	n := len(x.first)
	if n == 0 || len(x.nullPages) != n || len(x.low) != n || len(x.high) != n || x.nullCounts != nil && len(x.nullCounts) != n || x.first[0] != 0 {
		return false
	}
	for i := 1; i < n; i++ {
		if x.first[i] < x.first[i-1] {
			return false
		}
	}
	return x.first[n-1] <= rows
}

// readColumnIndex reads the thrift structure ColumnIndex.
func (x *pageIndex) readColumnIndex(b []byte) bool {
	w := &thriftWalk{b: b}
	return w.structure(0, func(field int16, typ byte, depth int) bool {
		if typ != thriftList || field > 5 || field == 4 {
			return w.skip(typ, depth)
		}
		entry, n, ok := w.list()
		for ; ok && n > 0; n-- {
			switch {
			case field == 1 && (entry == thriftTrue || entry == thriftFalse):
				var c byte
				c, ok = w.byte()
				x.nullPages = append(x.nullPages, c == thriftTrue)
			case (field == 2 || field == 3) && entry == thriftBinary:
				var value []byte
				if value, ok = w.binary(); field == 2 {
					x.low = append(x.low, value)
				} else {
					x.high = append(x.high, value)
				}
			case field == 5 && entry == thriftI64:
				var v int64
				ok = w.number(&v)
				x.nullCounts = append(x.nullCounts, v)
			default:
				ok = false
			}
		}
		return ok
	})
}

// readOffsetIndex reads the thrift structure OffsetIndex.
func (x *pageIndex) readOffsetIndex(b []byte) bool {
	w := &thriftWalk{b: b}
	return w.structure(0, func(field int16, typ byte, depth int) bool {
		if field != 1 || typ != thriftList {
			return w.skip(typ, depth)
		}
		entry, n, ok := w.list()
		for ok = ok && entry == thriftStruct; ok && n > 0; n-- {
			first, place := int64(-1), storage.Range{}
			ok = w.structure(depth, func(inner int16, typ byte, depth int) bool {
				switch {
				case inner == 1 && typ == thriftI64:
					return w.number(&place.Offset)
				case inner == 2 && typ == thriftI32:
					return w.number(&place.Length)
				case inner == 3 && typ == thriftI64:
					return w.number(&first)
				}
				return w.skip(typ, depth)
			}) && first >= 0
			x.first, x.places = append(x.first, first), append(x.places, place)
		}
		return ok
	})
}

// binary reads bytes, which stay where they are.
func (w *thriftWalk) binary() ([]byte, bool) {
	n, ok := w.varint()
	if !ok || n > uint64(len(w.b)) {
		return nil, false
	}
	out := w.b[:n:n]
	w.b = w.b[n:]
	return out, true
}
