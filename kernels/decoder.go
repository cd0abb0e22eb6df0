// Package kernels is the boundary between a scan and what decodes Parquet: a Decoder opens a row group, a Reader gives rows and values. It
// holds the contracts, the selection of rows, and Compose; the decoders are cpu and cuda below, and the pqarrow fallback in scan/parquet.
package kernels

import (
	"context"
	"io"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/skua-data/skua/predicate"
)

// Decoder reads row groups. It is safe for concurrent use.
type Decoder interface {
	// Route says of each of rg's columns, in order, whether this decoder takes it and why; EXPLAIN prints it.
	Route(rg *RowGroup) []Route
	// Open opens a row group for reading. The reader borrows rg and its file until Close.
	Open(ctx context.Context, rg *RowGroup) (Reader, error)
	Close() error
}

// Route is a decoder's answer for one column.
type Route struct {
	Decoder string // its name: fallback, cpu, cuda
	Taken   bool
	Reason  string // in a few words: an encoding, a type, a threshold
	Skips   bool   // where RowGroup.Pages tells where pages lie, nothing is read of those without survivors
}

// RowGroup is one row group of an open file, with the columns a scan wants of it.
type RowGroup struct {
	Name     string                 // the file's location as metadata spells it, for errors
	File     io.ReaderAt            // ranged reads, safe for concurrent use
	Near     bool                   // a read of File costs little: whoever decodes need not hold bytes before it wants them
	Metadata *metadata.FileMetaData // of the whole file
	Ordinal  int                    // of the row group in the file
	FirstRow int64                  // ordinal in the file of its first row
	Rows     int64
	Columns  []Column

	// Pages says where the data pages of a leaf's column chunk lie, in order, where those alone are fetched that have survivors: a decoder then goes
	// from one to another and reads nothing between them. nil, or nothing for a leaf: it walks the chunk. The leaf is in no list or map.
	Pages func(leaf int) []Page
}

// Page is where a data page lies, with its header.
type Page struct {
	Offset, Length int64 // in the file
	FirstRow       int64 // ordinal in the row group
}

// RowsOf gives the number of rows of a page of a column chunk that has all rows.
func RowsOf(pages []Page, page int, all int64) int64 {
	if page+1 < len(pages) {
		return pages[page+1].FirstRow - pages[page].FirstRow
	}
	return all - pages[page].FirstRow
}

// PageOf gives the index of the page that has a row; the first page begins with row 0.
func PageOf(pages []Page, row int64) int {
	return sort.Search(len(pages), func(i int) bool { return pages[i].FirstRow > row }) - 1
}

// Column is a top-level field of the file with the leaves wanted of it, and the Arrow type in which it is wanted.
type Column struct {
	Field  arrow.Field // the target: name, type (after promotion, inner fields renamed and reordered by id) and field id metadata
	Root   int         // index of the top-level field in the file's schema
	Leaves []int       // indexes of the wanted leaf columns in the file's schema, ascending
	Node   Node        // how Field is assembled from the leaves
}

// Reader reads one row group in two steps: which rows, then their values. It is used by one goroutine at a time.
type Reader interface {
	// Select keeps the rows of in for which p holds. What it cannot evaluate comes back as rest, for the caller (nil: nothing is left).
	Select(ctx context.Context, p predicate.Expr, in *Selection) (rest predicate.Expr, out *Selection, err error)
	// Read gives the columns (indexes into RowGroup.Columns) of the survivors from..from+n of sel, counted among survivors. Calls go forward
	// only: from never falls below what an earlier call ended at. Pages without survivors are neither fetched nor decompressed where the format
	// allows. The caller releases the batch.
	Read(ctx context.Context, columns []int, sel *Selection, from, n int64) (arrow.RecordBatch, error)
	Close() error
}

// Parker is what a Reader may be, too, that can give back memory between two calls.
type Parker interface {
	// Park gives back what can be had again for little, such as unpacked pages of a file that is near. The next call makes it anew.
	Park()
}

// Park parks a reader that can be parked; nil is none.
func Park(r Reader) {
	if p, ok := r.(Parker); ok {
		p.Park()
	}
}
