package pages

import (
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
)

// The limits of a page. Without them a header of a few bytes could ask for all memory, which ends the process.
const (
	MostValues = 64 << 20 // values of a page
	mostBytes  = 1 << 30  // bytes of a page, uncompressed
)

// Options say how a chunk is walked.
type Options struct {
	Buffers Buffers
	Near    int64 // bytes to read at least of a file that is near; 0: what is read is held
	Ratio   int64 // the most bytes that a packed one can become; 0: pages may claim any number within the limits
}

// Walk goes over the pages of one column chunk, forward. It is used by one goroutine at a time.
type Walk struct {
	Column *schema.Column
	Chunk  *Chunk // has the body of the page that came last, until that is taken or passed

	all, left int64 // values of the chunk, and those that it still owes
	ratio     int64
	located   []kernels.Page // nil: the chunk is walked from its begin to its end
	at        int            // page that comes next
	front     int64          // where the dictionary begins, in front of the pages; 0: it was read, or there is none
	rows      int64          // that the page has by the index; 0: it is the dictionary
}

// Open opens the chunk of a leaf column; it reads nothing yet.
func Open(rg *kernels.RowGroup, leaf int, o Options) *Walk {
	m := rg.Metadata.RowGroups[rg.Ordinal].Columns[leaf].MetaData
	start := m.DataPageOffset
	if at := m.DictionaryPageOffset; at != nil && *at > 0 && *at < start {
		start = *at
	}
	end := start + m.TotalCompressedSize
	if rg.Metadata.WriterVersion().LessThan(metadata.Parquet816FixedVersion) { // those left a dictionary's header out of the size
		end = min(end+100, rg.Metadata.GetSourceFileSize())
	}
	w := &Walk{Column: rg.Metadata.Schema.Column(leaf), Chunk: newChunk(rg.File, start, end, o.Near, o.Buffers), all: m.NumValues, left: m.NumValues, ratio: o.Ratio}
	if rg.Pages != nil {
		w.located = rg.Pages(leaf)
	}
	if w.located != nil {
		w.Chunk.Moves, w.Chunk.near = true, 0
		if start < w.located[0].Offset {
			w.front = start
		}
	}
	return w
}

// Next gives the header of the next data or dictionary page, whose body is to be taken or passed before the next call; false at the end of the
// values. Pages of other types are left out, and data pages without values, which some writers leave where they give a dictionary up.
func (w *Walk) Next() (Header, bool, error) {
	for w.left > 0 && w.turn() {
		h, more, err := w.header()
		if err != nil || !more {
			return h, false, err
		}
		if !h.IsData && h.Kind != Dictionary {
			if err := w.Chunk.Pass(h.Compressed); err != nil {
				return h, false, err
			}
			continue
		}
		if err := w.check(&h); err != nil {
			return h, false, err
		}
		if h.IsData && h.Values == 0 && w.rows == 0 {
			if err := w.Pass(&h); err != nil {
				return h, false, err
			}
			continue
		}
		if w.located != nil && (h.IsData != (w.rows > 0) || h.IsData && h.Values != w.rows) {
			return h, false, fault.New(fault.Corrupt, "a page of %d rows where the offset index has %d", h.Values, w.rows)
		}
		if h.IsData {
			w.left -= h.Values
		}
		return h, true, nil
	}
	return Header{}, false, nil
}

// header reads the next page's header; false at the end of the chunk.
func (w *Walk) header() (h Header, more bool, err error) {
	for want := int64(512); ; want *= 4 {
		b, err := w.Chunk.fill(want)
		if err != nil || len(b) == 0 {
			return h, false, err
		}
		h, size, ok := Parse(b[:min(len(b), headerMost)])
		if ok {
			return h, true, w.Chunk.Pass(int64(size))
		}
		if int64(len(b)) < want || want > headerMost {
			return h, false, fault.New(fault.Corrupt, "malformed page header")
		}
	}
}

// turn goes to the dictionary or the page that comes next, where it is known where pages lie; false: there is no other.
func (w *Walk) turn() bool {
	switch {
	case w.located == nil:
	case w.front > 0:
		w.Chunk.seek(w.front, w.located[0].Offset-w.front)
		w.front, w.rows = 0, 0
	case w.at == len(w.located):
		return false
	default:
		w.Chunk.seek(w.located[w.at].Offset, w.located[w.at].Length)
		w.rows = kernels.RowsOf(w.located, w.at, w.all)
		w.at++
	}
	return true
}

// check compares a header with the limits and with the chunk.
func (w *Walk) check(h *Header) error {
	switch {
	case !h.HasContent || h.Compressed > w.Chunk.Left():
		return fault.New(fault.Corrupt, "a page of %d bytes where %d are left", h.Compressed, w.Chunk.Left())
	case h.IsData && h.Values > w.left:
		return fault.New(fault.Corrupt, "pages with more values than their column")
	case h.Values > MostValues || h.Uncompressed > mostBytes:
		return fault.New(fault.Unsupported, "Parquet pages of %d values and %d bytes are not supported", h.Values, h.Uncompressed)
	case h.Kind == DataV2 && h.DefLength+h.RepLength > min(h.Compressed, h.Uncompressed):
		return fault.New(fault.Corrupt, "a page of %d bytes with levels of %d", h.Compressed, h.DefLength+h.RepLength)
	case w.ratio > 0 && h.Uncompressed > h.Compressed*w.ratio+1024:
		return fault.New(fault.Corrupt, "a page of %d bytes that cannot become %d", h.Compressed, h.Uncompressed)
	}
	return nil
}

// Take gives a page's body as it is stored, after a look at its checksum. It stays as it is until the next page, or for good where the chunk does
// not move.
func (w *Walk) Take(h *Header) ([]byte, error) {
	packed, err := w.Chunk.Take(h.Compressed)
	if err != nil {
		return nil, err
	}
	return packed, h.Verify(packed)
}

// Pass leaves a page's body out.
func (w *Walk) Pass(h *Header) error { return w.Chunk.Pass(h.Compressed) }

// Owed is how many values the pages still to come have.
func (w *Walk) Owed() int64 { return w.left }

// Located tells where pages lie; nil: that is not known.
func (w *Walk) Located() []kernels.Page { return w.located }

// Jump goes to the page that has a row, so that the dictionary, if it was not read, and then that page come next, and gives the page's first row;
// false where it is not known where pages lie, or the walk has been there.
func (w *Walk) Jump(row int64) (first int64, ok bool) {
	if w.located == nil {
		return 0, false
	}
	to := kernels.PageOf(w.located, row)
	if to < w.at {
		return 0, false
	}
	first = w.located[to].FirstRow
	w.at, w.left = to, w.all-first
	return first, true
}
